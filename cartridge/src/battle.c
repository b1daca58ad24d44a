/* battle.c: the rules of battle: turns, damage, status, catching, experience. */
#include "battle.h"
#include "sound.h"
#include "menu.h"

uint8_t battle_kind, battle_species, battle_level, battle_party;

static uint8_t own_attack, own_defence, foe_attack, foe_defence;    /* stages, 6 is even */
static uint8_t own_move, foe_move;      /* move numbers; 0 none */
static uint8_t own_index;               /* which of the four, 0xFF none */
static uint8_t cursor, move_cursor;
static uint8_t over, result;

static const uint8_t stage_factor[13] = {3, 3, 4, 5, 6, 8, 10, 15, 20, 25, 30, 35, 40};  /* tenths */

static void fighter_from(Fighter *f, Monster *m, uint8_t slot) {
    f->species = m->species;
    f->slot = slot;
    f->status = m->status;
    f->type1 = m->type1;
    f->type2 = m->type2;
    f->catch_rate = m->catch_rate;
    copy(f->hp, m->hp, 2);
    copy(f->moves, m->moves, 4);
    copy(f->genes, m->genes, 2);
    f->level = m->level;
    copy(f->max_hp, m->max_hp, 10);     /* and attack, defence, speed, special */
    copy(f->pp, m->pp, 4);
}

static void set_own_hp(uint16_t v) {
    put16(wBattleMon.hp, v);
    put16(OWN->hp, v);
}

static void set_foe_hp(uint16_t v) {
    put16(wEnemyMon.hp, v);
    put16(FOE->hp, v);
}

static void send_own(uint8_t slot) {
    fighter_from(&wBattleMon, &wParty[slot], slot);
    own_attack = own_defence = 6;
    own_bar = get16(wBattleMon.hp);
    move_cursor = 0;
    name_species(0, wBattleMon.species);
    battle_say(TEXT_GO);
    own_shown = SHOW_KITH;
    battle_load_own_picture();
    battle_draw_own();
    screen_update();
    sound_species = wBattleMon.species;
    sound_effect(SOUND_CRY);
}

static void send_foe(uint8_t slot) {
    fighter_from(&wEnemyMon, &wEnemyParty[slot], slot);
    mark_seen(wEnemyMon.species);
    foe_attack = foe_defence = 6;
    foe_bar = get16(wEnemyMon.hp);
    trainer_shown = 0;
    if (battle_kind == 2) {
        copy((uint8_t *)text_name[1], (uint8_t *)party.name, 12);
        name_species(0, wEnemyMon.species);
        battle_say(TEXT_FOE_SENDS);
        battle_draw_foe();
        screen_update();
    }
    battle_load_foe_picture();
    foe_shown = 1;
    battle_draw_foe();
    screen_update();
    sound_species = wEnemyMon.species;
    sound_effect(SOUND_CRY);
}

/* ---- damage -------------------------------------------------------------- */

static uint8_t effectiveness(uint8_t attack, uint8_t type1, uint8_t type2) {
    /* tenths squared over ten: 10 is plain */
    uint16_t row = TYPE_CHART + (uint16_t)attack * TYPE_COUNT;
    uint8_t e = peek_far(TYPE_CHART_BANK, row + type1);
    if (type2 != type1) e = (uint8_t)((uint16_t)e * peek_far(TYPE_CHART_BANK, row + type2) / 10);
    return e;
}

static uint8_t special_type(uint8_t type) {
    return type == TYPE_LEAF || type == TYPE_EMBER || type == TYPE_TIDE || type == TYPE_GLOOM;
}

static uint8_t hit_effect;      /* effectiveness of the last damage() */
static uint8_t hit_perfect;

