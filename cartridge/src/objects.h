/* objects.h: hero and people on the screen. */
#ifndef OBJECTS_H
#define OBJECTS_H
#include "core.h"
extern uint8_t walk_frames, walk_parity, walk_jump;
extern int8_t walk_dx, walk_dy;
#define BUBBLE_TILE 124
extern uint8_t bubble_person;  /* who has a bubble overhead, 0xFF nobody */
void objects_update(void);
#endif
