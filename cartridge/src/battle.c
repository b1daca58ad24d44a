/* battle.c: battles. */
#include "core.h"
void battle_run(void) {
}
