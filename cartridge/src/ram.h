/* ram.h: every variable with a fixed address. Training environments read these,
 * so neither the addresses nor the encodings may change. Two-byte values in
 * monster records are big endian. Everything else is placed by the linker
 * (segment _DATA, C510-CBFF). */
#ifndef RAM_H
#define RAM_H

#include <stdint.h>

/* HRAM: addresses in registers.s, for the same reason as those in hw.h */
extern volatile uint8_t hLcdMode;      /* STAT handler: 0 nothing, 1 wave */
extern volatile uint8_t hWavePhase;
extern volatile uint8_t hRedraw;       /* pending: 1 row, 2 column */
extern volatile uint8_t hRedrawLo;
extern volatile uint8_t hRedrawHi;
extern volatile uint8_t hTransfer;     /* thirds of wTileMap still to copy */
extern volatile uint8_t hTransferPos;
extern volatile uint8_t hTransferHi;   /* 0x98 background map, 0x9C window map */
extern volatile uint8_t hMusicOn;
extern volatile uint8_t hFrames;
extern volatile uint8_t hSCX;
extern volatile uint8_t hSCY;
extern volatile uint8_t hWY;
extern volatile uint8_t hJoyPressed;   /* newly pressed, kept until read */
extern volatile uint8_t hJoyHeld;      /* A B Select Start Right Left Up Down, bit 0 first */
extern volatile uint8_t hLoadedROMBank;
extern volatile uint8_t hRandomAdd;
extern volatile uint8_t hRandomSub;
extern volatile uint8_t hFrameCounter;
extern volatile uint8_t hVBlankOccurred;

/* A monster in the party or the box: 44 bytes. */
typedef struct {
    uint8_t species;      /* 00 */
    uint8_t hp[2];        /* 01 big endian */
    uint8_t box_level;    /* 03 */
    uint8_t status;       /* 04 bit field, see STATUS_ */
    uint8_t type1;        /* 05 */
    uint8_t type2;        /* 06 */
    uint8_t catch_rate;   /* 07 */
    uint8_t moves[4];     /* 08 */
    uint8_t owner[2];     /* 0C */
    uint8_t exp[3];       /* 0E big endian */
    uint8_t unused[10];   /* 11 */
    uint8_t genes[2];     /* 1B four nibbles: attack, defence, speed, special */
    uint8_t pp[4];        /* 1D */
    uint8_t level;        /* 21 */
    uint8_t max_hp[2];    /* 22 */
    uint8_t attack[2];    /* 24 */
    uint8_t defence[2];   /* 26 */
    uint8_t speed[2];     /* 28 */
    uint8_t special[2];   /* 2A */
} Monster;

/* A monster as it stands in battle: 29 bytes. */
typedef struct {
    uint8_t species;      /* 00 */
    uint8_t hp[2];        /* 01 */
    uint8_t slot;         /* 03 */
    uint8_t status;       /* 04 */
    uint8_t type1;        /* 05 */
    uint8_t type2;        /* 06 */
    uint8_t catch_rate;   /* 07 */
    uint8_t moves[4];     /* 08 */
    uint8_t genes[2];     /* 0C */
    uint8_t level;        /* 0E */
    uint8_t max_hp[2];    /* 0F */
    uint8_t attack[2];    /* 11 */
    uint8_t defence[2];   /* 13 */
    uint8_t speed[2];     /* 15 */
    uint8_t special[2];   /* 17 */
    uint8_t pp[4];        /* 19 */
} Fighter;

/* Work RAM, in address order */
__at(0xC040) uint8_t wViewCells[90];            /* the 10x9 map cells on the screen */
__at(0xC0A0) uint8_t wRedrawBuffer[40];
__at(0xC109) uint8_t wFacing;                   /* 0 down, 4 up, 8 left, 12 right */
__at(0xC200) uint8_t wMetatiles[256];           /* four tiles per cell kind */
__at(0xC300) uint8_t wOam[160];
__at(0xC3A0) uint8_t wTileMap[360];             /* the screen as tiles */
__at(0xCD6B) volatile uint8_t wJoyIgnore;
__at(0xCFC5) uint8_t wWalkCounter;
__at(0xCFE5) Fighter wEnemyMon;                 /* HP CFE6, level CFF3 */
__at(0xD014) Fighter wBattleMon;                /* HP D015, level D022 */
__at(0xD057) uint8_t wIsInBattle;               /* 0, 1 wild, 2 trainer, FF just lost */
__at(0xD163) uint8_t wPartyCount;
__at(0xD164) uint8_t wPartySpecies[7];
__at(0xD16B) Monster wParty[6];
__at(0xD2F7) uint8_t wOwned[19];
__at(0xD30A) uint8_t wSeen[19];
__at(0xD31D) uint8_t wNumBagItems;
__at(0xD31E) uint8_t wBagItems[41];
__at(0xD347) uint8_t wMoney[3];                 /* BCD */
__at(0xD356) uint8_t wBadges;
__at(0xD35E) uint8_t wCurMap;
__at(0xD361) uint8_t wYCoord;
__at(0xD362) uint8_t wXCoord;
__at(0xD365) uint8_t wLastMap;
__at(0xD367) uint8_t wCurMapTileset;
__at(0xD368) uint8_t wCurMapHeight;             /* in blocks of 2x2 steps */
__at(0xD369) uint8_t wCurMapWidth;
__at(0xD70B) uint8_t wTownVisited[2];
__at(0xD719) uint8_t wLastBlackoutMap;
__at(0xD71A) uint8_t wLastBlackoutX;            /* our own: where in that map */
__at(0xD71B) uint8_t wLastBlackoutY;
__at(0xD747) uint8_t wEventFlags[320];
__at(0xD89C) uint8_t wEnemyPartyCount;
__at(0xD89D) uint8_t wEnemyPartySpecies[7];
__at(0xD8A4) Monster wEnemyParty[6];            /* levels at D8C5 + 44 n */
__at(0xDA41) uint8_t wPlayTimeHours;
__at(0xDA43) uint8_t wPlayTimeMinutes;
__at(0xDA44) uint8_t wPlayTimeSeconds;
__at(0xDA45) uint8_t wPlayTimeFrames;
__at(0xDA46) uint8_t wClockOn;                  /* play time counts while set */
/* Our own, saved with the game: the block from wOwned (D2F7) on is not one
 * piece, so save.c lists the ranges. */
__at(0xDA80) uint8_t wBoxCount;
__at(0xDA81) Monster wBox[16];                  /* up to DD40 */
__at(0xDD50) uint8_t wTextBuffer[256];          /* the text being shown; stack above */

#endif
