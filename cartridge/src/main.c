/* main.c: the outermost loop: title, then the world. */
#include "title.h"
#include "world.h"
#include "sound.h"
#include "objects.h"

/* A new story: everything that is saved goes back to its beginning. */
static void new_game(void) {
    fill((uint8_t *)0xD163, 272, 0);
    fill((uint8_t *)0xD2F7, 115, 0);
    fill((uint8_t *)0xD70B, 2, 0);
    fill(wEventFlags, 320, 0);
    fill((uint8_t *)0xDA41, 5, 0);
    wBoxCount = 0;
    wCurMap = MAP_HERO_HOUSE;
    wXCoord = AT_HERO_HOUSE_S_X;
    wYCoord = AT_HERO_HOUSE_S_Y;
    wFacing = 0;
    wLastMap = MAP_HERO_HOUSE;
    wLastBlackoutMap = MAP_HERO_HOUSE;
    wLastBlackoutX = AT_HERO_HOUSE_S_X;
    wLastBlackoutY = AT_HERO_HOUSE_S_Y;
    wPartySpecies[0] = 0xFF;
    wBagItems[0] = 0xFF;
    wMoney[1] = 0x10;           /* 1000 coins */
}

void main(void) {
    music_request = 0xFF;
    music_current = 0xFF;
    bubble_person = 0xFF;
    rSTAT = 0x40;               /* LY = LYC */
    rWX = 7;
    rIF = 0;
    rIE = IE_VBLANK | IE_TIMER | IE_STAT;
    rLCDC = LCDC_GAME;
    for (;;) {
        wClockOn = 0;
        if (FAR(BANK_MENU, title_run)) new_game();
        FAR(BANK_WORLD, world_run);
    }
}
