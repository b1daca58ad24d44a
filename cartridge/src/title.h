/* title.h: the title screen (bank MENU). */
#ifndef TITLE_H
#define TITLE_H
#include "core.h"
void title_run(void);
#endif
