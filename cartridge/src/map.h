/* map.h: the current map and its cells. */
#ifndef MAP_H
#define MAP_H

#include "core.h"

#define CELL_WALK 1
#define CELL_GRASS 2
#define CELL_LEDGE 4
#define CELL_WATER 8
#define CELL_COUNTER 16
#define CELL_DOOR 32

typedef struct {
    uint8_t map, offset, width, height, bank;
    const uint8_t *cells;
} Connection;

/* The fixed part of a map header, as tools/kw/world.py writes it. */
typedef struct {
    uint8_t width, height, tileset, border, music, encounters, town, bank;
    const uint8_t *cells;
    Connection side[4];         /* north, south, west, east */
    char title[16];
    uint8_t warps, people, signs;
} MapHeader;

typedef struct { uint8_t x, y, map, to_x, to_y, facing; } Warp;

/* `hide` and `show`: event flags that remove or bring in a person; `need`: the
 * flag without which a person does not act. 0xFFFF is none. */
typedef struct {
    uint8_t x, y, sprite, facing, kind, arg, arg2, sight;
    uint16_t flag, hide, show, need, text, text2;
} Person;

typedef struct { uint8_t x, y; uint16_t text; } Sign;

#define KIND_NPC 0
#define KIND_ITEM 1
#define KIND_TRAINER 2
#define KIND_LEADER 3
#define KIND_HEAL 4
#define KIND_SHOP 5
#define KIND_PC 6
#define KIND_SCRIPT 7       /* a thing: never turns */

/* Things have one picture and never turn. */
#define IS_THING(p) ((p)->kind == KIND_ITEM || (p)->kind == KIND_SCRIPT || (p)->kind == KIND_PC)

#define NO_FLAG 0xFFFF
#define MAX_PEOPLE 12
#define MAX_WARPS 12
#define MAX_SIGNS 8

extern MapHeader map;
extern Warp warps[MAX_WARPS];
extern Person people[MAX_PEOPLE];
extern Sign signs[MAX_SIGNS];
extern uint8_t cell_flags[64];
extern uint8_t person_tile[MAX_PEOPLE];   /* first sprite tile of each person */

void map_load_header(void);     /* of wCurMap */
void map_load_tiles(void);      /* tileset, metatiles, sprites; LCD must be off */
void map_load_sprites(void);    /* only if they changed; works with the LCD on */
uint8_t cell_at(int8_t x, int8_t y);
uint8_t flags_at(int8_t x, int8_t y);
void fetch_row(int8_t x, int8_t y, uint8_t n, uint8_t *to);
uint8_t person_hidden(Person *p);

#endif
