/* menu.c: start menu, party, bag, card, shop, lamp shelf. */
#include "menu.h"
#include "sound.h"
#include "world.h"

uint8_t menu_item, menu_shop, menu_redraw, hush_steps;

static const char empty[] = "NOTHING YET";
static const char t_party[] = "KITH";
static const char t_bag[] = "BAG";
static const char t_card[] = "WREN";
static const char t_save[] = "SAVE";
static const char t_close[] = "CLOSE";
static const char t_choose[] = "Choose a kith.";
static const char t_stats[] = "LOOK";
static const char t_move[] = "FRONT";
static const char t_back[] = "BACK";
static const char t_use[] = "USE";
static const char t_drop[] = "TOSS";
static const char t_seals[] = "SEALS";
static const char t_time[] = "TIME";
static const char t_seen[] = "SEEN";
static const char t_owned[] = "LAMPS";
static const char t_coins[] = "COINS";
static const char t_attack[] = "ATTACK";
static const char t_defence[] = "DEFENCE";
static const char t_speed[] = "SPEED";
static const char t_special[] = "SPECIAL";
static const char t_exp[] = "NEXT";
static const char t_take[] = "TAKE";
static const char t_put[] = "LEAVE";
static const char t_leave[] = "BYE";

static uint8_t *at(uint8_t x, uint8_t y) {
    return wTileMap + (uint16_t)y * 20 + x;
}

/* Until A, B or Start */
static void wait_close(void) {
    uint8_t pressed;
    take_pressed();
    do {
        wait_frame();
        pressed = take_pressed() & (PAD_A | PAD_B | PAD_START);
    } while (!pressed);
    menu_quit = pressed & PAD_START;
}

static void clear(void) {
    fill(wTileMap, 360, TILE_SPACE);
}

/* ---- party -------------------------------------------------------------------- */

static void party_entry(Monster *m, uint8_t y) {
    put_name(2, y, m->species);
    *at(11, y) = TILE_LV;
    put_number(12, y, m->level, 2);
    if (!get16(m->hp)) *at(15, y) = TILE('X');
    else if (m->status & STATUS_POISON) *at(15, y) = TILE('P');
    else if (m->status) *at(15, y) = TILE('Z');
    put_hp_bar(2, y + 1, get16(m->hp), get16(m->max_hp));
    put_number(12, y + 1, get16(m->hp), 3);
    *at(15, y + 1) = TILE('/');
    put_number(16, y + 1, get16(m->max_hp), 3);
}

static void party_draw(void) {
    uint8_t i;
    clear();
    for (i = 0; i != wPartyCount; ++i) party_entry(&wParty[i], i << 1);
    draw_box(0, 14, 20, 4);
    put_string(1, 15, t_choose);
}

uint8_t party_choose(void) {
    if (!wPartyCount) return 0xFF;
    party_draw();
    return menu_choose(1, 0, wPartyCount, 2, 0);
}

static void stat_line(uint8_t y, const char *name, uint8_t *value) {
    put_string(1, y, name);
    put_number(6, y + 1, get16(value), 3);
}

static void show_stats(uint8_t slot) {
    Monster *m = &wParty[slot];
    uint8_t i, j;
    char name[8];
    species_load(m->species);
    vram_copy_far(species.front_bank, species.front, 0x9000, 49 * 16);
    menu_redraw = 1;
    clear();
    draw_box(0, 8, 11, 10);
    for (i = 0; i != 7; ++i)
        for (j = 0; j != 7; ++j) *at(1 + j, i) = i * 7 + j;
    put_name(9, 1, m->species);
    *at(9, 2) = TILE_LV;
    put_number(10, 2, m->level, 2);
    copy_far(TYPE_NAMES_BANK, TYPE_NAMES + ((uint16_t)m->type1 << 3), (uint8_t *)name, 8);
    put_string(9, 4, name);
    if (m->type2 != m->type1) {
        copy_far(TYPE_NAMES_BANK, TYPE_NAMES + ((uint16_t)m->type2 << 3), (uint8_t *)name, 8);
        put_string(9, 5, name);
    }
    put_hp_bar(9, 6, get16(m->hp), get16(m->max_hp));
    put_number(10, 7, get16(m->hp), 3);
    *at(13, 7) = TILE('/');
    put_number(14, 7, get16(m->max_hp), 3);
    stat_line(9, t_attack, m->attack);
    stat_line(11, t_defence, m->defence);
    stat_line(13, t_speed, m->speed);
    stat_line(15, t_special, m->special);
    for (i = 0; i != 4 && m->moves[i]; ++i) {
        move_load(m->moves[i]);
        put_string(11, 9 + (i << 1), move.name);
        put_number(17, 10 + (i << 1), m->pp[i], 2);
    }
    if (m->level < 100) {
        put_string(11, 17, t_exp);
        put_number(16, 17, (uint16_t)(exp_for_level(m->level + 1) - monster_exp(m)), 4);
    }
    screen_update();
    wait_close();
}

