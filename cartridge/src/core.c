/* core.c: small services of the fixed bank: memory across banks, the screen,
 * buttons, flags. */
#include "core.h"
#include "objects.h"
#include "sound.h"

void copy_far(uint8_t bank, uint16_t from, uint8_t *to, uint16_t count) {
    uint8_t old = hLoadedROMBank;
    set_bank(bank);
    copy(to, (const uint8_t *)from, count);
    set_bank(old);
}

uint8_t peek_far(uint8_t bank, uint16_t from) {
    uint8_t old = hLoadedROMBank;
    uint8_t value;
    set_bank(bank);
    value = *(const uint8_t *)from;
    set_bank(old);
    return value;
}

void vram_copy_far(uint8_t bank, uint16_t from, uint16_t to, uint16_t count) {
    uint8_t old = hLoadedROMBank;
    set_bank(bank);
    vram_copy((uint8_t *)to, (const uint8_t *)from, count);
    set_bank(old);
}

void wait_frames(uint8_t n) {
    hFrameCounter = n;          /* the VBlank handler counts it down */
    while (hFrameCounter) wait_frame();
}

void lcd_off(void) {
    wait_frame();               /* returns right after the VBlank handler: still in VBlank */
    rLCDC = LCDC_GAME & 0x7F;
}

void lcd_on(void) {
    rLCDC = LCDC_GAME;
}

void screen_touch(void) {
    hTransfer = 3;
}

void screen_update(void) {
    hTransfer = 3;
    while (hTransfer) wait_frame();
    if (hTransferHi == 0x9C) {          /* the world's window appears now */
        hWY = 0;
        objects_update();
    }
}

static const uint8_t fade_bgp[4] = {0xE4, 0x90, 0x40, 0x00};
static const uint8_t fade_obp[4] = {0xE0, 0x90, 0x40, 0x00};

static void fade_to(uint8_t i) {
    rBGP = fade_bgp[i];
    rOBP0 = fade_obp[i];
    rOBP1 = i ? fade_obp[i] : 0xD0;
}

void fade_out(void) {
    uint8_t i;
    for (i = 1; i != 4; ++i) {
        fade_to(i);
        wait_frames(2);
    }
}

void fade_in(void) {
    uint8_t i = 4;
    while (i--) {
        fade_to(i);
        if (i) wait_frames(2);
    }
}

void hide_objects(void) {
    uint8_t *p = wOam;
    uint8_t n = 40;
    do {
        *p = 0;
        p += 4;
    } while (--n);
}

uint8_t take_pressed(void) {
    uint8_t pressed = hJoyPressed;
    if (pressed) hJoyPressed = 0;
    return pressed;
}

uint8_t random_below(uint8_t n) {
    return (uint8_t)(((uint16_t)random() * n) >> 8);
}

void load_asset_tiles(uint8_t bank, uint16_t from, uint16_t vram, uint8_t tiles) {
    copy_far(bank, from, (uint8_t *)vram, (uint16_t)tiles << 4);
}

static const uint8_t bit_mask[8] = {1, 2, 4, 8, 16, 32, 64, 128};

uint8_t flag_get(uint16_t flag) {
    return wEventFlags[flag >> 3] & bit_mask[flag & 7];
}

void flag_set(uint16_t flag) {
    wEventFlags[flag >> 3] |= bit_mask[flag & 7];
}

uint16_t get16(const uint8_t *p) {
    return ((uint16_t)p[0] << 8) | p[1];
}

void put16(uint8_t *p, uint16_t v) {
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

void music_play(uint8_t tune) {
    if (tune == music_current) return;
    music_current = tune;
    music_request = tune;
}
