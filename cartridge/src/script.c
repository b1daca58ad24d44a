/* script.c: what happens when the hero acts on a person, a thing or a sign, and
 * what follows from battles in the world. */
#include "world.h"
#include "objects.h"
#include "battle.h"
#include "menu.h"
#include "sound.h"

static const uint8_t opposite[4] = {UP, DOWN, RIGHT, LEFT};

static const char seal_names[8][8] = {
    "MEADOW", "RIPPLE", "CRAG", "BREEZE", "KILN", "BRIAR", "DUSK", "CROWN",
};

/* Runs the prepared battle and comes back to the map. Returns 1 if won (or
 * caught, or got away), 0 after a defeat, when the hero is elsewhere. */
static uint8_t fight(void) {
    uint8_t r = FAR(BANK_BATTLE, battle_run);
    if (r == RESULT_LOST) {
        party_heal();
        wCurMap = wLastBlackoutMap;
        wXCoord = wLastBlackoutX;
        wYCoord = wLastBlackoutY;
        wFacing = DOWN;
        wIsInBattle = 0;
        world_warp = 1;
        return 0;
    }
    world_redraw();
    fade_in();
    take_pressed();
    return 1;
}

void wild_encounter(void) {
    uint8_t slot[3];
    uint16_t area = ENCOUNTER_TABLE + (uint16_t)map.encounters * 49;
    if (!wPartyCount) return;
    if (hush_steps) {
        if (--hush_steps == 0) {
            say(TEXT_HUSH_OFF);
            ui_close();
        }
        return;
    }
    if (random() >= peek_far(ENCOUNTER_TABLE_BANK, area)) return;
    copy_far(ENCOUNTER_TABLE_BANK, area + 1 + (random() & 15) * 3u, slot, 3);
    battle_kind = 1;
    battle_species = slot[0];
    battle_level = slot[1] + random_below(slot[2] - slot[1] + 1);
    fight();
}

static void duel(Person *p) {
    say(p->text);
    ui_close();
    battle_kind = 2;
    battle_party = p->arg;
    if (!fight()) return;
    flag_set(p->flag);
    if (p->kind == KIND_LEADER) {
        if (p->arg2 < 8) {
            wBadges |= 1 << p->arg2;
            copy((uint8_t *)text_name[1], (const uint8_t *)seal_names[p->arg2], 8);
            sound_effect(SOUND_LEVEL);
            say(TEXT_BADGE);
        }
        say(p->text2);
        ui_close();
        if (p->arg2 == 8) {
            party_heal();
            FAR(BANK_MENU, credits_run);
            world_leave = 1;
        }
    }
    objects_update();
}

static void get_item(uint8_t number, uint8_t count, uint16_t flag) {
    name_item(1, number);
    if (!bag_add(number, count)) {
        say(TEXT_BAG_FULL);
        return;
    }
    flag_set(flag);
    sound_effect(SOUND_GET);
    say(TEXT_GOT);
}

static void heal(Person *p) {
    uint8_t i;
    say_open(TEXT_HEAL_ASK);
    if (!ask_yes_no()) {
        say(TEXT_HEAL_NO);
        return;
    }
    flag_set(p->flag);
    party_heal();
    sound_effect(SOUND_HEAL);
    for (i = 0; i != 4; ++i) {
        rBGP = (i & 1) ? 0xE4 : 0x90;
        wait_frames(6);
    }
    view_draw();
    say(TEXT_HEAL_DONE);
}

static void starter(Person *p) {
    Monster m;
    if (wPartyCount) {
        say(TEXT_STARTER_LEFT);
        return;
    }
    name_species(0, p->arg2);
    say_open(TEXT_STARTER_ASK);
    if (!ask_yes_no()) return;
    monster_make(&m, p->arg2, 7);
    monster_take(&m);
    flag_set(p->flag);
    flag_set(FLAG_GOT_STARTER);
    sound_effect(SOUND_LEVEL);
    name_species(0, p->arg2);
    view_draw();
    say(TEXT_STARTER_GOT);
}

static void thing(Person *p) {
    uint8_t tool;
    switch (p->arg) {
    case SCRIPT_STARTER:
        starter(p);
        return;
    case SCRIPT_GATE:
        if (wBadges != 0xFF) {
            say(TEXT_LOCKED_KEEP);
            return;
        }
        flag_set(p->flag);
        sound_effect(SOUND_CUT);
        say(TEXT_KEEP_OPEN);
        return;
    }
    tool = p->arg == SCRIPT_CUT ? ITEM_KNIFE : ITEM_HAMMER;
    if (!bag_count(tool)) {
        say(p->arg == SCRIPT_CUT ? TEXT_CUT_NO : TEXT_SMASH_NO);
        return;
    }
    flag_set(p->flag);
    sound_effect(SOUND_CUT);
    say(p->arg == SCRIPT_CUT ? TEXT_CUT : TEXT_SMASH);
}

