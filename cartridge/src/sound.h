/* sound.h: asking the music driver (bank AUDIO) for tunes and effects. */
#ifndef SOUND_H
#define SOUND_H
#include "core.h"

#define SOUND_NONE 0
#define SOUND_CURSOR 1
#define SOUND_ACCEPT 2
#define SOUND_BUMP 3
#define SOUND_HIT 4
#define SOUND_FAINT 5
#define SOUND_DOOR 6
#define SOUND_HEAL 7
#define SOUND_GET 8
#define SOUND_LEVEL 9
#define SOUND_THROW 10
#define SOUND_JUMP 11
#define SOUND_ALERT 12
#define SOUND_CUT 13
#define SOUND_CRY 14            /* of sound_species */

extern volatile uint8_t sound_request;  /* taken by the next timer interrupt */
extern volatile uint8_t music_request;  /* 0xFF nothing, else a tune */
extern uint8_t music_current;
extern uint8_t sound_species;

#define sound_effect(n) (sound_request = (n))
void music_play(uint8_t tune);          /* starts it unless it plays already */
#endif
