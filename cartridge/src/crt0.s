; crt0.s: cartridge header, reset and interrupt vectors, start-up, the VBlank,
; STAT and timer handlers, and the bank-switching primitives.
; Everything here lives in the fixed bank (0000-3FFF).

        .module crt0
        .globl  _main, _audio_tick

; ---- hardware registers (FFxx, low byte) ---------------------------------
rP1     = 0x00
rDIV    = 0x04
rTMA    = 0x06
rTAC    = 0x07
rIF     = 0x0F
rLCDC   = 0x40
rSTAT   = 0x41
rSCY    = 0x42
rSCX    = 0x43
rLY     = 0x44
rLYC    = 0x45
rDMA    = 0x46
rWY     = 0x4A
rIE     = 0xFF

; ---- our HRAM (see ram.h for the meaning) --------------------------------
hOamDma          = 0xFF80       ; 10 bytes of code
hLcdMode         = 0xA0         ; what the STAT handler does: 0 nothing, 1 wave
hWavePhase       = 0xA1
hRedraw          = 0xA2         ; 0 none, 1 row, 2 column
hRedrawLo        = 0xA3         ; where in the background map
hRedrawHi        = 0xA4
hTransfer        = 0xA5         ; thirds of wTileMap still to be copied
hTransferPos     = 0xA6         ; which third is next (0-2)
hTransferHi      = 0xA7         ; 0x98 or 0x9C: the map that gets it
hMusicOn         = 0xA8
hFrames          = 0xA9         ; free-running frame count
hSCX             = 0xAE
hSCY             = 0xAF
hWY              = 0xB0
hJoyLast         = 0xB1
hJoyPressed      = 0xB3
hJoyHeld         = 0xB4
hLoadedROMBank   = 0xB8
hRandomAdd       = 0xD3
hRandomSub       = 0xD4
hFrameCounter    = 0xD5
hVBlankOccurred  = 0xD6

b_audio          = 4            ; as in banks.h

wJoyIgnore       = 0xCD6B
wTileMap         = 0xC3A0
wRedrawBuffer    = 0xC0A0       ; 40 bytes
wPlayTimeHours   = 0xDA41       ; 42 is the "maxed" mark
wPlayTimeMinutes = 0xDA43
wPlayTimeSeconds = 0xDA44
wPlayTimeFrames  = 0xDA45
wClockOn         = 0xDA46

; ---- vectors --------------------------------------------------------------
        .area   _HEADER (ABS)
        .org    0x00
        reti
        .org    0x40
        jp      vblank
        .org    0x48
        jp      stat
        .org    0x50
        jp      timer
        .org    0x58
        reti
        .org    0x60
        reti

; jump to the address in HL (the target of "call" for function pointers)
        .org    0x68
call_hl::
        jp      (hl)

        .org    0x100
        nop
        jp      start
; 0104-0133 would hold the console maker's logo; ours holds a line of our own.
        .ascii  "KITHWILD - WRITTEN FOR EMURUST, RUNS ON EMURUST."
; 0134: title and the rest; tools/link_rom.py fills in sizes and checksums.
        .ascii  "KITHWILD"
        .org    0x150

; ---- start ------------------------------------------------------------------
        .area   _CODE
start:
        di
        ld      sp, #0xDFFF
        xor     a, a
        ldh     (rIF), a
        ldh     (rIE), a
        ldh     (rSCX), a
        ldh     (rSCY), a
; the LCD may only go off in VBlank
1$:     ldh     a, (rLY)
        cp      a, #145
        jr      nz, 1$
        xor     a, a
        ldh     (rLCDC), a
