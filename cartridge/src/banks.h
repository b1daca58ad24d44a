/* banks.h: which ROM bank holds what code. crt0.s repeats BANK_AUDIO. */
#ifndef BANKS_H
#define BANKS_H
#define BANK_WORLD 1
#define BANK_BATTLE 2
#define BANK_MENU 3
#define BANK_AUDIO 4
/* banks 5-15: data, placed by tools/build_assets.py */
#endif