static void party_menu(void) {
    uint8_t slot, choice;
    for (;;) {
        slot = party_choose();
        if (slot == 0xFF) return;
        draw_box(12, 11, 8, 7);
        put_string(14, 12, t_stats);
        put_string(14, 14, t_move);
        put_string(14, 16, t_back);
        choice = menu_choose(13, 12, 3, 2, 0);
        if (menu_quit) return;
        if (choice == 0) {
            show_stats(slot);
            if (menu_quit) return;
        } else if (choice == 1 && slot) {
            Monster other;
            copy((uint8_t *)&other, (uint8_t *)&wParty[0], sizeof(Monster));
            copy((uint8_t *)&wParty[0], (uint8_t *)&wParty[slot], sizeof(Monster));
            copy((uint8_t *)&wParty[slot], (uint8_t *)&other, sizeof(Monster));
            party_species_update();
        }
    }
}

/* ---- bag ------------------------------------------------------------------------- */

static uint8_t bag_top, bag_cursor;

uint8_t bag_choose(void) {
    uint8_t i, n, pressed;
    if (!wNumBagItems) {
        draw_box(3, 2, 17, 10);
        put_string(5, 4, empty);
        screen_update();
        wait_close();
        return 0;
    }
    bag_top = bag_cursor = 0;
    for (;;) {
        draw_box(3, 2, 17, 10);
        n = wNumBagItems - bag_top;
        if (n > 4) {
            n = 4;
            *at(18, 10) = TILE_MORE;
        }
        for (i = 0; i != n; ++i) {
            uint8_t *entry = wBagItems + ((bag_top + i) << 1);
            item_load(entry[0]);
            put_string(5, 3 + (i << 1), item.name);
            *at(16, 3 + (i << 1)) = TILE('x');
            put_number(17, 3 + (i << 1), entry[1], 2);
        }
        *at(4, 3 + (bag_cursor << 1)) = TILE_CURSOR;
        screen_update();
        do {
            wait_frame();
            pressed = take_pressed() & (PAD_A | PAD_B | PAD_START | PAD_UP | PAD_DOWN);
        } while (!pressed);
        sound_effect(SOUND_CURSOR);
        if (pressed & PAD_A) return wBagItems[(bag_top + bag_cursor) << 1];
        if (pressed & (PAD_B | PAD_START)) {
            menu_quit = pressed & PAD_START;
            return 0;
        }
        if (pressed & PAD_UP) {
            if (bag_cursor) --bag_cursor;
            else if (bag_top) --bag_top;
        } else if (bag_top + bag_cursor + 1 < wNumBagItems) {
            if (bag_cursor < 3) ++bag_cursor;
            else ++bag_top;
        }
    }
}

