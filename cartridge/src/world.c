/* world.c: walking: input, steps, scrolling, doors and edges, encounters. */
#include "world.h"
#include "objects.h"
#include "menu.h"
#include "sound.h"

uint8_t world_leave;
uint8_t world_warp;

static uint8_t bg_x, bg_y;      /* the view's place in the background map, in tiles */
static uint8_t step_speed;
static uint8_t crossing;        /* side that this step leaves the map by, or 0xFF */

void view_draw(void) {
    uint8_t *to = wViewCells;
    int8_t y = (int8_t)(wYCoord - 4);
    uint8_t n = 9;
    do {
        fetch_row((int8_t)(wXCoord - 4), y, 10, to);
        to += 10;
        ++y;
    } while (--n);
    cells_to_tiles();
}

/* Puts the whole view into the background map at its top left. LCD off. */
static void background_draw(void) {
    const uint8_t *from = wTileMap;
    uint8_t *to = (uint8_t *)0x9800;
    uint8_t n = 18;
    do {
        copy(to, from, 20);
        from += 20;
        to += 32;
    } while (--n);
    bg_x = bg_y = 0;
    hSCX = hSCY = 0;
    rSCX = rSCY = 0;
}

void ui_close(void) {
    hWY = 144;
    view_draw();
    objects_update();
    wait_frame();
    take_pressed();
}

void world_redraw(void) {
    lcd_off();
    hWY = 144;
    rWY = 144;
    hRedraw = 0;
    hTransfer = 0;
    hTransferHi = 0x9C;
    hLcdMode = 0;
    load_asset_tiles(FONT_TILES_BANK, FONT_TILES, 0x8800, 96);
    load_asset_tiles(FRAME_TILES_BANK, FRAME_TILES, 0x8E00, 32);
    map_load_tiles();
    view_draw();
    background_draw();
    walk_frames = 0;
    objects_update();
    lcd_on();
}

static void town_reached(void) {
    uint8_t t = map.town;
    if (t == 0xFF) return;
    if (t < 8) wTownVisited[0] |= 1 << t;
    else wTownVisited[1] |= 1 << (t - 8);
}

/* A hearth is where a defeat leads from the moment the hero has been inside. */
static void hearth_reached(void) {
    uint8_t i;
    Person *p = people;
    for (i = 0; i != map.people; ++i, ++p) {
        if (p->kind != KIND_HEAL) continue;
        wLastBlackoutMap = wCurMap;
        wLastBlackoutX = p->x;
        wLastBlackoutY = p->y + 2;
        return;
    }
}

static void enter_map(void) {
    map_load_header();
    hearth_reached();
    town_reached();
    music_play(map.music);
}

/* Draws the row of cells at map position (x, y) to background line by, from bg_x. */
static void prepare_row(int8_t y, uint8_t by) {
    uint8_t cells[10];
    uint8_t i, *m, *to = wRedrawBuffer;
    uint16_t a;
    fetch_row((int8_t)(wXCoord - 4), y, 10, cells);
    for (i = 0; i != 10; ++i) {
        m = wMetatiles + (cells[i] << 2);
        to[20] = m[2];
        to[21] = m[3];
        *to++ = m[0];
        *to++ = m[1];
    }
    a = 0x9800 + ((uint16_t)by << 5) + bg_x;
    hRedrawLo = (uint8_t)a;
    hRedrawHi = (uint8_t)(a >> 8);
    hRedraw = 1;
}

static void prepare_column(int8_t x, uint8_t bx) {
    uint8_t i, cell, *m, *to = wRedrawBuffer;
    int8_t y = (int8_t)(wYCoord - 4);
    uint16_t a;
    for (i = 0; i != 9; ++i, ++y) {
        fetch_row(x, y, 1, &cell);
        m = wMetatiles + (cell << 2);
        *to++ = m[0];
        *to++ = m[1];
        *to++ = m[2];
        *to++ = m[3];
    }
    a = 0x9800 + ((uint16_t)bg_y << 5) + bx;
    hRedrawLo = (uint8_t)a;
    hRedrawHi = (uint8_t)(a >> 8);
    hRedraw = 2;
}

static void start_step(void) {
    walk_frames = 16;
    wWalkCounter = 8;
    walk_parity ^= 1;
    if (walk_dx > 0) prepare_column((int8_t)(wXCoord + 6), (bg_x + 20) & 31);
    else if (walk_dx < 0) prepare_column((int8_t)(wXCoord - 5), (bg_x - 2) & 31);
    else if (walk_dy > 0) prepare_row((int8_t)(wYCoord + 5), (bg_y + 18) & 31);
    else prepare_row((int8_t)(wYCoord - 5), (bg_y - 2) & 31);
}

uint8_t person_at(uint8_t x, uint8_t y) {
    uint8_t i;
    Person *p = people;
    for (i = 0; i != map.people; ++i, ++p)
        if (p->x == x && p->y == y && !person_hidden(p)) return i;
    return 0xFF;
}

