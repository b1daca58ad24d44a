/* script.c: what happens when the hero acts on a person or a sign. */
#include "world.h"
#include "objects.h"

static const uint8_t opposite[4] = {UP, DOWN, RIGHT, LEFT};

void person_act(Person *p) {
    if (p->kind != KIND_ITEM && p->kind != KIND_THING) {
        p->facing = opposite[wFacing >> 2];
        objects_update();
    }
    say(p->text);
    flag_set(p->flag);
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