uint8_t item_use(void) {
    uint8_t slot;
    Monster *m;
    uint16_t hp, max;
    item_load(menu_item);
    if (item.kind == ITEMKIND_HUSH && !wIsInBattle) {
        hush_steps = item.value;
        bag_remove(menu_item);
        say(TEXT_HUSH_ON);
        return 1;
    }
    if (item.kind != ITEMKIND_HEAL && item.kind != ITEMKIND_CURE && item.kind != ITEMKIND_SPARK) {
        say(TEXT_NO_USE);
        return 0;
    }
    slot = party_choose();
    if (slot == 0xFF) return 0;
    m = &wParty[slot];
    hp = get16(m->hp);
    max = get16(m->max_hp);
    item_load(menu_item);
    name_species(0, m->species);
    if (item.kind == ITEMKIND_HEAL && hp && hp != max) {
        hp = item.value == 255 ? max : hp + item.value;
        if (hp > max) hp = max;
        put16(m->hp, hp);
    } else if (item.kind == ITEMKIND_CURE && m->status) {
        m->status = 0;
    } else if (item.kind == ITEMKIND_SPARK && !hp) {
        put16(m->hp, max >> 1);
        m->status = 0;
    } else {
        say(TEXT_NO_EFFECT);
        return 0;
    }
    bag_remove(menu_item);
    sound_effect(SOUND_HEAL);
    party_draw();
    say(TEXT_HEALED);
    return 1;
}

static void bag_menu(void) {
    uint8_t choice;
    for (;;) {
        menu_item = bag_choose();
        if (!menu_item) return;
        draw_box(12, 11, 8, 7);
        put_string(14, 12, t_use);
        put_string(14, 14, t_drop);
        put_string(14, 16, t_back);
        choice = menu_choose(13, 12, 3, 2, 0);
        if (menu_quit) return;
        if (choice == 0) {
            item_use();
            FAR(BANK_WORLD, view_draw);
        } else if (choice == 1) {
            item_load(menu_item);
            if (item.kind == ITEMKIND_KEY) say(TEXT_NO_USE);
            else bag_remove(menu_item);
        }
    }
}

/* ---- the card ------------------------------------------------------------------------ */

static uint8_t count_bits(const uint8_t *p, uint8_t n) {
    uint8_t total = 0, v;
    do {
        for (v = *p++; v; v >>= 1) total += v & 1;
    } while (--n);
    return total;
}

static void card(void) {
    uint8_t i;
    clear();
    draw_box(0, 0, 20, 18);
    put_string(2, 2, t_card);
    put_string(2, 4, t_coins);
    put_money(9, 4);
    put_string(2, 6, t_time);
    put_number(9, 6, wPlayTimeHours, 3);
    *at(12, 6) = TILE(':');
    put_number(13, 6, wPlayTimeMinutes, 2);
    if (wPlayTimeMinutes < 10) *at(13, 6) = TILE('0');
    put_string(2, 8, t_seen);
    put_number(9, 8, count_bits(wSeen, 19), 3);
    put_string(2, 10, t_owned);
    put_number(9, 10, count_bits(wOwned, 19), 3);
    put_string(2, 12, t_seals);
    for (i = 0; i != 8; ++i) {
        *at(2 + (i << 1), 14) = (wBadges >> i & 1) ? TILE_SEAL : TILE('.');
        *at(2 + (i << 1), 15) = TILE('1') + i;
    }
    screen_update();
    wait_close();
}

/* ---- start menu ------------------------------------------------------------------------- */

void start_menu(void) {
    uint8_t choice = 0;
    sound_effect(SOUND_ACCEPT);
    menu_quit = 0;
    for (;;) {
        draw_box(11, 0, 9, 12);
        put_string(13, 1, t_party);
        put_string(13, 3, t_bag);
        put_string(13, 5, t_card);
        put_string(13, 7, t_save);
        put_string(13, 9, t_close);
        choice = menu_choose(12, 1, 5, 2, choice);
        if (choice == MENU_CANCEL || choice == 4) return;
        if (choice == 0) party_menu();
        else if (choice == 1) bag_menu();
        else if (choice == 2) card();
        else {
            say_open(TEXT_SAVE_ASK);
            if (ask_yes_no()) {
                save_write();
                sound_effect(SOUND_GET);
                say(TEXT_SAVED);
            }
            return;
        }
        if (menu_redraw || menu_quit) return;
        FAR(BANK_WORLD, view_draw);
    }
}

