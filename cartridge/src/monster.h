/* monster.h: tables of kith, moves and items; party, box, bag and money. */
#ifndef MONSTER_H
#define MONSTER_H

#include "core.h"

typedef struct {
    char name[11];
    uint8_t type1, type2, hp, attack, defence, speed, special, catch_rate, exp;
    uint8_t grow_to, grow_level;
    uint8_t front_bank; uint16_t front;
    uint8_t back_bank; uint16_t back;
    struct { uint8_t move, level; } learns[8];
} Species;

typedef struct {
    char name[11];
    uint8_t type, power, accuracy, pp, effect;
} Move;

typedef struct {
    char name[13];
    uint16_t price;
    uint8_t kind, value;
} Item;

typedef struct {
    char name[12];
    uint16_t reward;
    uint8_t picture, count;
    struct { uint8_t species, level; } members[6];
} Party;

#define STATUS_SLEEP 0x07       /* turns left */
#define STATUS_POISON 0x08

/* One entry of each table, loaded on demand */
extern Species species;
extern Move move;
extern Item item;
extern Party party;

void species_load(uint8_t number);
void move_load(uint8_t number);
void item_load(uint8_t number);
void party_load(uint8_t number);
void name_species(uint8_t which, uint8_t number);   /* into text_name[which] */
void name_move(uint8_t which, uint8_t number);
void name_item(uint8_t which, uint8_t number);

void monster_make(Monster *m, uint8_t number, uint8_t level);
void monster_stats(Monster *m);     /* computes the stats; keeps lost hit points lost */
void monster_heal(Monster *m);
uint32_t exp_for_level(uint8_t level);
uint32_t monster_exp(Monster *m);
void monster_exp_set(Monster *m, uint32_t v);
uint8_t monster_take(Monster *m);   /* to the party or the box: 0 party, 1 box, 2 no room */
void party_species_update(void);
void party_heal(void);
uint8_t party_alive(void);          /* first slot that can fight, 0xFF if none */
void mark_seen(uint8_t number);
void mark_owned(uint8_t number);

uint8_t bag_add(uint8_t number, uint8_t count);
void bag_remove(uint8_t number);
uint8_t bag_count(uint8_t number);
void money_add(uint16_t amount);
uint8_t money_pay(uint16_t amount); /* 0 if there is not enough */
void put_money(uint8_t x, uint8_t y);
void put_hp_bar(uint8_t x, uint8_t y, uint16_t hp, uint16_t max);
void put_name(uint8_t x, uint8_t y, uint8_t number);

#endif
