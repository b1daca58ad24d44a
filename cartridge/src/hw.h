/* hw.h: the console's hardware registers. Their addresses are in registers.s:
 * SDCC 4.2 generates wrong code for __sfr reads and for some __at(0xFFxx) writes. */
#ifndef HW_H
#define HW_H

#include <stdint.h>

extern volatile uint8_t rP1;
extern volatile uint8_t rDIV;
extern volatile uint8_t rIF;
extern volatile uint8_t rNR10;
extern volatile uint8_t rNR11;
extern volatile uint8_t rNR12;
extern volatile uint8_t rNR13;
extern volatile uint8_t rNR14;
extern volatile uint8_t rNR21;
extern volatile uint8_t rNR22;
extern volatile uint8_t rNR23;
extern volatile uint8_t rNR24;
extern volatile uint8_t rNR30;
extern volatile uint8_t rNR31;
extern volatile uint8_t rNR32;
extern volatile uint8_t rNR33;
extern volatile uint8_t rNR34;
extern volatile uint8_t rNR41;
extern volatile uint8_t rNR42;
extern volatile uint8_t rNR43;
extern volatile uint8_t rNR44;
extern volatile uint8_t rNR50;
extern volatile uint8_t rNR51;
extern volatile uint8_t rNR52;
extern volatile uint8_t rLCDC;
extern volatile uint8_t rSTAT;
extern volatile uint8_t rSCY;
extern volatile uint8_t rSCX;
extern volatile uint8_t rLY;
extern volatile uint8_t rLYC;
extern volatile uint8_t rBGP;
extern volatile uint8_t rOBP0;
extern volatile uint8_t rOBP1;
extern volatile uint8_t rWY;
extern volatile uint8_t rWX;
extern volatile uint8_t rIE;

#define IE_VBLANK 0x01
#define IE_STAT 0x02
#define IE_TIMER 0x04

/* LCD on, window map 9C00, window on, tiles 8800-97FF, map 9800, 8x16 objects, background on */
#define LCDC_GAME 0xE7

#define PAD_A 0x01
#define PAD_B 0x02
#define PAD_SELECT 0x04
#define PAD_START 0x08
#define PAD_RIGHT 0x10
#define PAD_LEFT 0x20
#define PAD_UP 0x40
#define PAD_DOWN 0x80

#endif
