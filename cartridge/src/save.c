/* save.c: the saved game in battery RAM: two copies, each with a mark, the data
 * ranges one after the other, and a checksum. Reading takes the first good copy. */
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
#define COPY_A ((uint8_t *)0xA000)
#define COPY_B ((uint8_t *)0xB000)

static void ram_on(void) {
    *(volatile uint8_t *)0x0000 = 0x0A;
    *(volatile uint8_t *)0x4000 = 0;
}

static void ram_off(void) {
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

uint8_t save_exists(void) {
    uint8_t yes;
    ram_on();
    yes = good(COPY_A) || good(COPY_B);
    ram_off();
    return yes;
}

void save_write(void) {
    ram_on();
    write_copy(COPY_A);
    write_copy(COPY_B);
    ram_off();
}

void save_read(void) {
    ram_on();
    read_copy(good(COPY_A) ? COPY_A : COPY_B);
    ram_off();
}
