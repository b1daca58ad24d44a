/* battle_screen.c: what a battle looks like. Drawn to the background map, so
 * that scrolling can shake it and the STAT handler can bend it. */
#include "battle.h"
#include "sound.h"

uint8_t foe_shown, own_shown, trainer_shown;
uint16_t foe_bar, own_bar;

#define FOE_TILES 0             /* 49 tiles */
#define OWN_TILES 49            /* 36 tiles */

static uint8_t *at(uint8_t x, uint8_t y) {
    return wTileMap + (uint16_t)y * 20 + x;
}

void battle_say(uint16_t text) {
    uint8_t i;
    say_open(text);
    for (i = 0; i != 28; ++i) {
        wait_frame();
        if (take_pressed() & (PAD_A | PAD_B)) break;
    }
}

static void load_picture(uint8_t bank, uint16_t from, uint8_t tile, uint8_t tiles) {
    vram_copy_far(bank, from, 0x9000 + ((uint16_t)tile << 4), (uint16_t)tiles << 4);
}

void battle_load_foe_picture(void) {
    uint8_t entry[3];
    if (trainer_shown) {
        copy_far(PEOPLE_TABLE_BANK, PEOPLE_TABLE + party.picture * 3u, entry, 3);
        load_picture(entry[0], entry[1] | ((uint16_t)entry[2] << 8), FOE_TILES, 49);
        return;
    }
    species_load(wEnemyMon.species);
    load_picture(species.front_bank, species.front, FOE_TILES, 49);
}

void battle_load_own_picture(void) {
    if (own_shown == SHOW_HERO) {
        load_picture(PIC_HERO_BACK_BANK, PIC_HERO_BACK, OWN_TILES, 36);
        return;
    }
    species_load(wBattleMon.species);
    load_picture(species.back_bank, species.back, OWN_TILES, 36);
}

static void picture(uint8_t x, uint8_t y, uint8_t n, uint8_t tile, uint8_t skip) {
    uint8_t row, column;
    uint8_t *p;
    for (row = 0; row != n; ++row) {
        p = at(x, y + row);
        for (column = 0; column != n; ++column) {
            if (row < skip) *p++ = TILE_SPACE;
            else *p++ = tile + (uint8_t)(row - skip) * n + column;
        }
    }
}

static void clear(uint8_t x, uint8_t y, uint8_t w, uint8_t h) {
    uint8_t i, *p = at(x, y);
    for (; h; --h) {
        for (i = 0; i != w; ++i) p[i] = TILE_SPACE;
        p += 20;
    }
}

void battle_foe_gauge(void) {
    clear(0, 0, 11, 4);
    if (!foe_shown) return;
    put_name(1, 0, wEnemyMon.species);
    *at(4, 1) = TILE_LV;
    put_number(5, 1, wEnemyMon.level, 2);
    put_hp_bar(2, 2, foe_bar, get16(wEnemyMon.max_hp));
    *at(1, 2) = FRAME_L;
    *at(1, 3) = FRAME_BL;
    {
        uint8_t i;
        for (i = 2; i != 10; ++i) *at(i, 3) = FRAME_B;
    }
    if (wEnemyMon.status) *at(8, 1) = (wEnemyMon.status & STATUS_POISON) ? TILE('P') : TILE('Z');
}

void battle_own_gauge(void) {
    uint8_t i;
    clear(9, 7, 11, 5);
    if (own_shown != SHOW_KITH) return;
    put_name(10, 7, wBattleMon.species);
    *at(14, 8) = TILE_LV;
    put_number(15, 8, wBattleMon.level, 2);
    put_hp_bar(10, 9, own_bar, get16(wBattleMon.max_hp));
    put_number(11, 10, own_bar, 3);
    *at(14, 10) = TILE('/');
    put_number(15, 10, get16(wBattleMon.max_hp), 3);
    *at(18, 9) = FRAME_R;
    *at(18, 10) = FRAME_R;
    *at(18, 11) = FRAME_BR;
    for (i = 9; i != 18; ++i) *at(i, 11) = FRAME_B;
    if (wBattleMon.status) *at(18, 8) = (wBattleMon.status & STATUS_POISON) ? TILE('P') : TILE('Z');
}

void battle_draw_foe(void) {
    if (foe_shown || trainer_shown) picture(12, 0, 7, FOE_TILES, 0);
    else clear(12, 0, 7, 7);
    battle_foe_gauge();
}

void battle_draw_own(void) {
    if (own_shown) picture(1, 6, 6, OWN_TILES, 0);      /* or the hero, before the first kith */
    else clear(1, 6, 6, 6);
    battle_own_gauge();
}

void battle_screen_draw(void) {
    fill(wTileMap, 360, TILE_SPACE);
    battle_draw_foe();
    battle_draw_own();
    draw_box(0, 12, 20, 6);
    screen_update();
}

void battle_screen_open(void) {
    lcd_off();
    hide_objects();
    hWY = 144;
    hTransferHi = 0x98;
    hTransfer = 0;
    hRedraw = 0;
    hSCX = hSCY = 0;
    rSCX = rSCY = 0;
    hLcdMode = 0;
    fill((uint8_t *)0x9800, 0x400, TILE_SPACE);
    battle_load_foe_picture();
    battle_load_own_picture();
    fill(wTileMap, 360, TILE_SPACE);
    lcd_on();
}

void battle_hit_foe(void) {
    uint8_t i;
    sound_effect(SOUND_HIT);
    for (i = 0; i != 4; ++i) {
        if (i & 1) picture(12, 0, 7, FOE_TILES, 0);
        else clear(12, 0, 7, 7);
        screen_update();
    }
}

void battle_hit_own(void) {
    uint8_t i;
    sound_effect(SOUND_HIT);
    for (i = 0; i != 8; ++i) {
        hSCX = (i & 1) ? 2 : 254;
        wait_frame();
    }
    hSCX = 0;
}

void battle_drop_foe(void) {
    uint8_t i;
    sound_effect(SOUND_FAINT);
    for (i = 1; i != 8; ++i) {
        picture(12, 0, 7, FOE_TILES, i);
        screen_update();
    }
    foe_shown = 0;
    battle_foe_gauge();
    screen_update();
}

void battle_drop_own(void) {
    uint8_t i;
    sound_effect(SOUND_FAINT);
    for (i = 1; i != 7; ++i) {
        picture(1, 6, 6, OWN_TILES, i);
        screen_update();
    }
    own_shown = 0;
    battle_own_gauge();
    screen_update();
}

/* The gauge moves in at most 16 steps. */
static uint16_t step(uint16_t from, uint16_t to, uint8_t by) {
    if (from > to) {
        from = from - to > by ? from - by : to;
    } else {
        from = to - from > by ? from + by : to;
    }
    return from;
}

void battle_drain_foe(uint16_t to) {
    uint8_t by = (uint8_t)(get16(wEnemyMon.max_hp) >> 4) + 1;
    while (foe_bar != to) {
        foe_bar = step(foe_bar, to, by);
        put_hp_bar(2, 2, foe_bar, get16(wEnemyMon.max_hp));
        hTransferPos = 0;
        hTransfer = 1;
        wait_frame();
    }
}

void battle_drain_own(uint16_t to) {
    uint8_t by = (uint8_t)(get16(wBattleMon.max_hp) >> 4) + 1;
    while (own_bar != to) {
        own_bar = step(own_bar, to, by);
        put_hp_bar(10, 9, own_bar, get16(wBattleMon.max_hp));
        put_number(11, 10, own_bar, 3);
        hTransferPos = 1;
        hTransfer = 1;
        wait_frame();
    }
}
