/* world.h: walking around. */
#ifndef WORLD_H
#define WORLD_H

#include "map.h"

#define DOWN 0
#define UP 4
#define LEFT 8
#define RIGHT 12

void world_run(void);           /* bank WORLD: from wCurMap, wXCoord, wYCoord on; returns to the title */
void view_draw(void);           /* wTileMap from the map */
void ui_close(void);            /* takes the window away */
void world_redraw(void);        /* everything anew, LCD off to on, dark; then fade_in */
void interact(void);
void person_act(Person *p);
uint8_t person_at(uint8_t x, uint8_t y);
void trainer_sight(void);
void wild_encounter(void);
extern uint8_t world_leave;     /* set to leave world_run */
extern uint8_t world_warp;      /* set: go to wCurMap, wXCoord, wYCoord with a fade */
#endif