/* Damage of the loaded move. */
static uint16_t damage(Fighter *a, Fighter *d, uint8_t attack_stage, uint8_t defence_stage) {
    uint32_t v;
    uint16_t attack, defence;
    if (special_type(move.type)) {
        attack = get16(a->special);
        defence = get16(d->special);
    } else {
        attack = get16(a->attack);
        defence = get16(d->defence);
    }
    hit_perfect = random() < 14;
    if (!hit_perfect) {
        attack = attack * stage_factor[attack_stage] / 10;
        defence = defence * stage_factor[defence_stage] / 10;
    }
    if (!defence) defence = 1;
    v = (uint32_t)(a->level * 2u / 5 + 2) * move.power;
    v = v * attack / defence / 50;
    if (hit_perfect) v <<= 1;
    ++v;
    if (move.type == a->type1 || move.type == a->type2) v += v >> 1;
    hit_effect = effectiveness(move.type, d->type1, d->type2);
    v = v * hit_effect / 10;
    v = v * (217 + random_below(39)) / 255;
    if (!v) v = 1;
    return (uint16_t)v;
}

static void after_hit(void) {
    if (hit_perfect) battle_say(TEXT_CRIT);
    if (hit_effect > 10) battle_say(TEXT_STRONG);
    else if (hit_effect < 10) battle_say(TEXT_WEAK);
}

static uint8_t stage_up(uint8_t s) {
    return s < 12 ? s + 1 : s;
}

static uint8_t stage_down(uint8_t s) {
    return s ? s - 1 : s;
}

/* ---- one action ------------------------------------------------------------- */

/* Sleep: returns 1 if the fighter cannot act. */
static uint8_t held_by_sleep(Fighter *f, Monster *m) {
    if (!(f->status & STATUS_SLEEP)) return 0;
    --f->status;
    m->status = f->status;
    name_species(0, f->species);
    if (f->status & STATUS_SLEEP) {
        battle_say(TEXT_ASLEEP);
        return 1;
    }
    battle_say(TEXT_WAKES);
    return 0;
}

static void give_status(Fighter *f, Monster *m, uint8_t status, uint16_t text) {
    if (f->status) {
        battle_say(TEXT_NOTHING);
        return;
    }
    f->status = status;
    m->status = status;
    name_species(0, f->species);
    battle_foe_gauge();
    battle_own_gauge();
    battle_say(text);
}

static void own_acts(void) {
    uint16_t hp, v;
    if (held_by_sleep(&wBattleMon, OWN)) return;
    if (own_index != 0xFF && wBattleMon.pp[own_index]) {
        --wBattleMon.pp[own_index];
        OWN->pp[own_index] = wBattleMon.pp[own_index];
    }
    move_load(own_move);
    name_species(0, wBattleMon.species);
    name_move(1, own_move);
    battle_say(TEXT_USED);
    if (move.accuracy != 255 && random() > move.accuracy) {
        battle_say(TEXT_MISSED);
        return;
    }
    if (move.power) {
        v = damage(&wBattleMon, &wEnemyMon, own_attack, foe_defence);
        hp = get16(wEnemyMon.hp);
        if (v > hp) v = hp;
        battle_hit_foe();
        set_foe_hp(hp - v);
        battle_drain_foe(hp - v);
        after_hit();
        if (move.effect == EFFECT_DRAIN) {
            hp = get16(wBattleMon.hp) + (v >> 1) + 1;
            if (hp > get16(wBattleMon.max_hp)) hp = get16(wBattleMon.max_hp);
            set_own_hp(hp);
            battle_drain_own(hp);
            name_species(0, wBattleMon.species);
            battle_say(TEXT_DRAINED);
        }
        return;
    }
    switch (move.effect) {
    case EFFECT_WEAR:
        foe_attack = stage_down(foe_attack);
        name_species(0, wEnemyMon.species);
        battle_say(TEXT_ATK_DOWN);
        break;
    case EFFECT_CHIP:
        foe_defence = stage_down(foe_defence);
        name_species(0, wEnemyMon.species);
        battle_say(TEXT_DEF_DOWN);
        break;
    case EFFECT_ROUSE:
        own_attack = stage_up(own_attack);
        battle_say(TEXT_ATK_UP);
        break;
    case EFFECT_BRACE:
        own_defence = stage_up(own_defence);
        battle_say(TEXT_DEF_UP);
        break;
    case EFFECT_POISON:
        give_status(&wEnemyMon, FOE, STATUS_POISON, TEXT_POISONED);
        break;
    case EFFECT_SLEEP:
        give_status(&wEnemyMon, FOE, 2 + (random() & 3), TEXT_SLEEPS);
        break;
    case EFFECT_MEND:
        hp = get16(wBattleMon.hp) + (get16(wBattleMon.max_hp) >> 1);
        if (hp > get16(wBattleMon.max_hp)) hp = get16(wBattleMon.max_hp);
        set_own_hp(hp);
        battle_drain_own(hp);
        battle_say(TEXT_MENDED);
        break;
    }
}