/* ---- shop ----------------------------------------------------------------------------------- */

void shop_run(void) {
    uint8_t stock[8];
    uint8_t i, choice = 0;
    say(TEXT_SHOP_HELLO);
    copy_far(SHOP_TABLE_BANK, SHOP_TABLE + ((uint16_t)menu_shop << 3), stock, 8);
    for (;;) {
        draw_box(0, 0, 10, 3);
        put_money(1, 1);
        draw_box(2, 3, 18, 9);
        for (i = 0; i != stock[0]; ++i) {
            item_load(stock[1 + i]);
            put_string(4, 4 + i, item.name);
            put_number(15, 4 + i, item.price, 4);
        }
        choice = menu_choose(3, 4, stock[0], 1, choice);
        if (choice == MENU_CANCEL) break;
        item_load(stock[1 + choice]);
        if (bag_count(stock[1 + choice]) >= 99) {
            say(TEXT_BAG_FULL);
        } else if (!money_pay(item.price)) {
            say(TEXT_SHOP_POOR);
        } else if (!bag_add(stock[1 + choice], 1)) {
            money_add(item.price);
            say(TEXT_BAG_FULL);
        } else {
            sound_effect(SOUND_GET);
        }
    }
    say(TEXT_SHOP_BYE);
}

/* ---- the lamp shelf ---------------------------------------------------------------------------- */

static void box_remove(uint8_t i) {
    --wBoxCount;
    for (; i != wBoxCount; ++i)
        copy((uint8_t *)&wBox[i], (uint8_t *)&wBox[i + 1], sizeof(Monster));
}

static void box_take(void) {
    uint8_t i, top = 0, choice, n;
    if (!wBoxCount) {
        say(TEXT_PC_EMPTY);
        return;
    }
    if (wPartyCount == 6) {
        say(TEXT_FULL_PARTY);
        return;
    }
    for (;;) {                  /* eight to a page; the ninth line turns the page */
        clear();
        n = wBoxCount - top;
        if (n > 8) n = 8;
        for (i = 0; i != n; ++i) {
            put_name(2, i << 1, wBox[top + i].species);
            *at(13, i << 1) = TILE_LV;
            put_number(14, i << 1, wBox[top + i].level, 2);
        }
        *at(2, 16) = TILE_MORE;
        choice = menu_choose(1, 0, n + (n == 8), 2, 0);
        if (choice == MENU_CANCEL) return;
        if (choice != 8) break;
        top = top ? 0 : 8;
        if (top >= wBoxCount) top = 0;
    }
    i = top + choice;
    name_species(0, wBox[i].species);
    copy((uint8_t *)&wParty[wPartyCount], (uint8_t *)&wBox[i], sizeof(Monster));
    ++wPartyCount;
    party_species_update();
    box_remove(i);
    say(TEXT_PC_TOOK);
}

static void box_put(void) {
    uint8_t i, slot;
    if (wPartyCount == 1) {
        say(TEXT_PC_LAST);
        return;
    }
    if (wBoxCount == 16) {
        say(TEXT_PC_FULL);
        return;
    }
    slot = party_choose();
    if (slot == 0xFF) return;
    name_species(0, wParty[slot].species);
    monster_heal(&wParty[slot]);
    copy((uint8_t *)&wBox[wBoxCount], (uint8_t *)&wParty[slot], sizeof(Monster));
    ++wBoxCount;
    --wPartyCount;
    for (i = slot; i != wPartyCount; ++i)
        copy((uint8_t *)&wParty[i], (uint8_t *)&wParty[i + 1], sizeof(Monster));
    party_species_update();
    say(TEXT_PC_PUT);
}

void box_run(void) {
    uint8_t choice;
    say(TEXT_PC_HELLO);
    for (;;) {
        clear();
        draw_box(0, 0, 9, 8);
        put_string(2, 1, t_take);
        put_string(2, 3, t_put);
        put_string(2, 5, t_leave);
        choice = menu_choose(1, 1, 3, 2, 0);
        if (choice == 0) box_take();
        else if (choice == 1) box_put();
        else return;
    }
}
