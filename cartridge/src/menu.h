/* menu.h: menus (bank MENU). All run through FAR. */
#ifndef MENU_H
#define MENU_H
#include "monster.h"

extern uint8_t menu_item;       /* for item_use: which */
extern uint8_t menu_shop;       /* for shop_run: which */
extern uint8_t menu_redraw;     /* a menu has overwritten map tiles */
extern uint8_t hush_steps;      /* steps without encounters left */

void start_menu(void);          /* menu_redraw tells whether the map must be drawn anew */
uint8_t party_choose(void);     /* slot, or 0xFF */
uint8_t bag_choose(void);       /* item, or 0 */
uint8_t item_use(void);         /* uses menu_item; 1 if it was used */
void shop_run(void);
void box_run(void);
void credits_run(void);

/* save.c */
uint8_t save_exists(void);
void save_write(void);
void save_read(void);
#endif