static void foe_acts(void) {
    uint16_t hp, v;
    if (held_by_sleep(&wEnemyMon, FOE)) return;
    move_load(foe_move);
    name_species(0, wEnemyMon.species);
    name_move(1, foe_move);
    battle_say(TEXT_FOE_USED);
    if (move.accuracy != 255 && random() > move.accuracy) {
        battle_say(TEXT_MISSED);
        return;
    }
    if (move.power) {
        v = damage(&wEnemyMon, &wBattleMon, foe_attack, own_defence);
        hp = get16(wBattleMon.hp);
        if (v > hp) v = hp;
        battle_hit_own();
        set_own_hp(hp - v);
        battle_drain_own(hp - v);
        after_hit();
        if (move.effect == EFFECT_DRAIN) {
            hp = get16(wEnemyMon.hp) + (v >> 1) + 1;
            if (hp > get16(wEnemyMon.max_hp)) hp = get16(wEnemyMon.max_hp);
            set_foe_hp(hp);
            battle_drain_foe(hp);
        }
        return;
    }
    switch (move.effect) {
    case EFFECT_WEAR:
        own_attack = stage_down(own_attack);
        name_species(0, wBattleMon.species);
        battle_say(TEXT_ATK_DOWN);
        break;
    case EFFECT_CHIP:
        own_defence = stage_down(own_defence);
        name_species(0, wBattleMon.species);
        battle_say(TEXT_DEF_DOWN);
        break;
    case EFFECT_ROUSE:
        foe_attack = stage_up(foe_attack);
        battle_say(TEXT_ATK_UP);
        break;
    case EFFECT_BRACE:
        foe_defence = stage_up(foe_defence);
        battle_say(TEXT_DEF_UP);
        break;
    case EFFECT_POISON:
        give_status(&wBattleMon, OWN, STATUS_POISON, TEXT_POISONED);
        break;
    case EFFECT_SLEEP:
        give_status(&wBattleMon, OWN, 2 + (random() & 1), TEXT_SLEEPS);
        break;
    case EFFECT_MEND:
        hp = get16(wEnemyMon.hp) + (get16(wEnemyMon.max_hp) >> 1);
        if (hp > get16(wEnemyMon.max_hp)) hp = get16(wEnemyMon.max_hp);
        set_foe_hp(hp);
        battle_drain_foe(hp);
        battle_say(TEXT_MENDED);
        break;
    }
}

/* Poison at the end of a turn */
static void poison(void) {
    uint16_t hp, v;
    if ((wBattleMon.status & STATUS_POISON) && get16(wBattleMon.hp)) {
        v = (get16(wBattleMon.max_hp) >> 4) + 1;
        hp = get16(wBattleMon.hp);
        hp = hp > v ? hp - v : 0;
        set_own_hp(hp);
        name_species(0, wBattleMon.species);
        battle_say(TEXT_POISON_HURTS);
        battle_drain_own(hp);
    }
    if ((wEnemyMon.status & STATUS_POISON) && get16(wEnemyMon.hp)) {
        v = (get16(wEnemyMon.max_hp) >> 3) + 1;
        hp = get16(wEnemyMon.hp);
        hp = hp > v ? hp - v : 0;
        set_foe_hp(hp);
        name_species(0, wEnemyMon.species);
        battle_say(TEXT_POISON_HURTS);
        battle_drain_foe(hp);
    }
}

