/* map.c: loads map headers, objects and graphics from the data banks, and
 * answers what cell lies at a place, across the edges into connected maps. */
#include "map.h"
#include "objects.h"

MapHeader map;
Warp warps[MAX_WARPS];
Person people[MAX_PEOPLE];
Sign signs[MAX_SIGNS];
uint8_t cell_flags[64];
uint8_t person_tile[MAX_PEOPLE];

void map_load_header(void) {
    uint8_t old = hLoadedROMBank;
    const uint8_t *p;
    uint8_t bank;
    uint16_t n;
    set_bank(MAP_TABLE_BANK);
    p = (const uint8_t *)MAP_TABLE + wCurMap * 3u;
    bank = p[0];
    p = (const uint8_t *)(p[1] | ((uint16_t)p[2] << 8));
    set_bank(bank);
    copy((uint8_t *)&map, p, sizeof(map));
    p += sizeof(map);
    n = map.warps * (uint16_t)sizeof(Warp);
    copy((uint8_t *)warps, p, n);
    p += n;
    n = map.people * (uint16_t)sizeof(Person);
    copy((uint8_t *)people, p, n);
    p += n;
    copy((uint8_t *)signs, p, map.signs * (uint16_t)sizeof(Sign));
    set_bank(old);
    wCurMapWidth = map.width >> 1;
    wCurMapHeight = map.height >> 1;
    wCurMapTileset = map.tileset;
}

/* The look of each person that is in VRAM now, to skip reloading. */
static uint8_t loaded_sprites[MAX_PEOPLE];
static uint8_t loaded_count;

void map_load_tiles(void) {
    uint8_t old = hLoadedROMBank;
    const uint8_t *p;
    uint8_t bank;
    set_bank(TILESET_TABLE_BANK);
    p = (const uint8_t *)TILESET_TABLE + map.tileset * 3u;
    bank = p[0];
    p = (const uint8_t *)(p[1] | ((uint16_t)p[2] << 8));
    set_bank(bank);
    copy((uint8_t *)0x9000, p, 2048);
    copy(wMetatiles, p + 2048, 256);
    copy(cell_flags, p + 2304, 64);
    set_bank(old);
    loaded_count = 0xFF;
    map_load_sprites();
}

/* The hero has object tiles 0-23, every further look 12 (three frames). */
void map_load_sprites(void) {
    uint8_t old = hLoadedROMBank;
    const uint8_t *p;
    uint8_t bank, i, j, tile, tiles;
    if (loaded_count == map.people) {
        for (i = 0; i != map.people; ++i)
            if (people[i].sprite != loaded_sprites[i]) break;
        if (i == map.people) return;
    }
    tile = 0;
    for (i = 0; i <= map.people; ++i) {
        uint8_t sprite = SPRITE_HERO;
        if (i) {
            sprite = people[i - 1].sprite;
            loaded_sprites[i - 1] = sprite;
            for (j = 0; j != i - 1; ++j)
                if (people[j].sprite == sprite) break;
            if (j != i - 1) {
                person_tile[i - 1] = person_tile[j];
                continue;
            }
            person_tile[i - 1] = tile;
        }
        set_bank(SPRITE_TABLE_BANK);
        p = (const uint8_t *)SPRITE_TABLE + sprite * 4u;
        bank = p[0];
        tiles = p[3] << 2;
        p = (const uint8_t *)(p[1] | ((uint16_t)p[2] << 8));
        set_bank(bank);
        vram_copy((uint8_t *)0x8000 + ((uint16_t)tile << 4), p, (uint16_t)tiles << 4);
        tile += tiles;
    }
    /* the bubble has the last four tiles */
    set_bank(SPRITE_TABLE_BANK);
    p = (const uint8_t *)SPRITE_TABLE + SPRITE_BUBBLE * 4u;
    bank = p[0];
    p = (const uint8_t *)(p[1] | ((uint16_t)p[2] << 8));
    set_bank(bank);
    vram_copy((uint8_t *)0x8000 + BUBBLE_TILE * 16, p, 64);
    loaded_count = map.people;
    set_bank(old);
}

/* n cells of row y from x on. Outside the map: the connected map if there is
 * one on that side, else the border cell. */
void fetch_row(int8_t x, int8_t y, uint8_t n, uint8_t *to) {
    uint8_t old = hLoadedROMBank;
    uint8_t ux;
    const uint8_t *row;
    Connection *c;
    if ((uint8_t)y < map.height) {
        set_bank(map.bank);
        row = map.cells + (uint16_t)(uint8_t)y * map.width;
        for (; n; --n, ++x) {
            ux = (uint8_t)x;
            if (ux < map.width) {
                *to++ = row[ux];
            } else {
                c = x < 0 ? &map.side[2] : &map.side[3];
                if (c->map != 0xFF) {
                    uint8_t cy = (uint8_t)y - c->offset;
                    uint8_t cx = x < 0 ? ux + c->width : ux - map.width;
                    if (cy < c->height && cx < c->width) {
                        set_bank(c->bank);
                        *to++ = c->cells[(uint16_t)cy * c->width + cx];
                        set_bank(map.bank);
                        continue;
                    }
                }
                *to++ = map.border;
            }
        }
    } else {
        uint8_t cy;
        c = y < 0 ? &map.side[0] : &map.side[1];
        if (c->map == 0xFF) {
            while (n--) *to++ = map.border;
        } else {
            cy = y < 0 ? (uint8_t)y + c->height : (uint8_t)y - map.height;
            set_bank(c->bank);
            row = c->cells + (uint16_t)cy * c->width;
            for (; n; --n, ++x) {
                ux = (uint8_t)x - c->offset;
                *to++ = ux < c->width ? row[ux] : map.border;
            }
        }
    }
    set_bank(old);
}

uint8_t cell_at(int8_t x, int8_t y) {
    uint8_t cell;
    fetch_row(x, y, 1, &cell);
    return cell;
}

uint8_t flags_at(int8_t x, int8_t y) {
    return cell_flags[cell_at(x, y)];
}

uint8_t person_hidden(Person *p) {
    if (p->hide != NO_FLAG && flag_get(p->hide)) return 1;
    if (p->show != NO_FLAG && !flag_get(p->show)) return 1;
    return 0;
}
