/* save.c: the saved game in battery RAM: two copies in two RAM
 * banks, each with a mark, the data ranges one after the other, and a checksum.
 * Reading takes the first good copy. */
#include "menu.h"

typedef struct { uint8_t *from; uint16_t count; } Range;

static const Range ranges[] = {
    {(uint8_t *)0xC109, 1},         /* facing */
    {(uint8_t *)0xD163, 272},       /* party */
    {(uint8_t *)0xD2F7, 115},       /* owned, seen, bag, money, badges, place */
    {(uint8_t *)0xD70B, 2},         /* towns */
    {(uint8_t *)0xD719, 3},         /* last hearth */
    {(uint8_t *)0xD747, 320},       /* events */
    {(uint8_t *)0xDA41, 5},         /* play time */
    {(uint8_t *)0xDA80, 705},       /* box */
};
#define RANGES (sizeof(ranges) / sizeof(ranges[0]))
#define COPIES 2                        /* one in each of the first RAM banks */
#define COPY ((uint8_t *)0xA000)

static void ram_on(uint8_t bank) {
    *(volatile uint8_t *)0x0000 = 0x0A;
    *(volatile uint8_t *)0x4000 = bank;
}

static void ram_off(void) {
    *(volatile uint8_t *)0x4000 = 0;
    *(volatile uint8_t *)0x0000 = 0;
}

static uint16_t total(void) {
    uint16_t n = 0;
    uint8_t i;
    for (i = 0; i != RANGES; ++i) n += ranges[i].count;
    return n;
}

static uint16_t checksum(const uint8_t *p) {
    uint16_t n = total(), sum = 0x4B57;
    while (n--) sum = (uint16_t)(sum << 1 | sum >> 15) + *p++;
    return sum;
}

static uint8_t good(uint8_t *p) {
    return p[0] == 'K' && p[1] == 'W' && p[2] == '0' && p[3] == '1'
        && get16(p + 4) == checksum(p + 6);
}

static void write_copy(uint8_t *p) {
    uint8_t i;
    uint8_t *to = p + 6;
    p[0] = 0;                       /* not valid while being written */
    for (i = 0; i != RANGES; ++i) {
        copy(to, ranges[i].from, ranges[i].count);
        to += ranges[i].count;
    }
    put16(p + 4, checksum(p + 6));
    p[1] = 'W';
    p[2] = '0';
    p[3] = '1';
    p[0] = 'K';
}

static void read_copy(uint8_t *p) {
    uint8_t i;
    p += 6;
    for (i = 0; i != RANGES; ++i) {
        copy(ranges[i].from, p, ranges[i].count);
        p += ranges[i].count;
    }
}

/* The first good copy's bank, or COPIES; leaves that bank switched on. */
static uint8_t find_good(void) {
    uint8_t bank;
    for (bank = 0; bank != COPIES; ++bank) {
        ram_on(bank);
        if (good(COPY)) break;
    }
    return bank;
}

uint8_t save_exists(void) {
    uint8_t yes = find_good() != COPIES;
    ram_off();
    return yes;
}

void save_write(void) {
    uint8_t bank;
    for (bank = 0; bank != COPIES; ++bank) {
        ram_on(bank);
        write_copy(COPY);
    }
    ram_off();
}

void save_read(void) {
    if (find_good() != COPIES) read_copy(COPY);
    ram_off();
}
