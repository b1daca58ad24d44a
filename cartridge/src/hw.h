/* hw.h: the console's hardware registers. */
#ifndef HW_H
#define HW_H

#include <stdint.h>

volatile __sfr __at(0x00) rP1;
volatile __sfr __at(0x04) rDIV;
volatile __sfr __at(0x0F) rIF;
volatile __sfr __at(0x10) rNR10;
volatile __sfr __at(0x11) rNR11;
volatile __sfr __at(0x12) rNR12;
volatile __sfr __at(0x13) rNR13;
volatile __sfr __at(0x14) rNR14;
volatile __sfr __at(0x16) rNR21;
volatile __sfr __at(0x17) rNR22;
volatile __sfr __at(0x18) rNR23;
volatile __sfr __at(0x19) rNR24;
volatile __sfr __at(0x1A) rNR30;
volatile __sfr __at(0x1B) rNR31;
volatile __sfr __at(0x1C) rNR32;
volatile __sfr __at(0x1D) rNR33;
volatile __sfr __at(0x1E) rNR34;
volatile __sfr __at(0x20) rNR41;
volatile __sfr __at(0x21) rNR42;
volatile __sfr __at(0x22) rNR43;
volatile __sfr __at(0x23) rNR44;
volatile __sfr __at(0x24) rNR50;
volatile __sfr __at(0x25) rNR51;
volatile __sfr __at(0x26) rNR52;
volatile __sfr __at(0x40) rLCDC;
volatile __sfr __at(0x41) rSTAT;
volatile __sfr __at(0x42) rSCY;
volatile __sfr __at(0x43) rSCX;
volatile __sfr __at(0x44) rLY;
volatile __sfr __at(0x45) rLYC;
volatile __sfr __at(0x47) rBGP;
volatile __sfr __at(0x48) rOBP0;
volatile __sfr __at(0x49) rOBP1;
volatile __sfr __at(0x4A) rWY;
volatile __sfr __at(0x4B) rWX;
volatile __sfr __at(0xFF) rIE;

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