; clear work RAM C000-DFEF (leaves the stack page's top alone)
        ld      hl, #0xC000
        ld      bc, #0x1FE0
2$:     xor     a, a
        ld      (hl+), a
        dec     bc
        ld      a, b
        or      a, c
        jr      nz, 2$
; clear VRAM
        ld      hl, #0x8000
        ld      bc, #0x2000
3$:     xor     a, a
        ld      (hl+), a
        dec     bc
        ld      a, b
        or      a, c
        jr      nz, 3$
; clear HRAM FF80-FFFE, then put the OAM DMA routine there
        ld      hl, #0xFF80
        ld      b, #0x7F
        xor     a, a
4$:     ld      (hl+), a
        dec     b
        jr      nz, 4$
        ld      hl, #oam_dma_code
        ld      c, #0x80
        ld      b, #oam_dma_end - oam_dma_code
5$:     ld      a, (hl+)
        ldh     (c), a
        inc     c
        dec     b
        jr      nz, 5$
        ld      a, #1
        ldh     (hLoadedROMBank), a
        ld      (0x2000), a
        ld      a, #0x98
        ldh     (hTransferHi), a
        ld      a, #144
        ldh     (hWY), a
        ldh     (rWY), a
; timer: 4096 Hz / 64 = 64 interrupts a second, for the music
        ld      a, #0x100 - 64
        ldh     (rTMA), a
        ld      a, #0x04
        ldh     (rTAC), a
        ei
        call    _main
6$:     halt
        nop
        jr      6$

oam_dma_code:
        ld      a, #0xC3
        ldh     (rDMA), a
        ld      a, #40
10$:    dec     a
        jr      nz, 10$
        ret
oam_dma_end:

; ---- VBlank -----------------------------------------------------------------
vblank:
        push    af
        push    bc
        push    de
        push    hl
        ldh     a, (hSCX)
        ldh     (rSCX), a
        ldh     a, (hSCY)
        ldh     (rSCY), a
        ldh     a, (hWY)
        ldh     (rWY), a
        ldh     a, (hRedraw)
        or      a, a
        jr      z, 1$
        call    redraw
        jr      2$
1$:     ldh     a, (hTransfer)
        or      a, a
        call    nz, transfer
2$:     call    hOamDma
        xor     a, a
        ldh     (hVBlankOccurred), a
        ld      hl, #0xFF00 + hFrames
        inc     (hl)
        ldh     a, (hFrameCounter)
        or      a, a
        jr      z, 3$
        dec     a
        ldh     (hFrameCounter), a
3$:     call    _random
        call    read_joypad
        ld      a, (wClockOn)
        or      a, a
        call    nz, clock
; the wave handler starts every frame at line 0 with the next phase
        ldh     a, (hLcdMode)
        or      a, a
        jr      z, 4$
        ld      hl, #0xFF00 + hWavePhase
        inc     (hl)
        xor     a, a
        ldh     (rLYC), a
4$:     pop     hl
        pop     de
        pop     bc
        pop     af
        reti

; copy one third (six rows of 20) of wTileMap to the map at hTransferHi
transfer:
        dec     a
        ldh     (hTransfer), a
        ld      (save_sp), sp
        ldh     a, (hTransferPos)
        or      a, a
        jr      z, 1$
        dec     a
        jr      z, 2$
        ld      sp, #wTileMap + 240
        ld      de, #0x0180
        xor     a, a
        jr      3$
1$:     ld      sp, #wTileMap
        ld      de, #0
        ld      a, #1
        jr      3$
2$:     ld      sp, #wTileMap + 120
        ld      de, #0x00C0
        ld      a, #2
3$:     ldh     (hTransferPos), a
        ldh     a, (hTransferHi)
        ld      h, a
        ld      l, #0
        add     hl, de
        ld      b, #6
4$:
        .rept   9
        pop     de
        ld      a, e
        ld      (hl+), a
        ld      a, d
        ld      (hl+), a
        .endm
        pop     de
        ld      a, e
        ld      (hl+), a
        ld      (hl), d
        ld      de, #13
        add     hl, de
        dec     b
        jr      nz, 4$
        ld      hl, #save_sp
        ld      a, (hl+)
        ld      h, (hl)
        ld      l, a
        ld      sp, hl
        ret

; copy the prepared row or column of 16x16 cells to the background map
redraw:
        ld      b, a
        xor     a, a
        ldh     (hRedraw), a
        ldh     a, (hRedrawLo)
        ld      l, a
        ldh     a, (hRedrawHi)
        ld      h, a
        ld      de, #wRedrawBuffer
        dec     b
        jr      nz, redraw_column
        call    redraw_line             ; upper half, then lower half
        ldh     a, (hRedrawLo)
        add     a, #32
        ld      l, a
        ldh     a, (hRedrawHi)
        ld      h, a                    ; rows start on even lines: no carry out
        jr      nc, redraw_line
        inc     h
redraw_line:
        ld      c, #20
1$:     ld      a, (de)
        ld      (hl), a
        inc     de
        ld      a, l                    ; step right, wrapping within the line
        inc     a
        and     a, #31
        ld      b, a
        ld      a, l
        and     a, #0xE0
        or      a, b
        ld      l, a
        dec     c
        jr      nz, 1$
        ret
redraw_column:
        ld      c, #18
1$:     ld      a, (de)
        ld      (hl+), a
        inc     de
        ld      a, (de)
        ld      (hl), a
        inc     de
        ld      a, l                    ; one line down, wrapping in the map
        add     a, #31
        ld      l, a
        jr      nc, 2$
        inc     h
        ld      a, h
        and     a, #0x03
        or      a, #0x98
        ld      h, a
2$:     dec     c
        jr      nz, 1$
        ret

read_joypad:
        ld      a, #0x20                ; directions
        ldh     (rP1), a
        ldh     a, (rP1)
        ldh     a, (rP1)
        cpl
        and     a, #0x0F
        swap    a
        ld      b, a
        ld      a, #0x10                ; buttons
        ldh     (rP1), a
        ldh     a, (rP1)
        ldh     a, (rP1)
        ldh     a, (rP1)
        ldh     a, (rP1)
        cpl
        and     a, #0x0F
        or      a, b
        ld      b, a
        ld      a, #0x30
        ldh     (rP1), a
        ld      a, (wJoyIgnore)
        cpl
        and     a, b
        ld      b, a                    ; held now
        ldh     a, (hJoyLast)
        cpl
        and     a, b                    ; newly pressed
        ld      c, a
        ldh     a, (hJoyPressed)
        or      a, c
        ldh     (hJoyPressed), a
        ld      a, b
        ldh     (hJoyLast), a
        ldh     (hJoyHeld), a
        ret

; play time: frames, seconds, minutes, hours (stops at 255 hours)
clock:
        ld      hl, #wPlayTimeFrames
        inc     (hl)
        ld      a, (hl)
        cp      a, #60
        ret     c
        ld      (hl), #0
        dec     hl
        inc     (hl)
        ld      a, (hl)
        cp      a, #60
        ret     c
        ld      (hl), #0
        dec     hl
        inc     (hl)
        ld      a, (hl)
        cp      a, #60
        ret     c
        ld      (hl), #0
        ld      hl, #wPlayTimeHours
        inc     (hl)
        ret     nz
        dec     (hl)
        ret

; ---- random numbers: uint8_t random(void) ------------------------------------
; Two bytes of state, one fed by adding DIV, one by subtracting it.
_random::
        ldh     a, (rDIV)
        ld      b, a
        ldh     a, (hRandomAdd)
        adc     a, b
        ldh     (hRandomAdd), a
        ldh     a, (rDIV)
        ld      b, a
        ldh     a, (hRandomSub)
        sbc     a, b
        ldh     (hRandomSub), a
        ldh     a, (hRandomAdd)
        ret

; ---- STAT: the wave ------------------------------------------------------------
; One interrupt a line: horizontal scroll = hSCX + wave[(line + phase) & 63].
; Mode 1 bends the whole screen, mode 2 only lines 0-39 (the title's letters).
stat:
        push    af
        push    hl
        ldh     a, (hLcdMode)
        or      a, a
        jr      z, 1$
        cp      a, #2
        ldh     a, (rLY)
        ld      h, a
        jr      nz, 2$
        cp      a, #40
        jr      c, 2$
        ldh     a, (hSCX)               ; below the letters: straight again
        ldh     (rSCX), a
        jr      1$
2$:     inc     a
        cp      a, #144
        jr      nc, 1$
        ldh     (rLYC), a
        ldh     a, (hWavePhase)
        add     a, h
        and     a, #63
        ld      h, #>wave_table
        ld      l, a
        ldh     a, (hSCX)
        add     a, (hl)
        ldh     (rSCX), a
1$:     pop     hl
        pop     af
        reti

; ---- timer: one step of the music driver -----------------------------------------
timer:
        push    af
        ldh     a, (hMusicOn)
        or      a, a
        jr      z, 1$
        push    bc
        push    de
        push    hl
        ldh     a, (hLoadedROMBank)
        push    af
        ld      a, #b_audio
        ldh     (hLoadedROMBank), a
        ld      (0x2000), a
        ei                              ; the picture must not wait for the music
        call    _audio_tick
        pop     af
        ldh     (hLoadedROMBank), a
        ld      (0x2000), a
        pop     hl
        pop     de
        pop     bc
1$:     pop     af
        reti

; ---- bank switching ----------------------------------------------------------------
; void set_bank(uint8_t bank)
_set_bank::
        ldh     (hLoadedROMBank), a
        ld      (0x2000), a
        ret

; uint8_t far_call(void (*function)(void), uint8_t bank): run it there, come back
_far_call::
        ld      h, d
        ld      l, e
        ld      b, a
        ldh     a, (hLoadedROMBank)
        push    af
        ld      a, b
        ldh     (hLoadedROMBank), a
        ld      (0x2000), a
        call    call_hl
        ld      b, a
        pop     af
        ldh     (hLoadedROMBank), a
        ld      (0x2000), a
        ld      a, b
        ret

; void copy(uint8_t *to (DE), const uint8_t *from (BC), uint16_t count (stack))
_copy::
        ldhl    sp, #2
        ld      a, (hl+)
        ld      h, (hl)
        ld      l, a                    ; HL = count
        or      a, h
        jr      z, 9$
        push    hl
        ld      h, b
        ld      l, c
        pop     bc                      ; HL = from, BC = count
        inc     b
        inc     c
        jr      2$
1$:     ld      a, (hl+)
        ld      (de), a
        inc     de
2$:     dec     c
        jr      nz, 1$
        dec     b
        jr      nz, 1$
9$:     pop     hl
        add     sp, #2
        jp      (hl)

; void vram_copy(uint8_t *to (DE), const uint8_t *from (BC), uint16_t count (stack)):
; waits byte by byte for the LCD to leave VRAM alone.
_vram_copy::
        ldhl    sp, #2
        ld      a, (hl+)
        ld      h, (hl)
        ld      l, a
        or      a, h
        jr      z, 9$
        push    hl
        ld      h, b
        ld      l, c
        pop     bc
        inc     b
        inc     c
        jr      3$
1$:     di
2$:     ldh     a, (rSTAT)
        and     a, #0x02
        jr      nz, 2$
        ld      a, (hl+)
        ld      (de), a
        ei
        inc     de
3$:     dec     c
        jr      nz, 1$
        dec     b
        jr      nz, 1$
9$:     pop     hl
        add     sp, #2
        jp      (hl)

; void fill(uint8_t *to (DE), uint16_t count (BC), uint8_t value (stack))
_fill::
        ldhl    sp, #2
        ld      a, (hl)
        ld      h, d
        ld      l, e
        ld      d, a
        inc     b
        inc     c
        jr      2$
1$:     ld      a, d
        ld      (hl+), a
2$:     dec     c
        jr      nz, 1$
        dec     b
        jr      nz, 1$
        pop     hl
        inc     sp
        jp      (hl)

; void wait_frame(void): sleep until the next VBlank has been handled
_wait_frame::
        ld      a, #1
        ldh     (hVBlankOccurred), a
1$:     halt
        nop
        ldh     a, (hVBlankOccurred)
        or      a, a
        jr      nz, 1$
        ret

; void cells_to_tiles(void): expand the 10x9 cells at wViewCells to wTileMap
; through the metatile table at C200 (4 tiles each: top two, bottom two).
wViewCells       = 0xC040
wMetatiles       = 0xC200
_cells_to_tiles::
        ld      bc, #wTileMap
        ld      de, #wViewCells
        ld      a, #9
1$:     push    af
        ld      a, #10
        push    de
2$:     push    af
        ld      a, (de)
        inc     de
        add     a, a
        add     a, a
        ld      l, a
        ld      h, #>wMetatiles
        ld      a, (hl+)
        ld      (bc), a
        inc     bc
        ld      a, (hl)
        ld      (bc), a
        inc     bc
        pop     af
        dec     a
        jr      nz, 2$
        pop     de
        ld      a, #10
3$:     push    af
        ld      a, (de)
        inc     de
        add     a, a
        add     a, a
        add     a, #2
        ld      l, a
        ld      h, #>wMetatiles
        ld      a, (hl+)
        ld      (bc), a
        inc     bc
        ld      a, (hl)
        ld      (bc), a
        inc     bc
        pop     af
        dec     a
        jr      nz, 3$
        pop     af
        dec     a
        jr      nz, 1$
        ret

; the wave, page aligned: a sine of 64 steps, amplitude 4
        .area   _WAVE (ABS)
        .org    0x3F00
wave_table:
        .db     0,0,1,1,2,2,2,3,3,3,4,4,4,4,4,4,4,4,4,4,4,4,4,3,3,3,2,2,2,1,1,0
        .db     0,0,-1,-1,-2,-2,-2,-3,-3,-3,-4,-4,-4,-4,-4,-4,-4,-4,-4,-4,-4,-4,-4,-3,-3,-3,-2,-2,-2,-1,-1,0

; ---- variables ----------------------------------------------------------------------
        .area   _DATA
save_sp:
        .ds     2
