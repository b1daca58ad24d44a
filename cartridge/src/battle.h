/* battle.h: battles (bank BATTLE). */
#ifndef BATTLE_H
#define BATTLE_H
#include "monster.h"

/* Set before battle_run */
extern uint8_t battle_kind;         /* 1 wild, 2 trainer */
extern uint8_t battle_species;      /* wild only */
extern uint8_t battle_level;
extern uint8_t battle_party;        /* trainer only */

#define RESULT_WON 0
#define RESULT_LOST 1
#define RESULT_RAN 2
#define RESULT_CAUGHT 3
uint8_t battle_run(void);           /* returns a RESULT_ */

/* battle_screen.c */
void battle_say(uint16_t text);     /* shows a text a moment, no button needed */
void battle_screen_open(void);      /* graphics and layout; LCD goes off and on */
void battle_screen_draw(void);      /* everything into wTileMap */
void battle_draw_foe(void);         /* picture and gauge */
void battle_draw_own(void);
void battle_foe_gauge(void);
void battle_own_gauge(void);
void battle_load_foe_picture(void);
void battle_load_own_picture(void);
void battle_hit_foe(void);          /* blink */
void battle_hit_own(void);          /* shake */
void battle_drop_foe(void);         /* the picture sinks */
void battle_drop_own(void);
void battle_drain_foe(uint16_t to); /* gauge runs down or up to this */
void battle_drain_own(uint16_t to);
#define SHOW_NOBODY 0
#define SHOW_KITH 1
#define SHOW_HERO 2
extern uint8_t foe_shown, own_shown, trainer_shown;
extern uint16_t foe_bar, own_bar;   /* hit points as the gauges show them */

#define FOE (&wEnemyParty[wEnemyMon.slot])
#define OWN (&wParty[wBattleMon.slot])
#endif