static void try_step(uint8_t facing) {
    int8_t x, y;
    uint8_t flags, side = 0xFF;
    wFacing = facing;
    walk_dx = walk_dy = 0;
    if (facing == DOWN) walk_dy = 1;
    else if (facing == UP) walk_dy = -1;
    else if (facing == LEFT) walk_dx = -1;
    else walk_dx = 1;
    x = (int8_t)(wXCoord + walk_dx);
    y = (int8_t)(wYCoord + walk_dy);
    if (y < 0) side = 0;
    else if ((uint8_t)y >= map.height) side = 1;
    else if (x < 0) side = 2;
    else if ((uint8_t)x >= map.width) side = 3;
    if (side != 0xFF && map.side[side].map == 0xFF) return;
    flags = flags_at(x, y);
    if (side == 0xFF && person_at((uint8_t)x, (uint8_t)y) != 0xFF) return;
    step_speed = 1;
    walk_jump = 0;
    if (flags & CELL_LEDGE) {
        if (facing != DOWN) return;
        walk_jump = 2;
        step_speed = 2;
        sound_effect(SOUND_JUMP);
    } else if (!(flags & CELL_WALK)) {
        return;
    }
    crossing = side;
    start_step();
}

/* The step left the map: the connected map becomes the current one. */
static void cross_edge(void) {
    Connection *c = &map.side[crossing];
    uint8_t offset = c->offset;
    wCurMap = c->map;
    if (crossing == 0) {
        wYCoord = c->height - 1;
        wXCoord -= offset;
    } else if (crossing == 1) {
        wYCoord = 0;
        wXCoord -= offset;
    } else if (crossing == 2) {
        wXCoord = c->width - 1;
        wYCoord -= offset;
    } else {
        wXCoord = 0;
        wYCoord -= offset;
    }
    enter_map();
    map_load_sprites();
}

static void check_warp(void) {
    uint8_t i;
    Warp *w = warps;
    for (i = 0; i != map.warps; ++i, ++w) {
        if (w->x == wXCoord && w->y == wYCoord) {
            wLastMap = wCurMap;
            wCurMap = w->map;
            wXCoord = w->to_x;
            wYCoord = w->to_y;
            wFacing = w->facing;
            world_warp = 1;
            return;
        }
    }
}

static void arrived(void) {
    if (crossing != 0xFF) cross_edge();
    view_draw();
    check_warp();
    if (world_warp) {
        sound_effect(SOUND_DOOR);
        return;
    }
    objects_update();
    trainer_sight();
    if (world_warp || world_leave) return;
    if (map.encounters != 0xFF && (flags_at((int8_t)wXCoord, (int8_t)wYCoord) & CELL_GRASS))
        wild_encounter();
}

static void walk_on(void) {
    uint8_t n = step_speed;
    do {
        hSCX += walk_dx;
        hSCY += walk_dy;
        --walk_frames;
    } while (--n);
    wWalkCounter = walk_frames >> 1;
    if (walk_frames) {
        objects_update();
        return;
    }
    bg_x = (bg_x + (walk_dx << 1)) & 31;
    bg_y = (bg_y + (walk_dy << 1)) & 31;
    wXCoord += walk_dx;
    wYCoord += walk_dy;
    if (walk_jump == 2) {
        walk_jump = 1;
        crossing = 0xFF;
        start_step();
        objects_update();
        return;
    }
    walk_jump = 0;
    arrived();
    if (!world_warp) objects_update();
}

/* Now and then somebody looks elsewhere. */
static void look_around(void) {
    uint8_t i = random() & 15;
    Person *p = people + i;
    if (i >= map.people || p->kind != KIND_NPC) return;
    p->facing = random() & 12;
    objects_update();
}

void world_run(void) {
    uint8_t held, pressed;
    world_leave = 0;
    world_warp = 1;
    wClockOn = 1;
    for (;;) {
        if (world_warp) {
            world_warp = 0;
            enter_map();
            world_redraw();
            fade_in();
            take_pressed();
            if (!flag_get(FLAG_BEGUN)) {
                flag_set(FLAG_BEGUN);
                say(TEXT_INTRO);
                ui_close();
            }
        }
        wait_frame();
        if (walk_frames) {
            walk_on();
            if (world_warp) fade_out();
            continue;
        }
        pressed = take_pressed();
        held = hJoyHeld;
        if ((hFrames & 31) == 0) look_around();
        if (pressed & PAD_A) {
            interact();
            if (world_warp) continue;
        } else if (pressed & PAD_START) {
            menu_redraw = 0;
            FAR(BANK_MENU, start_menu);
            if (menu_redraw) {
                world_redraw();
                wait_frame();
                take_pressed();
            } else {
                ui_close();
            }
        } else if (held & 0xF0) {
            if (held & PAD_DOWN) try_step(DOWN);
            else if (held & PAD_UP) try_step(UP);
            else if (held & PAD_LEFT) try_step(LEFT);
            else try_step(RIGHT);
            if (walk_frames) walk_on();
            else objects_update();
        }
        if (world_leave) return;
    }
}
