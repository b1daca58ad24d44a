/* monster.c: tables of kith, moves and items; party, box, bag and money. */
#include "monster.h"

Species species;
Move move;
Item item;
Party party;

void species_load(uint8_t number) {
    copy_far(SPECIES_TABLE_BANK, SPECIES_TABLE + (uint16_t)number * sizeof(Species),
             (uint8_t *)&species, sizeof(Species));
}

void move_load(uint8_t number) {
    copy_far(MOVE_TABLE_BANK, MOVE_TABLE + (uint16_t)number * sizeof(Move),
             (uint8_t *)&move, sizeof(Move));
}

void item_load(uint8_t number) {
    copy_far(ITEM_TABLE_BANK, ITEM_TABLE + (uint16_t)number * sizeof(Item),
             (uint8_t *)&item, sizeof(Item));
}

void party_load(uint8_t number) {
    copy_far(PARTY_TABLE_BANK, PARTY_TABLE + (uint16_t)number * sizeof(Party),
             (uint8_t *)&party, sizeof(Party));
}

void name_species(uint8_t which, uint8_t number) {
    copy_far(SPECIES_TABLE_BANK, SPECIES_TABLE + (uint16_t)number * sizeof(Species),
             (uint8_t *)text_name[which], 11);
}

void name_move(uint8_t which, uint8_t number) {
    copy_far(MOVE_TABLE_BANK, MOVE_TABLE + (uint16_t)number * sizeof(Move),
             (uint8_t *)text_name[which], 11);
}

void name_item(uint8_t which, uint8_t number) {
    copy_far(ITEM_TABLE_BANK, ITEM_TABLE + (uint16_t)number * sizeof(Item),
             (uint8_t *)text_name[which], 12);
}

uint32_t exp_for_level(uint8_t level) {
    uint32_t v;
    copy_far(EXP_TABLE_BANK, EXP_TABLE + ((uint16_t)level << 2), (uint8_t *)&v, 4);
    return v;
}

uint32_t monster_exp(Monster *m) {
    return ((uint32_t)m->exp[0] << 16) | ((uint16_t)m->exp[1] << 8) | m->exp[2];
}

void monster_exp_set(Monster *m, uint32_t v) {
    m->exp[0] = (uint8_t)(v >> 16);
    m->exp[1] = (uint8_t)(v >> 8);
    m->exp[2] = (uint8_t)v;
}

static uint16_t stat(uint8_t base, uint8_t gene, uint8_t level) {
    return (uint16_t)(((uint16_t)(base + gene) << 1) * (uint32_t)level / 100);
}

void monster_stats(Monster *m) {
    uint8_t a = m->genes[0], b = m->genes[1], level = m->level;
    uint8_t hp_gene = (uint8_t)(((a >> 4) + (a & 15) + (b >> 4) + (b & 15)) >> 2);
    uint16_t lost = get16(m->max_hp) - get16(m->hp);
    uint16_t max;
    species_load(m->species);
    max = stat(species.hp, hp_gene, level) + level + 10;
    put16(m->max_hp, max);
    put16(m->hp, max - lost);
    put16(m->attack, stat(species.attack, a >> 4, level) + 5);
    put16(m->defence, stat(species.defence, a & 15, level) + 5);
    put16(m->speed, stat(species.speed, b >> 4, level) + 5);
    put16(m->special, stat(species.special, b & 15, level) + 5);
    m->type1 = species.type1;
    m->type2 = species.type2;
    m->catch_rate = species.catch_rate;
    m->box_level = level;
}

void monster_make(Monster *m, uint8_t number, uint8_t level) {
    uint8_t i, n = 0;
    fill((uint8_t *)m, sizeof(Monster), 0);
    m->species = number;
    m->level = level;
    m->genes[0] = random();
    m->genes[1] = random();
    monster_stats(m);
    put16(m->hp, get16(m->max_hp));
    monster_exp_set(m, exp_for_level(level));
    for (i = 0; i != 8; ++i) {
        uint8_t k = species.learns[i].move;
        if (!k || species.learns[i].level > level) break;
        if (n == 4) {       /* the oldest move but the first goes */
            m->moves[1] = m->moves[2];
            m->moves[2] = m->moves[3];
            n = 3;
        }
        m->moves[n++] = k;
    }
    for (i = 0; i != n; ++i) {
        move_load(m->moves[i]);
        m->pp[i] = move.pp;
    }
}

void monster_heal(Monster *m) {
    uint8_t i;
    put16(m->hp, get16(m->max_hp));
    m->status = 0;
    for (i = 0; i != 4; ++i) {
        if (m->moves[i]) {
            move_load(m->moves[i]);
            m->pp[i] = move.pp;
        }
    }
}

