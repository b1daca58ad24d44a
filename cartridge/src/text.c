/* text.c: the text window: boxes, strings, texts with pages, simple menus.
 * Everything is drawn to wTileMap; the VBlank handler copies that to whichever
 * map hTransferHi names (the window in the world, the background in battle). */
#include "core.h"

char text_name[2][14];
uint16_t text_number;
uint8_t menu_quit;

static uint8_t *at(uint8_t x, uint8_t y) {
    return wTileMap + (uint16_t)y * 20 + x;
}

void draw_box(uint8_t x, uint8_t y, uint8_t w, uint8_t h) {
    uint8_t *p = at(x, y);
    uint8_t i;
    p[0] = FRAME_TL;
    for (i = w - 2; i; --i) p[i] = FRAME_T;
    p[w - 1] = FRAME_TR;
    p += 20;
    for (h -= 2; h; --h) {
        p[0] = FRAME_L;
        for (i = w - 2; i; --i) p[i] = TILE_SPACE;
        p[w - 1] = FRAME_R;
        p += 20;
    }
    p[0] = FRAME_BL;
    for (i = w - 2; i; --i) p[i] = FRAME_B;
    p[w - 1] = FRAME_BR;
}

void put_string(uint8_t x, uint8_t y, const char *s) {
    uint8_t *p = at(x, y);
    uint8_t c;
    while ((c = (uint8_t)*s++) != 0) *p++ = c + 0x60;
}

void put_number(uint8_t x, uint8_t y, uint16_t value, uint8_t digits) {
    uint8_t *p = at(x, y) + digits;
    do {
        *--p = (uint8_t)(TILE('0') + value % 10);
        value /= 10;
        --digits;
    } while (digits && value);
    while (digits--) *--p = TILE_SPACE;
}

/* Copies text number `text` to wTextBuffer and fills in {a}, {b}, {n}
 * (bytes 1, 2, 3). Texts end with 0; 10 is a new line, 12 a new page. */
void load_text(uint16_t text) {
    uint8_t old = hLoadedROMBank;
    const uint8_t *entry, *from;
    uint8_t bank, c;
    uint8_t *to = wTextBuffer;
    set_bank(TEXT_TABLE_BANK);
    entry = (const uint8_t *)TEXT_TABLE + text * 3;
    bank = entry[0];
    from = (const uint8_t *)(entry[1] | ((uint16_t)entry[2] << 8));
    set_bank(bank);
    do {
        c = *from++;
        if (c == 1 || c == 2) {
            const char *s = text_name[c - 1];
            while (*s) *to++ = (uint8_t)*s++;
        } else if (c == 3) {
            uint16_t v = text_number, d = 10000;
            uint8_t started = 0;
            for (; d; d /= 10) {
                uint8_t q = (uint8_t)(v / d);
                v -= d * q;
                if (q || started || d == 1) {
                    *to++ = '0' + q;
                    started = 1;
                }
            }
        } else {
            *to++ = c;
        }
    } while (c);
    set_bank(old);
}

/* Waits for A or B with the blinking mark in the corner. */
static void wait_button(void) {
    uint8_t *mark = at(18, 17);
    uint8_t blink = 0;
    for (;;) {
        if ((blink & 15) == 0) {
            *mark = (blink & 16) ? FRAME_B : TILE_MORE;
            hTransferPos = 2;
            hTransfer = 1;
        }
        ++blink;
        wait_frame();
        if (take_pressed() & (PAD_A | PAD_B)) break;
    }
    *mark = FRAME_B;
}

static void open_box(void) {
    draw_box(0, 12, 20, 6);
}

/* Prints wTextBuffer, three letters a frame, page by page. */
static void print_pages(uint8_t wait_at_end) {
    const uint8_t *s = wTextBuffer;
    uint8_t *p;
    uint8_t c, n, line;
    open_box();
    screen_update();
    for (;;) {
        p = at(1, 14);
        line = 0;
        n = 0;
        open_box();
        while ((c = *s) != 0 && c != 12) {
            ++s;
            if (c == 10) {
                ++line;
                p = at(1, 16);
            } else {
                *p++ = c + 0x60;
            }
            if (++n == 3) {
                n = 0;
                hTransferPos = 2;
                hTransfer = 1;
                wait_frame();
            }
        }
        hTransferPos = 2;
        hTransfer = 1;
        wait_frame();
        take_pressed();
        if (c == 0) {
            if (wait_at_end) wait_button();
            break;
        }
        ++s;
        wait_button();
    }
}

void say_buffer(void) {
    print_pages(1);
}

void say(uint16_t text) {
    load_text(text);
    print_pages(1);
}

void say_open(uint16_t text) {
    load_text(text);
    print_pages(0);
}

/* A vertical menu of n entries with the cursor column at x, first entry at y,
 * `step` rows apart. Returns the entry, or MENU_CANCEL for B or Start. */
uint8_t menu_choose(uint8_t x, uint8_t y, uint8_t n, uint8_t step, uint8_t start) {
    uint8_t i = start;
    uint8_t pressed;
    take_pressed();
    for (;;) {
        uint8_t *p = at(x, y + i * step);
        *p = TILE_CURSOR;
        screen_update();
        do {
            wait_frame();
            pressed = take_pressed() & (PAD_A | PAD_B | PAD_START | PAD_UP | PAD_DOWN);
        } while (!pressed);
        if (pressed & PAD_A) return i;
        if (pressed & (PAD_B | PAD_START)) {
            menu_quit = pressed & PAD_START;
            return MENU_CANCEL;
        }
        *p = TILE_SPACE;
        if (pressed & PAD_UP) i = i ? i - 1 : n - 1;
        else i = (i + 1 == n) ? 0 : i + 1;
    }
}

static const char yes_text[] = "YES";
static const char no_text[] = "NO";

uint8_t ask_yes_no(void) {
    uint8_t choice;
    draw_box(14, 7, 6, 5);
    put_string(16, 8, yes_text);
    put_string(16, 10, no_text);
    choice = menu_choose(15, 8, 2, 2, 0);
    return choice == 0;
}
