/* objects.c: hero and people as hardware objects (8x16), from map positions. */
#include "objects.h"
#include "map.h"

uint8_t walk_frames;        /* left of the current step */
uint8_t walk_parity;        /* which foot */
int8_t walk_dx, walk_dy;    /* of the current step, in cells */
uint8_t walk_jump;          /* over a ledge */

uint8_t bubble_person;

static uint8_t *oam;

static void put(uint8_t x, uint8_t y, uint8_t tile, uint8_t flags) {
    uint8_t *p = oam;
    if (flags & 0x20) {
        *p++ = y; *p++ = x; *p++ = tile + 2; *p++ = flags;
        *p++ = y; *p++ = x + 8; *p++ = tile; *p++ = flags;
    } else {
        *p++ = y; *p++ = x; *p++ = tile; *p++ = flags;
        *p++ = y; *p++ = x + 8; *p++ = tile + 2; *p++ = flags;
    }
    oam = p;
}

/* Is the 16x16 place with its top left at object position x, y under a text box? */
static uint8_t covered(uint8_t x, uint8_t y) {
    uint8_t column = (uint8_t)(x - 8) >> 3, row = (uint8_t)(y - 12) >> 3;
    const uint8_t *p = wTileMap + (uint16_t)row * 20 + column;
    if (column > 18 || row > 16) return 0;
    return (p[0] | p[1] | p[20] | p[21]) & 0x80;
}

/* The jump's height, by frame */
static const uint8_t hop[17] = {0, 3, 5, 7, 8, 8, 7, 5, 3, 4, 6, 8, 9, 9, 8, 6, 3};

void objects_update(void) {
    uint8_t i, tile, flags, x, y, sx, sy;
    uint8_t window = hWY == 0;
    Person *p = people;
    oam = wOam;
    /* the hero */
    flags = 0;
    tile = wFacing << 1;
    if (wFacing == 12) {
        tile = 16;
        flags = 0x20;
    }
    if (walk_frames && !walk_jump && (walk_frames & 15) >= 5 && (walk_frames & 15) < 13) {
        tile += 4;
        if (walk_parity && tile < 16) flags = 0x20;
    }
    y = 76;
    if (walk_jump) y -= hop[walk_frames & 15] ;
    if (!window || !covered(72, 76)) put(72, y, tile, flags);
    /* offset of the people against the hero while a step is under way */
    sx = sy = 0;
    if (walk_frames) {
        uint8_t done = 16 - walk_frames;
        if (walk_dx > 0) sx = done; else if (walk_dx < 0) sx = -done;
        if (walk_dy > 0) sy = done; else if (walk_dy < 0) sy = -done;
    }
    for (i = 0; i != map.people; ++i, ++p) {
        x = p->x - wXCoord + 5;
        y = p->y - wYCoord + 5;
        if (x > 11 || y > 10 || person_hidden(p)) continue;
        x = (x << 4) - 8 - sx;
        y = (y << 4) - 4 - sy;
        if (window && covered(x, y)) continue;
        tile = person_tile[i];
        flags = 0x10;
        if (!IS_THING(p)) {
            tile += p->facing;
            if (p->facing == 12) {
                tile -= 4;
                flags = 0x30;
            }
        }
        if (i == bubble_person) put(x, y - 16, BUBBLE_TILE, 0);
        put(x, y, tile, flags);
    }
    while (oam != wOam + 160) {
        *oam = 0;
        oam += 4;
    }
}
