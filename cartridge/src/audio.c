/* audio.c: the music driver. */
#include "core.h"
void audio_tick(void) {
}
