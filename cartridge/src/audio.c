/* audio.c: the music driver. audio_tick runs 64 times a second from the timer
 * interrupt. A tune has up to four channels (two pulses, wave, noise), each a
 * stream of bytes: note, length; 0 is a rest; 0xF0 loops to the start; 0xF1 sets
 * the envelope, 0xF2 the duty. Effects borrow pulse 1 or noise meanwhile. */
#include "sound.h"
#include "hw.h"

volatile uint8_t sound_request;
volatile uint8_t music_request;
uint8_t music_current;
uint8_t sound_species;

typedef struct {
    uint16_t start, next;
    uint8_t left, envelope, duty, cut;
} Channel;

static Channel channels[4];
static uint8_t bank;
static const uint8_t *effect;
static uint8_t effect_left;
static uint8_t effect_noise;    /* this effect uses the noise channel */
static uint8_t wave_loaded;

static const uint8_t wave[16] = {
    0x01, 0x23, 0x56, 0x78, 0x99, 0x98, 0x87, 0x65, 0x43, 0x22, 0x11, 0x00, 0x00, 0x00, 0x00, 0x00,
};

/* Effects: steps of duration (in 64ths of a second), then the registers. Pulse:
 * sweep, duty, envelope, frequency low, high. Noise: envelope, polynomial.
 * First byte 0 pulse, 1 noise; duration 0 ends. */
static const uint8_t fx_cursor[] = {0, 2, 0x00, 0x80, 0x81, 0x40, 0x87, 0};
static const uint8_t fx_accept[] = {0, 3, 0x00, 0x80, 0xA1, 0x00, 0x87, 4, 0x00, 0x80, 0xA1, 0x80, 0x87, 0};
static const uint8_t fx_bump[] = {0, 5, 0x1C, 0x80, 0xA1, 0x00, 0x84, 0};
static const uint8_t fx_hit[] = {1, 4, 0xF1, 0x51, 6, 0xC2, 0x63, 0};
static const uint8_t fx_faint[] = {0, 28, 0x2F, 0x40, 0xF2, 0xA0, 0x86, 0};
static const uint8_t fx_door[] = {1, 4, 0xA1, 0x34, 4, 0x81, 0x24, 0};
static const uint8_t fx_heal[] = {0, 8, 0, 0x80, 0xB2, 0x06, 0x87, 8, 0, 0x80, 0xB2, 0x39, 0x87,
    8, 0, 0x80, 0xB2, 0x59, 0x87, 14, 0, 0x80, 0xC3, 0x83, 0x87, 0};
static const uint8_t fx_get[] = {0, 5, 0, 0x80, 0xC1, 0x59, 0x87, 5, 0, 0x80, 0xC1, 0x72, 0x87,
    12, 0, 0x80, 0xC3, 0x9D, 0x87, 0};
static const uint8_t fx_level[] = {0, 5, 0, 0x40, 0xD1, 0x06, 0x87, 5, 0, 0x40, 0xD1, 0x39, 0x87,
    5, 0, 0x40, 0xD1, 0x59, 0x87, 16, 0, 0x40, 0xD3, 0x83, 0x87, 0};
static const uint8_t fx_throw[] = {0, 14, 0x25, 0x80, 0xA3, 0x00, 0x86, 0};
static const uint8_t fx_jump[] = {0, 12, 0x16, 0x80, 0xA2, 0x00, 0x85, 0};
static const uint8_t fx_alert[] = {0, 4, 0, 0x80, 0xF1, 0xA0, 0x87, 4, 0, 0x80, 0xF1, 0xB0, 0x87,
    8, 0, 0x80, 0xF2, 0xC0, 0x87, 0};
static const uint8_t fx_cut[] = {1, 3, 0xD1, 0x22, 3, 0xD1, 0x32, 8, 0xD2, 0x44, 0};

static const uint8_t *const effects[] = {
    0, fx_cursor, fx_accept, fx_bump, fx_hit, fx_faint, fx_door, fx_heal, fx_get, fx_level,
    fx_throw, fx_jump, fx_alert, fx_cut,
};

