/* title.c: the title screen. */
#include "title.h"

static const char title_text[] = "KITHWILD";
static const char start_text[] = "PRESS START";

void title_run(void) {
    lcd_off();
    load_asset_tiles(FONT_TILES_BANK, FONT_TILES, 0x8800, 96);
    load_asset_tiles(FRAME_TILES_BANK, FRAME_TILES, 0x8E00, 32);
    fill(wTileMap, 360, TILE_SPACE);
    fill((uint8_t *)0x9800, 0x400, TILE_SPACE);
    put_string(6, 6, title_text);
    put_string(4, 12, start_text);
    hTransferHi = 0x98;
    hWY = 144;
    hSCX = hSCY = 0;
    hide_objects();
    lcd_on();
    screen_update();
    fade_in();
    while (!(take_pressed() & (PAD_START | PAD_A))) wait_frame();
    fade_out();
}

void credits_run(void) {
}
