; registers.s: addresses of the hardware registers and HRAM variables for C
; (see hw.h for why they are not given there).

        .module registers
        .globl  _rP1
_rP1 = 0xFF00
        .globl  _rDIV
_rDIV = 0xFF04
        .globl  _rIF
_rIF = 0xFF0F
        .globl  _rNR10
_rNR10 = 0xFF10
        .globl  _rNR11
_rNR11 = 0xFF11
        .globl  _rNR12
_rNR12 = 0xFF12
        .globl  _rNR13
_rNR13 = 0xFF13
        .globl  _rNR14
_rNR14 = 0xFF14
        .globl  _rNR21
_rNR21 = 0xFF16
        .globl  _rNR22
_rNR22 = 0xFF17
        .globl  _rNR23
_rNR23 = 0xFF18
        .globl  _rNR24
_rNR24 = 0xFF19
        .globl  _rNR30
_rNR30 = 0xFF1A
        .globl  _rNR31
_rNR31 = 0xFF1B
        .globl  _rNR32
_rNR32 = 0xFF1C
        .globl  _rNR33
_rNR33 = 0xFF1D
        .globl  _rNR34
_rNR34 = 0xFF1E
        .globl  _rNR41
_rNR41 = 0xFF20
        .globl  _rNR42
_rNR42 = 0xFF21
        .globl  _rNR43
_rNR43 = 0xFF22
        .globl  _rNR44
_rNR44 = 0xFF23
        .globl  _rNR50
_rNR50 = 0xFF24
        .globl  _rNR51
_rNR51 = 0xFF25
        .globl  _rNR52
_rNR52 = 0xFF26
        .globl  _rLCDC
_rLCDC = 0xFF40
        .globl  _rSTAT
_rSTAT = 0xFF41
        .globl  _rSCY
_rSCY = 0xFF42
        .globl  _rSCX
_rSCX = 0xFF43
        .globl  _rLY
_rLY = 0xFF44
        .globl  _rLYC
_rLYC = 0xFF45
        .globl  _rBGP
_rBGP = 0xFF47
        .globl  _rOBP0
_rOBP0 = 0xFF48
        .globl  _rOBP1
_rOBP1 = 0xFF49
        .globl  _rWY
_rWY = 0xFF4A
        .globl  _rWX
_rWX = 0xFF4B
        .globl  _rIE
_rIE = 0xFFFF
        .globl  _hLcdMode
_hLcdMode = 0xFFA0
        .globl  _hWavePhase
_hWavePhase = 0xFFA1
        .globl  _hRedraw
_hRedraw = 0xFFA2
        .globl  _hRedrawLo
_hRedrawLo = 0xFFA3
        .globl  _hRedrawHi
_hRedrawHi = 0xFFA4
        .globl  _hTransfer
_hTransfer = 0xFFA5
        .globl  _hTransferPos
_hTransferPos = 0xFFA6
        .globl  _hTransferHi
_hTransferHi = 0xFFA7
        .globl  _hMusicOn
_hMusicOn = 0xFFA8
        .globl  _hFrames
_hFrames = 0xFFA9
        .globl  _hSCX
_hSCX = 0xFFAE
        .globl  _hSCY
_hSCY = 0xFFAF
        .globl  _hWY
_hWY = 0xFFB0
        .globl  _hJoyPressed
_hJoyPressed = 0xFFB3
        .globl  _hJoyHeld
_hJoyHeld = 0xFFB4
        .globl  _hLoadedROMBank
_hLoadedROMBank = 0xFFB8
        .globl  _hRandomAdd
_hRandomAdd = 0xFFD3
        .globl  _hRandomSub
_hRandomSub = 0xFFD4
        .globl  _hFrameCounter
_hFrameCounter = 0xFFD5
        .globl  _hVBlankOccurred
_hVBlankOccurred = 0xFFD6