static void start_tune(uint8_t tune) {
    uint8_t i, entry[3];
    uint16_t at;
    Channel *c = channels;
    rNR12 = 0;
    rNR22 = 0;
    rNR30 = 0;
    rNR42 = 0;
    copy_far(MUSIC_TABLE_BANK, MUSIC_TABLE + tune * 3u, entry, 3);
    bank = entry[0];
    at = entry[1] | ((uint16_t)entry[2] << 8);
    for (i = 0; i != 4; ++i, ++c) {
        copy_far(bank, at, (uint8_t *)&c->start, 2);
        at += 2;
        c->next = c->start;
        c->left = 1;
        c->envelope = 0xA3;
        c->duty = 0x80;
    }
}

static void play(uint8_t i, Channel *c) {
    uint8_t note, length, hi, lo;
    uint8_t pair[2];
    for (;;) {
        copy_far(bank, c->next, pair, 2);
        note = pair[0];
        length = pair[1];
        if (note == 0xF0) {
            c->next = c->start;
            continue;
        }
        c->next += 2;
        if (note == 0xF1) c->envelope = length;
        else if (note == 0xF2) c->duty = length;
        else break;
    }
    c->left = length;
    if (i == 3) {
        if (effect && effect_noise) return;
        if (!note) return;
        rNR41 = 0;
        rNR42 = note == 1 ? 0x81 : note == 2 ? 0xA1 : 0x51;
        rNR43 = note == 1 ? 0x55 : note == 2 ? 0x33 : 0x02;
        rNR44 = 0x80;
        return;
    }
    if (note) {
        copy_far(NOTE_TABLE_BANK, NOTE_TABLE + ((uint16_t)note << 1), pair, 2);
        lo = pair[0];
        hi = pair[1];
    } else {
        lo = hi = 0;
    }
    if (i == 0) {
        if (effect && !effect_noise) return;
        rNR10 = 0;
        if (!note) {
            rNR12 = 0;
            return;
        }
        rNR11 = c->duty;
        rNR12 = c->envelope;
        rNR13 = lo;
        rNR14 = hi | 0x80;
    } else if (i == 1) {
        if (!note) {
            rNR22 = 0;
            return;
        }
        rNR21 = c->duty;
        rNR22 = c->envelope;
        rNR23 = lo;
        rNR24 = hi | 0x80;
    } else {
        if (!note) {
            rNR32 = 0;
            return;
        }
        rNR30 = 0x80;
        rNR32 = 0x20;
        rNR33 = lo;
        rNR34 = hi | 0x80;
    }
}

static void effect_step(void) {
    uint8_t n = *effect++;
    if (!n) {
        effect = 0;
        return;
    }
    effect_left = n;
    if (effect_noise) {
        rNR41 = 0;
        rNR42 = *effect++;
        rNR43 = *effect++;
        rNR44 = 0x80;
    } else {
        rNR10 = *effect++;
        rNR11 = *effect++;
        rNR12 = *effect++;
        rNR13 = *effect++;
        rNR14 = *effect++;
    }
}

/* A cry of two tones; pitch, bend and length come from the number of the kith. */
static uint8_t cry[14];

static const uint8_t *make_cry(void) {
    uint8_t n = sound_species;
    cry[0] = 0;
    cry[1] = 5 + (n & 3);
    cry[2] = (n & 1) ? 0x14 + (n & 3) : 0x1C + (n & 3);
    cry[3] = (n & 6) << 5;
    cry[4] = 0xD2;
    cry[5] = n * 37;
    cry[6] = 0x84 + (n * 5 & 2) + (n & 1);
    cry[7] = 10 + (n & 7);
    cry[8] = (n & 2) ? 0x2D : 0x25;
    cry[9] = 0x80;
    cry[10] = 0xC3;
    cry[11] = n * 91;
    cry[12] = 0x85 + (n & 1);
    cry[13] = 0;
    return cry;
}

void audio_tick(void) {
    uint8_t i;
    Channel *c;
    if (!wave_loaded) {
        wave_loaded = 1;
        rNR52 = 0x80;
        rNR51 = 0xFF;
        rNR50 = 0x55;
        rNR30 = 0;
        for (i = 0; i != 16; ++i) ((volatile uint8_t *)0xFF30)[i] = wave[i];
    }
    if (music_request != 0xFF) {
        start_tune(music_request);
        music_request = 0xFF;
    }
    if (sound_request) {
        if (sound_request == SOUND_CRY) effect = make_cry();
        else effect = effects[sound_request];
        sound_request = 0;
        effect_noise = *effect++;
        effect_left = 1;
    }
    if (effect && --effect_left == 0) effect_step();
    c = channels;
    for (i = 0; i != 4; ++i, ++c)
        if (c->start && --c->left == 0) play(i, c);
}