void person_act(Person *p) {
    if (!IS_THING(p)) {
        p->facing = opposite[wFacing >> 2];
        objects_update();
    }
    switch (p->kind) {
    case KIND_NPC:
        if (p->need != NO_FLAG && !flag_get(p->need)) {
            say(p->text);
        } else if (flag_get(p->flag)) {
            say(p->text2);
        } else {
            say(p->arg && p->need != NO_FLAG ? p->text2 : p->text);
            if (p->arg) get_item(p->arg, p->arg2, p->flag);
            else flag_set(p->flag);
        }
        break;
    case KIND_ITEM:
        name_item(1, p->arg);
        if (!bag_add(p->arg, p->arg2)) {
            say(TEXT_BAG_FULL);
            break;
        }
        flag_set(p->flag);
        sound_effect(SOUND_GET);
        objects_update();
        say(TEXT_FOUND);
        break;
    case KIND_TRAINER:
    case KIND_LEADER:
        if (flag_get(p->flag)) {
            say(p->text2);
            break;
        }
        if (!wPartyCount) {
            say(p->text);
            break;
        }
        duel(p);
        return;
    case KIND_HEAL:
        heal(p);
        break;
    case KIND_SHOP:
        flag_set(p->flag);
        menu_shop = p->arg;
        FAR(BANK_MENU, shop_run);
        break;
    case KIND_PC:
        flag_set(p->flag);
        FAR(BANK_MENU, box_run);
        break;
    case KIND_SCRIPT:
        thing(p);
        break;
    }
    ui_close();
}

void interact(void) {
    uint8_t x = wXCoord, y = wYCoord, i, reach = 1;
    for (;;) {
        if (wFacing == DOWN) ++y;
        else if (wFacing == UP) --y;
        else if (wFacing == LEFT) --x;
        else ++x;
        if (x >= map.width || y >= map.height) return;
        i = person_at(x, y);
        if (i != 0xFF) {
            person_act(&people[i]);
            return;
        }
        for (i = 0; i != map.signs; ++i) {
            if (signs[i].x == x && signs[i].y == y) {
                say(signs[i].text);
                ui_close();
                return;
            }
        }
        if (!reach || !(flags_at((int8_t)x, (int8_t)y) & CELL_COUNTER)) return;
        reach = 0;
    }
}

/* Does an unbeaten trainer see the hero? Then the trainer walks up and it starts. */
void trainer_sight(void) {
    uint8_t i, k, n, home_x, home_y;
    int8_t dx, dy;
    Person *p = people;
    if (!wPartyCount || party_alive() == 0xFF) return;
    for (i = 0; i != map.people; ++i, ++p) {
        if (!p->sight || p->kind != KIND_TRAINER || flag_get(p->flag) || person_hidden(p)) continue;
        dx = dy = 0;
        if (p->facing == DOWN) dy = 1;
        else if (p->facing == UP) dy = -1;
        else if (p->facing == LEFT) dx = -1;
        else dx = 1;
        for (k = 1; k <= p->sight; ++k) {
            uint8_t x = p->x + dx * (int8_t)k, y = p->y + dy * (int8_t)k;
            if (x == wXCoord && y == wYCoord) break;
            if (!(flags_at((int8_t)x, (int8_t)y) & CELL_WALK)) {
                k = p->sight + 1;
                break;
            }
        }
        if (k > p->sight) continue;
        home_x = p->x;
        home_y = p->y;
        sound_effect(SOUND_ALERT);
        wJoyIgnore = 0xF0;
        bubble_person = i;
        objects_update();
        wait_frames(24);
        bubble_person = 0xFF;
        for (n = k - 1; n; --n) {
            p->x += dx;
            p->y += dy;
            objects_update();
            wait_frames(8);
        }
        wJoyIgnore = 0;
        wFacing = opposite[p->facing >> 2];
        objects_update();
        duel(p);
        if (!world_warp) {          /* back to the post, so that no passage stays blocked */
            p->x = home_x;
            p->y = home_y;
            objects_update();
        }
        return;
    }
}
