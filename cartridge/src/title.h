/* title.h: the title screen (bank MENU). */
#ifndef TITLE_H
#define TITLE_H
#include "core.h"
uint8_t title_run(void);        /* 1 new game, 0 continue */
#endif
