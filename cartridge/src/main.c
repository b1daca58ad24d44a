/* main.c: the outermost loop: title, then the world. */
#include "title.h"
#include "world.h"

static void new_game(void) {
    wCurMap = MAP_HERO_HOUSE;
    wXCoord = AT_HERO_HOUSE_S_X;
    wYCoord = AT_HERO_HOUSE_S_Y;
    wFacing = DOWN;
    wLastBlackoutMap = MAP_HERO_HOUSE;
    wPartySpecies[0] = 0xFF;
    wBagItems[0] = 0xFF;
    wMoney[1] = 0x10;
}

void main(void) {
    rLYC = 0;
    rSTAT = 0x40;
    rWX = 7;
    rIF = 0;
    rIE = IE_VBLANK | IE_TIMER | IE_STAT;
    rLCDC = LCDC_GAME;
    for (;;) {
        FAR(BANK_MENU, title_run);
        new_game();
        FAR(BANK_WORLD, world_run);
    }
}