void party_species_update(void) {
    uint8_t i;
    for (i = 0; i != wPartyCount; ++i) wPartySpecies[i] = wParty[i].species;
    wPartySpecies[i] = 0xFF;
}

uint8_t monster_take(Monster *m) {
    mark_owned(m->species);
    if (wPartyCount < 6) {
        copy((uint8_t *)&wParty[wPartyCount], (uint8_t *)m, sizeof(Monster));
        ++wPartyCount;
        party_species_update();
        return 0;
    }
    if (wBoxCount < 16) {
        copy((uint8_t *)&wBox[wBoxCount], (uint8_t *)m, sizeof(Monster));
        ++wBoxCount;
        return 1;
    }
    return 2;
}

void party_heal(void) {
    uint8_t i;
    for (i = 0; i != wPartyCount; ++i) monster_heal(&wParty[i]);
}

uint8_t party_alive(void) {
    uint8_t i;
    for (i = 0; i != wPartyCount; ++i)
        if (get16(wParty[i].hp)) return i;
    return 0xFF;
}

static void mark(uint8_t *bits, uint8_t number) {
    --number;
    bits[number >> 3] |= 1 << (number & 7);
}

void mark_seen(uint8_t number) {
    mark(wSeen, number);
}

void mark_owned(uint8_t number) {
    mark(wSeen, number);
    mark(wOwned, number);
}

/* The bag: pairs of item and count, then FF. */
static uint8_t *bag_find(uint8_t number) {
    uint8_t *p = wBagItems;
    while (*p != 0xFF) {
        if (*p == number) return p;
        p += 2;
    }
    return p;
}

uint8_t bag_add(uint8_t number, uint8_t count) {
    uint8_t *p = bag_find(number);
    if (*p == 0xFF) {
        if (wNumBagItems == 20) return 0;
        ++wNumBagItems;
        p[0] = number;
        p[1] = 0;
        p[2] = 0xFF;
    }
    if (p[1] > 99 - count) return 0;
    p[1] += count;
    return 1;
}

uint8_t bag_count(uint8_t number) {
    uint8_t *p = bag_find(number);
    return *p == 0xFF ? 0 : p[1];
}

void bag_remove(uint8_t number) {
    uint8_t *p = bag_find(number);
    if (*p == 0xFF) return;
    if (--p[1]) return;
    do {
        p[0] = p[2];
        p[1] = p[3];
        p += 2;
    } while (p[-2] != 0xFF);
    --wNumBagItems;
}

/* Money is three BCD bytes, highest first. */
static uint32_t money_get(void) {
    uint32_t v = 0;
    uint8_t i;
    for (i = 0; i != 3; ++i)
        v = v * 100 + (wMoney[i] >> 4) * 10 + (wMoney[i] & 15);
    return v;
}

static void money_set(uint32_t v) {
    uint8_t i = 3, d;
    if (v > 999999) v = 999999;
    while (i--) {
        d = (uint8_t)(v % 100);
        v /= 100;
        wMoney[i] = ((d / 10) << 4) | (d % 10);
    }
}

void money_add(uint16_t amount) {
    money_set(money_get() + amount);
}

uint8_t money_pay(uint16_t amount) {
    uint32_t have = money_get();
    if (have < amount) return 0;
    money_set(have - amount);
    return 1;
}

void put_money(uint8_t x, uint8_t y) {
    uint8_t *p = wTileMap + (uint16_t)y * 20 + x;
    uint8_t i, d, started = 0;
    for (i = 0; i != 6; ++i) {
        d = wMoney[i >> 1];
        d = (i & 1) ? (d & 15) : (d >> 4);
        if (d || started || i == 5) {
            started = 1;
            *p++ = TILE('0') + d;
        } else {
            *p++ = TILE_SPACE;
        }
    }
    *p = TILE_COIN;
}

void put_hp_bar(uint8_t x, uint8_t y, uint16_t hp, uint16_t max) {
    uint8_t *p = wTileMap + (uint16_t)y * 20 + x;
    uint8_t i, pixels = 0;
    if (hp) {
        pixels = (uint8_t)((uint32_t)hp * 48 / max);
        if (!pixels) pixels = 1;
    }
    *p++ = TILE_HP1;
    for (i = 0; i != 6; ++i) {
        if (pixels >= 8) {
            *p++ = TILE_BAR8;
            pixels -= 8;
        } else {
            *p++ = TILE_BAR0 + pixels;
            pixels = 0;
        }
    }
    *p = TILE_BAR_END;
}

void put_name(uint8_t x, uint8_t y, uint8_t number) {
    char name[11];
    copy_far(SPECIES_TABLE_BANK, SPECIES_TABLE + (uint16_t)number * sizeof(Species), (uint8_t *)name, 11);
    put_string(x, y, name);
}