/* The foe's choice: trainers mostly take the strongest move, the wild any. */
static void foe_chooses(void) {
    uint8_t i, n = 0, best = 0;
    uint16_t score, top = 0;
    for (i = 0; i != 4 && wEnemyMon.moves[i]; ++i) ++n;
    foe_move = wEnemyMon.moves[random_below(n)];
    if (battle_kind == 2 && random() < 200) {
        for (i = 0; i != n; ++i) {
            move_load(wEnemyMon.moves[i]);
            score = (uint16_t)move.power * effectiveness(move.type, wBattleMon.type1, wBattleMon.type2);
            if (score > top) {
                top = score;
                best = wEnemyMon.moves[i];
            }
        }
        if (best) foe_move = best;
    }
}

/* ---- experience ----------------------------------------------------------------- */

static void learn(Monster *m, uint8_t number) {
    uint8_t i, n, choice;
    for (n = 0; n != 4 && m->moves[n]; ++n)
        if (m->moves[n] == number) return;
    name_species(0, m->species);
    name_move(1, number);
    if (n == 4) {
        say(TEXT_LEARN_FULL);
        draw_box(5, 6, 15, 6);
        for (i = 0; i != 4; ++i) {
            move_load(m->moves[i]);
            put_string(7, 7 + i, move.name);
        }
        choice = menu_choose(6, 7, 4, 1, 0);
        battle_draw_foe();
        battle_draw_own();
        if (choice == MENU_CANCEL) {
            battle_say(TEXT_LEARN_NOT);
            return;
        }
        n = choice;
    }
    move_load(number);
    m->moves[n] = number;
    m->pp[n] = move.pp;
    sound_effect(SOUND_GET);
    battle_say(TEXT_LEARNED);
}

static void experience(void) {
    Monster *m = OWN;
    uint32_t have, gain;
    uint8_t i;
    if (!get16(m->hp) || m->level >= 100) return;
    species_load(wEnemyMon.species);
    gain = (uint16_t)species.exp * wEnemyMon.level / 4;
    if (battle_kind == 2) gain += gain >> 1;
    if (!gain) gain = 1;
    text_number = (uint16_t)gain;
    name_species(0, m->species);
    battle_say(TEXT_GAIN);
    have = monster_exp(m) + gain;
    monster_exp_set(m, have);
    while (m->level < 100 && have >= exp_for_level(m->level + 1)) {
        ++m->level;
        monster_stats(m);
        fighter_from(&wBattleMon, m, wBattleMon.slot);
        own_bar = get16(wBattleMon.hp);
        battle_own_gauge();
        screen_update();
        text_number = m->level;
        name_species(0, m->species);
        sound_effect(SOUND_LEVEL);
        battle_say(TEXT_LEVEL);
        for (i = 0; i != 8; ++i) {
            uint8_t k;
            species_load(m->species);
            k = species.learns[i].move;
            if (k && species.learns[i].level == m->level) learn(m, k);
        }
        copy(wBattleMon.moves, m->moves, 4);
        copy(wBattleMon.pp, m->pp, 4);
    }
}

/* After a battle: kith that have reached their level change their form. */
static void grow(void) {
    uint8_t slot, i, to;
    for (slot = 0; slot != wPartyCount; ++slot) {
        Monster *m = &wParty[slot];
        species_load(m->species);
        to = species.grow_to;
        if (!to || m->level < species.grow_level || !get16(m->hp)) continue;
        foe_shown = 0;
        own_shown = 0;
        fill(wTileMap, 360, TILE_SPACE);
        draw_box(0, 12, 20, 6);
        vram_copy_far(species.front_bank, species.front, 0x9000, 49 * 16);
        wEnemyMon.species = m->species;
        foe_shown = 1;
        battle_draw_foe();
        fill(wTileMap, 80, TILE_SPACE);
        screen_update();
        name_species(0, m->species);
        battle_say(TEXT_GROWS);
        hLcdMode = 1;
        for (i = 0; i != 6; ++i) {
            rBGP = (i & 1) ? 0xE4 : 0x1B;
            sound_effect(SOUND_CURSOR);
            wait_frames(8);
        }
        rBGP = 0xE4;
        hLcdMode = 0;
        m->species = to;
        monster_stats(m);
        party_species_update();
        mark_owned(to);
        species_load(to);
        vram_copy_far(species.front_bank, species.front, 0x9000, 49 * 16);
        name_species(1, to);
        sound_effect(SOUND_LEVEL);
        battle_say(TEXT_GREW);
    }
}

