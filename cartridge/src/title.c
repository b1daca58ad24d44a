/* title.c: the title screen, its menu, and the credits. */
#include "title.h"
#include "menu.h"
#include "sound.h"

static const char start_text[] = "PRESS START";
static const char copy_text[] = "2026 EMURUST";
static const char continue_text[] = "CONTINUE";
static const char new_text[] = "NEW GAME";

static const char credit[][19] = {
    "K I T H W I L D", "",
    "A story of Wren", "and the wild kith",
    "Written for", "EmuRust",
    "Story, kith, maps,", "pictures and tunes",
    "by the EmuRust", "developers",
    "Played by", "you",
    "T H E   E N D", "",
};

static void logo(void) {
    uint8_t i, *p = wTileMap + 20 + 2, tile = 0;
    for (i = 0; i != 64; ++i) {
        *p++ = tile++;
        if ((i & 15) == 15) p += 4;
    }
}

static void picture(uint8_t number) {
    species_load(number);
    vram_copy_far(species.front_bank, species.front, 0x9400, 49 * 16);
}

static void open_screen(void) {
    lcd_off();
    load_asset_tiles(FONT_TILES_BANK, FONT_TILES, 0x8800, 96);
    load_asset_tiles(FRAME_TILES_BANK, FRAME_TILES, 0x8E00, 32);
    load_asset_tiles(LOGO_TILES_BANK, LOGO_TILES, 0x9000, 64);
    fill((uint8_t *)0x9710, 16, 0);
    fill((uint8_t *)0x9800, 0x400, TILE_SPACE);
    fill(wTileMap, 360, TILE_SPACE);
    hTransferHi = 0x98;
    hTransfer = 0;
    hRedraw = 0;
    hWY = 144;
    hSCX = hSCY = 0;
    rSCX = rSCY = 0;
    hide_objects();
}

/* Returns 1 for a new game, 0 to continue the saved one. */
uint8_t title_run(void) {
    uint8_t i, j, choice = 1, timer = 0, shown = SPECIES_AURELISK;
    hMusicOn = 1;
    open_screen();
    logo();
    for (i = 0; i != 7; ++i)
        for (j = 0; j != 7; ++j) wTileMap[(7 + i) * 20 + 6 + j] = 64 + i * 7 + j;
    picture(shown);
    put_string(4, 15, start_text);
    put_string(4, 17, copy_text);
    lcd_on();
    screen_update();
    music_play(MUSIC_TITLE);
    hLcdMode = 2;
    fade_in();
    take_pressed();
    while (!(take_pressed() & (PAD_START | PAD_A))) {
        wait_frame();
        ++timer;
        if ((timer & 31) == 0) {
            if (timer & 32) for (i = 4; i != 16; ++i) wTileMap[15 * 20 + i] = TILE_SPACE;
            else put_string(4, 15, start_text);
            screen_touch();
        }
        if (timer == 192) {
            timer = 0;
            if (++shown > SPECIES_COUNT) shown = 1;
            picture(shown);
        }
    }
    sound_effect(SOUND_ACCEPT);
    if (save_exists()) {
        draw_box(4, 7, 12, 6);
        put_string(6, 8, continue_text);
        put_string(6, 10, new_text);
        choice = menu_choose(5, 8, 2, 2, 0);
        if (choice == MENU_CANCEL) choice = 0;
        if (!choice) save_read();
    }
    fade_out();
    hLcdMode = 0;
    return choice;
}

static void put_centred(uint8_t y, const char *s) {
    uint8_t n = 0;
    while (s[n]) ++n;
    put_string((20 - n) >> 1, y, s);
}

void credits_run(void) {
    uint8_t i;
    fade_out();
    open_screen();
    logo();
    lcd_on();
    screen_update();
    music_play(MUSIC_END);
    hLcdMode = 2;
    fade_in();
    for (i = 0; i != sizeof(credit) / 19; i += 2) {
        fill(wTileMap + 160, 100, TILE_SPACE);
        put_centred(9, credit[i]);
        put_centred(11, credit[i + 1]);
        screen_update();
        wait_frames(120);
    }
    say(TEXT_THE_END);
    fade_out();
    hLcdMode = 0;
}
