/* core.h: services of the fixed bank that every other bank may call. */
#ifndef CORE_H
#define CORE_H

#include "hw.h"
#include "ram.h"
#include "banks.h"
#include "assets.h"     /* generated: places and numbers of all assets */

/* crt0.s */
uint8_t random(void);
void wait_frame(void);
void set_bank(uint8_t bank);
uint8_t far_call(void (*function)(void), uint8_t bank);
void copy(uint8_t *to, const uint8_t *from, uint16_t count);
void vram_copy(uint8_t *to, const uint8_t *from, uint16_t count);  /* also with the LCD on */
void fill(uint8_t *to, uint16_t count, uint8_t value);
void cells_to_tiles(void);

#define FAR(bank, function) far_call((void (*)(void))(function), bank)

/* core.c: video and memory */
void copy_far(uint8_t bank, uint16_t from, uint8_t *to, uint16_t count);
void vram_copy_far(uint8_t bank, uint16_t from, uint16_t to, uint16_t count);
uint8_t peek_far(uint8_t bank, uint16_t from);
void lcd_off(void);
void lcd_on(void);
void wait_frames(uint8_t n);
void screen_update(void);       /* show wTileMap: three frames, returns when done */
void screen_touch(void);        /* same, does not wait */
void fade_out(void);
void fade_in(void);
void hide_objects(void);
uint8_t take_pressed(void);     /* buttons newly pressed since the last call */
uint8_t random_below(uint8_t n);
void load_asset_tiles(uint8_t bank, uint16_t from, uint16_t vram, uint8_t tiles);

/* core.c: flags, numbers */
uint8_t flag_get(uint16_t flag);
void flag_set(uint16_t flag);
uint16_t get16(const uint8_t *p);
void put16(uint8_t *p, uint16_t v);

/* text.c */
void draw_box(uint8_t x, uint8_t y, uint8_t w, uint8_t h);
void put_string(uint8_t x, uint8_t y, const char *s);
void put_number(uint8_t x, uint8_t y, uint16_t value, uint8_t digits);
void say(uint16_t text);        /* a whole text in the box at the bottom, waits for A */
void say_buffer(void);          /* the text in wTextBuffer */
void say_open(uint16_t text);   /* prints, leaves the box open without waiting at the end */
void load_text(uint16_t text);  /* text into wTextBuffer, names filled in */
extern char text_name[2][14];   /* what stands for {a} and {b} in texts */
extern uint16_t text_number;    /* what stands for {n} */
uint8_t menu_choose(uint8_t x, uint8_t y, uint8_t n, uint8_t step, uint8_t start);
uint8_t ask_yes_no(void);
#define MENU_CANCEL 0xFF
extern uint8_t menu_quit;       /* Start was pressed: all menus close */

#define TILE(c) ((uint8_t)(0x80 + (c) - 0x20))
#define TILE_SPACE 0x80

#endif