/* ---- catching ---------------------------------------------------------------------- */

static void throw_lamp(uint8_t number) {
    uint16_t max = get16(wEnemyMon.max_hp), hp = get16(wEnemyMon.hp);
    uint16_t chance;
    uint8_t i;
    name_item(1, number);
    if (battle_kind == 2) {
        battle_say(TEXT_NO_CATCH);
        return;
    }
    bag_remove(number);
    sound_effect(SOUND_THROW);
    battle_say(TEXT_THROW);
    item_load(number);
    /* rate * (3 max - 2 hp) / (3 max), times the lamp, more when asleep or poisoned */
    chance = (uint16_t)((uint32_t)wEnemyMon.catch_rate * (3 * max - 2 * hp) / (3 * max));
    chance = chance * item.value / 12;
    if (wEnemyMon.status) chance += chance >> 1;
    foe_shown = 0;
    battle_draw_foe();
    foe_shown = 1;
    battle_foe_gauge();
    for (i = 0; i != 3; ++i) {
        wTileMap[5 * 20 + 15] = (i & 1) ? TILE_SPACE : TILE_LAMP;
        screen_update();
        wait_frames(8);
    }
    wTileMap[5 * 20 + 15] = TILE_LAMP;
    screen_update();
    name_species(0, wEnemyMon.species);
    if (chance > 255 || random() < (uint8_t)chance) {
        sound_effect(SOUND_GET);
        battle_say(TEXT_CAUGHT);
        i = monster_take(FOE);
        if (i == 1) battle_say(TEXT_CAUGHT_BOX);
        else if (i == 2) battle_say(TEXT_NO_ROOM);
        over = 1;
        result = RESULT_CAUGHT;
        return;
    }
    battle_draw_foe();
    screen_update();
    battle_say(TEXT_BROKE_OUT);
}

/* ---- the player's choice --------------------------------------------------------------- */

static const char fight_text[] = "FIGHT";
static const char swap_text[] = "SWAP";
static const char item_text[] = "ITEM";
static const char run_text[] = "RUN";
static const char pp_text[] = "LEFT";

/* Returns 0 back, 1 chosen (own_move set) */
static uint8_t choose_move(void) {
    uint8_t i, n = 0, any = 0, pressed;
    char name[8];
    for (i = 0; i != 4 && wBattleMon.moves[i]; ++i) {
        ++n;
        if (wBattleMon.pp[i]) any = 1;
    }
    if (!any) {
        own_index = 0xFF;
        own_move = MOVE_FLAIL;
        return 1;
    }
    if (move_cursor >= n) move_cursor = 0;
    while (!wBattleMon.pp[move_cursor]) move_cursor = move_cursor + 1 == n ? 0 : move_cursor + 1;
    draw_box(6, 12, 14, 6);
    draw_box(0, 12, 7, 6);
    for (i = 0; i != n; ++i) {
        move_load(wBattleMon.moves[i]);
        put_string(8, 13 + i, move.name);
    }
    for (;;) {
        move_load(wBattleMon.moves[move_cursor]);
        copy_far(TYPE_NAMES_BANK, TYPE_NAMES + ((uint16_t)move.type << 3), (uint8_t *)name, 8);
        for (i = 1; i != 6; ++i) wTileMap[13 * 20 + i] = TILE_SPACE;
        put_string(1, 13, name);
        put_string(1, 15, pp_text);
        put_number(2, 16, wBattleMon.pp[move_cursor], 2);
        wTileMap[(13 + move_cursor) * 20 + 7] = TILE_CURSOR;
        screen_update();
        do {
            wait_frame();
            pressed = take_pressed() & (PAD_A | PAD_B | PAD_UP | PAD_DOWN);
        } while (!pressed);
        sound_effect(SOUND_CURSOR);
        wTileMap[(13 + move_cursor) * 20 + 7] = TILE_SPACE;
        if (pressed & PAD_A) {
            if (wBattleMon.pp[move_cursor]) break;
            battle_say(TEXT_NO_PP);
            return 0;
        }
        if (pressed & PAD_B) return 0;
        if (pressed & PAD_UP) move_cursor = move_cursor ? move_cursor - 1 : n - 1;
        else move_cursor = move_cursor + 1 == n ? 0 : move_cursor + 1;
    }
    own_index = move_cursor;
    own_move = wBattleMon.moves[move_cursor];
    return 1;
}

static uint8_t choose_slot(void) {
    uint8_t slot = FAR(BANK_MENU, party_choose);
    battle_screen_draw();
    return slot;
}

/* A turn's decision. Returns 1 when the own kith acts by own_move, 2 when the
 * turn was used otherwise. */
static uint8_t choose(void) {
    uint8_t pressed, slot;
    for (;;) {
        draw_box(0, 12, 20, 6);
        draw_box(7, 12, 13, 6);
        put_string(9, 14, fight_text);
        put_string(15, 14, swap_text);
        put_string(9, 16, item_text);
        put_string(15, 16, run_text);
        for (;;) {
            uint8_t *mark = wTileMap + (14 + (cursor & 2)) * 20 + ((cursor & 1) ? 14 : 8);
            *mark = TILE_CURSOR;
            screen_update();
            do {
                wait_frame();
                pressed = take_pressed() & (PAD_A | PAD_UP | PAD_DOWN | PAD_LEFT | PAD_RIGHT);
            } while (!pressed);
            sound_effect(SOUND_CURSOR);
            if (pressed & PAD_A) break;
            *mark = TILE_SPACE;
            if (pressed & PAD_UP) cursor &= 1;
            if (pressed & PAD_DOWN) cursor |= 2;
            if (pressed & PAD_LEFT) cursor &= 2;
            if (pressed & PAD_RIGHT) cursor |= 1;
        }
        if (cursor == 0) {
            if (choose_move()) return 1;
        } else if (cursor == 1) {
            slot = choose_slot();
            cursor = 0;
            if (slot == 0xFF) continue;
            name_species(0, wParty[slot].species);
            if (!get16(wParty[slot].hp)) {
                battle_say(TEXT_FAINTED_NO);
                continue;
            }
            if (slot == wBattleMon.slot) {
                battle_say(TEXT_ALREADY_OUT);
                continue;
            }
            name_species(0, wBattleMon.species);
            battle_say(TEXT_BACK);
            own_shown = 0;
            battle_draw_own();
            send_own(slot);
            return 2;
        } else if (cursor == 2) {
            uint8_t number = FAR(BANK_MENU, bag_choose);
            cursor = 0;
            if (!number) {
                battle_screen_draw();
                continue;
            }
            item_load(number);
            if (item.kind == ITEMKIND_LAMP) {
                battle_screen_draw();
                throw_lamp(number);
                return 2;
            }
            menu_item = number;
            slot = FAR(BANK_MENU, item_use);
            fighter_from(&wBattleMon, OWN, wBattleMon.slot);
            own_bar = get16(wBattleMon.hp);
            battle_screen_draw();
            if (slot) return 2;
        } else {
            cursor = 0;
            if (battle_kind == 2) {
                battle_say(TEXT_RAN_TRAINER);
                continue;
            }
            if (get16(wBattleMon.speed) >= get16(wEnemyMon.speed) || random() < 140) {
                battle_say(TEXT_RAN);
                over = 1;
                result = RESULT_RAN;
            } else {
                battle_say(TEXT_RAN_NOT);
            }
            return 2;
        }
    }
}

/* ---- fainting -------------------------------------------------------------------------- */

/* Returns 1 if a fighter fell, so that the turn ends. */
static uint8_t check_fallen(void) {
    uint8_t fell = 0, slot, i;
    if (!get16(wEnemyMon.hp)) {
        fell = 1;
        battle_drop_foe();
        name_species(0, wEnemyMon.species);
        battle_say(TEXT_FOE_FAINTED);
        experience();
        slot = wEnemyMon.slot + 1;
        if (battle_kind == 1 || slot == wEnemyPartyCount) {
            over = 1;
            result = RESULT_WON;
        } else if (get16(wBattleMon.hp)) {
            send_foe(slot);
        }
    }
    if (!get16(wBattleMon.hp)) {
        fell = 1;
        battle_drop_own();
        name_species(0, wBattleMon.species);
        battle_say(TEXT_FAINTED);
        if (over) return 1;
        if (party_alive() == 0xFF) {
            over = 1;
            result = RESULT_LOST;
            return 1;
        }
        slot = wEnemyMon.slot + 1;
        for (;;) {
            i = choose_slot();
            if (i != 0xFF && get16(wParty[i].hp)) break;
        }
        send_own(i);
        if (!get16(wEnemyMon.hp)) send_foe(slot);
    }
    return fell;
}

static void turn(void) {
    uint8_t action = choose(), own_first;
    if (over) return;
    foe_chooses();
    draw_box(0, 12, 20, 6);
    if (action == 2) {
        foe_acts();
        if (check_fallen()) return;
    } else {
        own_first = get16(wBattleMon.speed) > get16(wEnemyMon.speed)
            || (get16(wBattleMon.speed) == get16(wEnemyMon.speed) && (random() & 1));
        if (own_first) own_acts();
        else foe_acts();
        if (check_fallen()) return;
        if (own_first) foe_acts();
        else own_acts();
        if (check_fallen()) return;
    }
    poison();
    check_fallen();
}

uint8_t battle_run(void) {
    uint8_t i;
    uint8_t music = music_current;
    wIsInBattle = battle_kind;
    over = 0;
    cursor = 0;
    foe_shown = trainer_shown = 0;
    own_shown = SHOW_HERO;
    music_play(battle_kind == 2 ? MUSIC_DUEL : MUSIC_BATTLE);
    /* the world bends and darkens */
    hLcdMode = 1;
    for (i = 0; i != 24; ++i) {
        if ((i & 7) == 0) rBGP = (i & 8) ? 0xE4 : 0xF9;
        wait_frame();
    }
    rBGP = 0xFF;
    rOBP0 = 0xFF;
    rOBP1 = 0xFF;
    hLcdMode = 0;
    wait_frames(2);
    if (battle_kind == 2) {
        party_load(battle_party);
        wEnemyPartyCount = party.count;
        for (i = 0; i != party.count; ++i) {
            wEnemyPartySpecies[i] = party.members[i].species;
            monster_make(&wEnemyParty[i], party.members[i].species, party.members[i].level);
        }
        wEnemyPartySpecies[i] = 0xFF;
        trainer_shown = 1;
        wEnemyMon.species = 0;
    } else {
        wEnemyPartyCount = 1;
        wEnemyPartySpecies[0] = battle_species;
        wEnemyPartySpecies[1] = 0xFF;
        monster_make(&wEnemyParty[0], battle_species, battle_level);
        fighter_from(&wEnemyMon, &wEnemyParty[0], 0);
    }
    battle_screen_open();
    rBGP = 0xE4;
    if (battle_kind == 2) {
        copy((uint8_t *)text_name[1], (uint8_t *)party.name, 12);
        battle_screen_draw();
        battle_say(TEXT_FOE_WANTS);
        send_foe(0);
    } else {
        foe_shown = 1;
        mark_seen(battle_species);
        foe_attack = foe_defence = 6;
        foe_bar = get16(wEnemyMon.hp);
        battle_screen_draw();
        sound_species = battle_species;
        sound_effect(SOUND_CRY);
        name_species(0, battle_species);
        battle_say(TEXT_WILD);
    }
    send_own(party_alive());
    while (!over) turn();
    if (result == RESULT_WON && battle_kind == 2) {
        copy((uint8_t *)text_name[1], (uint8_t *)party.name, 12);
        battle_say(TEXT_WON);
        text_number = party.reward;
        money_add(party.reward);
        battle_say(TEXT_PRIZE);
    }
    if (result == RESULT_LOST) {
        battle_say(TEXT_LOST);
        wIsInBattle = 0xFF;
        battle_say(TEXT_BLACKOUT);
    } else {
        grow();
    }
    fade_out();
    music_play(music);
    if (result != RESULT_LOST) wIsInBattle = 0;
    return result;
}
