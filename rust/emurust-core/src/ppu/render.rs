//! Drawing of whole lines (Pan Docs: Rendering), many at a time.
//!
//! The picture is kept as shades 0 to 3 after the palettes; colours are the
//! business of whoever shows it.

use std::ops::Range;

use super::drawn::LineSource;
use super::{lcdc, Ppu, SCREEN_HEIGHT, SCREEN_WIDTH};

const MAX_SPRITES_PER_LINE: usize = 10;
/// A line with the partial tiles to its left and right.
const PADDED_WIDTH: usize = SCREEN_WIDTH + 16;
/// Tiles in a row of a tile map.
const MAP_TILES: usize = 32;
const LOW_MAP: usize = 0x1800;
const HIGH_MAP: usize = 0x1C00;

/// Consecutive lines to draw with the registers and memory as they are.
pub(super) struct Lines {
    pub(super) range: Range<usize>,
    /// WY matched LY at or before the first of these lines.
    pub(super) triggered_before: bool,
}

/// Spreads the bits of a byte over eight bytes, most significant bit first.
const SPREAD: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            if byte & (0x80 >> bit) != 0 {
                table[byte] |= 1 << (8 * bit);
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Eight pixels, a byte each.
#[derive(Clone, Copy)]
struct Row {
    low: u64,
    high: u64,
}

impl Row {
    fn colours(self) -> u64 {
        self.low | self.high << 1
    }
}

/// What the pixels of background and window are drawn as.
#[derive(Clone, Copy)]
enum Ink {
    /// As numbers of colours.
    Colours,
    /// As shades. The shade of a colour is the sum modulo 2, bit by bit, of the
    /// first shade and of one multiple each of the colour's bits and their product.
    Shades {
        base: u64,
        low: u64,
        high: u64,
        both: u64,
    },
}

impl Ink {
    const ONES: u64 = 0x0101_0101_0101_0101;

    fn shades(palette: u8) -> Self {
        const IDENTITY: u8 = 0b1110_0100;
        if palette == IDENTITY {
            return Self::Colours;
        }
        let shade = |colour: u8| u64::from(palette >> (colour * 2) & 0b11);
        Self::Shades {
            base: Self::ONES * shade(0),
            low: shade(0) ^ shade(1),
            high: shade(0) ^ shade(2),
            both: shade(0) ^ shade(1) ^ shade(2) ^ shade(3),
        }
    }

    #[inline(always)]
    fn draw(self, row: Row) -> u64 {
        match self {
            Self::Colours => row.colours(),
            Self::Shades {
                base,
                low,
                high,
                both,
            } => {
                let product = row.low & row.high;
                base ^ (row.low * low) ^ (row.high * high) ^ (product * both)
            }
        }
    }
}

/// Where in VRAM the tiles of a row of a tile map begin, from some column on.
struct TileRow {
    /// Offset of the map, its row and the column.
    of: (usize, usize, usize),
    offsets: [u16; MAP_TILES],
}

/// Sprites of each line, in OAM order, at most ten.
struct SpriteLists {
    counts: [u8; SCREEN_HEIGHT],
    indices: [[u8; MAX_SPRITES_PER_LINE]; SCREEN_HEIGHT],
}

impl Ppu {
    /// Draws what has changed of the lines and steps the window's row counter.
    pub(super) fn draw(&mut self, lines: Lines) {
        let vram = self.drawn.number_vram(&self.vram);
        let has_sprites = self.lcdc & lcdc::OBJ_ENABLE != 0;
        let registers = u64::from_le_bytes([
            self.lcdc, self.scy, self.scx, self.wx, self.bgp, self.obp0, self.obp1, 0,
        ]);
        let mut sprites = None;
        let mut tiles = [None, None];
        let mut triggered = lines.triggered_before;
        for y in lines.range.clone() {
            triggered |= y > lines.range.start && usize::from(self.wy) == y;
            let window = self.next_window_row(triggered);
            if y == SCREEN_HEIGHT - 1 {
                self.window_row = -1;
            }
            let has_sprites = has_sprites && self.line_has_sprites(y);
            let source = LineSource {
                registers,
                window_row: window.map_or(0, |row| row as u16 + 1),
                vram,
                oam: if has_sprites {
                    self.drawn.oam_number
                } else {
                    0
                },
            };
            if !self.drawn.must_draw(y, source) {
                continue;
            }
            if has_sprites {
                let sprites = sprites.get_or_insert_with(|| self.list_sprites(&lines.range));
                let on_line = &sprites.indices[y][..usize::from(sprites.counts[y])];
                self.draw_line(y, window, on_line, &mut tiles);
            } else {
                self.draw_line(y, window, &[], &mut tiles);
            }
        }
    }

    /// Steps the window's row counter if the window is on a line; the row then.
    fn next_window_row(&mut self, triggered: bool) -> Option<usize> {
        let is_shown = self.lcdc & lcdc::WINDOW_ENABLE != 0
            && triggered
            && self.window_left() < SCREEN_WIDTH as i32;
        if !is_shown {
            return None;
        }
        self.window_row = (self.window_row + 1) & 0xFF;
        Some(self.window_row as usize)
    }

    /// Column at which the window begins, perhaps left of the screen.
    fn window_left(&self) -> i32 {
        i32::from(self.wx) - 7
    }

    fn draw_line(
        &mut self,
        y: usize,
        window: Option<usize>,
        sprites: &[u8],
        tiles: &mut [Option<TileRow>; 2],
    ) {
        let shades = Ink::shades(self.bgp);
        let some_behind = sprites.iter().any(|&index| self.is_behind(index.into()));
        // Behind which colours a sprite is hidden must be known.
        let ink = if some_behind { Ink::Colours } else { shades };
        // The line with a tile's worth of slack on both sides.
        let mut pixels = [0u8; PADDED_WIDTH];
        let background = self.draw_background(y, window, ink, tiles, &mut pixels);
        let pixels = &pixels[8..][..SCREEN_WIDTH];
        let row = &mut self.shades[y * SCREEN_WIDTH..][..SCREEN_WIDTH];
        match (background, shades) {
            (false, _) => row.fill(self.bgp & 0b11),
            (true, Ink::Shades { .. }) if some_behind => draw_again(shades, pixels, row),
            (true, _) => row.copy_from_slice(pixels),
        }
        if !sprites.is_empty() {
            // On a blank line nothing counts as background colour 0.
            let backdrop = background.then_some(pixels);
            self.draw_sprites(y, sprites, backdrop);
        }
    }

    /// Draws background and window of a line; false if there is neither.
    fn draw_background(
        &self,
        y: usize,
        window: Option<usize>,
        ink: Ink,
        [background_tiles, window_tiles]: &mut [Option<TileRow>; 2],
        pixels: &mut [u8; PADDED_WIDTH],
    ) -> bool {
        if window.is_none() && self.lcdc & lcdc::BG_ENABLE == 0 {
            return false;
        }
        let visible = if window.is_some() {
            self.window_left()
        } else {
            SCREEN_WIDTH as i32
        };
        // The background left of a window is drawn even with the background off.
        if visible > 0 {
            let map = self.map_offset(lcdc::BG_MAP);
            let row = (y + usize::from(self.scy)) & 0xFF;
            let column = usize::from(self.scx);
            let start = 8 - (column & 7);
            let count = (visible as usize + (column & 7)).div_ceil(8);
            let tiles = self.tile_row(map, row >> 3, column >> 3, background_tiles);
            let out = &mut pixels[start..][..count * 8];
            self.draw_tiles(&tiles.offsets, row & 7, ink, out);
        }
        if let Some(row) = window {
            let map = self.map_offset(lcdc::WINDOW_MAP);
            let start = (self.window_left() + 8) as usize;
            let count = (SCREEN_WIDTH + 8 - start).div_ceil(8);
            let tiles = self.tile_row(map, row >> 3, 0, window_tiles);
            let out = &mut pixels[start..][..count * 8];
            self.draw_tiles(&tiles.offsets, row & 7, ink, out);
        }
        true
    }

    fn map_offset(&self, select: u8) -> usize {
        if self.lcdc & select != 0 {
            HIGH_MAP
        } else {
            LOW_MAP
        }
    }

    /// The tiles of a row of a map, found once for the lines that show it.
    fn tile_row<'a>(
        &self,
        map: usize,
        row: usize,
        column: usize,
        found: &'a mut Option<TileRow>,
    ) -> &'a TileRow {
        let of = (map, row, column);
        if found.as_ref().is_some_and(|tiles| tiles.of != of) {
            *found = None;
        }
        found.get_or_insert_with(|| {
            let tiles = &self.vram[map + row * MAP_TILES..][..MAP_TILES];
            let offset = |index: usize| {
                let tile = tiles[(column + index) % MAP_TILES];
                let number = if self.lcdc & lcdc::TILE_DATA != 0 {
                    u16::from(tile)
                } else {
                    u16::from(tile ^ 0x80) + 0x80
                };
                number * 16
            };
            let offsets = std::array::from_fn(offset);
            TileRow { of, offsets }
        })
    }

    /// Draws line `y` of tiles side by side, as many as fit.
    fn draw_tiles(&self, tiles: &[u16; MAP_TILES], y: usize, ink: Ink, out: &mut [u8]) {
        let rows = tiles.iter().map(|&tile| self.row(tile.into(), y));
        for (cell, row) in out.chunks_exact_mut(8).zip(rows) {
            cell.copy_from_slice(&ink.draw(row).to_le_bytes());
        }
    }

    /// Row `y` of the tile at an offset in VRAM.
    fn row(&self, tile: usize, y: usize) -> Row {
        let offset = (tile + y * 2) & 0x1FFE;
        Row {
            low: SPREAD[usize::from(self.vram[offset])],
            high: SPREAD[usize::from(self.vram[offset + 1])],
        }
    }

    /// The sprite is hidden by background colours 1 to 3.
    fn is_behind(&self, index: usize) -> bool {
        const BEHIND: u8 = 1 << 7;
        self.oam[index * 4 + 3] & BEHIND != 0
    }

    fn list_sprites(&self, range: &Range<usize>) -> SpriteLists {
        let mut lists = SpriteLists {
            counts: [0; SCREEN_HEIGHT],
            indices: [[0; MAX_SPRITES_PER_LINE]; SCREEN_HEIGHT],
        };
        if self.lcdc & lcdc::OBJ_ENABLE == 0 {
            return lists;
        }
        let height = usize::from(self.sprite_height());
        for (index, sprite) in self.oam.chunks_exact(4).enumerate() {
            let top = usize::from(sprite[0]);
            let first = top.saturating_sub(16).max(range.start);
            let end = (top + height).saturating_sub(16).min(range.end);
            for y in first..end {
                let count = &mut lists.counts[y];
                if usize::from(*count) < MAX_SPRITES_PER_LINE {
                    lists.indices[y][usize::from(*count)] = index as u8;
                    *count += 1;
                }
            }
        }
        lists
    }

    /// Draws the sprites of a line from lowest to highest priority: by X, then by OAM order.
    fn draw_sprites(&mut self, y: usize, indices: &[u8], backdrop: Option<&[u8]>) {
        let mut order = [(0u8, 0u8); MAX_SPRITES_PER_LINE];
        let order = &mut order[..indices.len()];
        for (slot, &index) in order.iter_mut().zip(indices) {
            *slot = (self.oam[usize::from(index) * 4 + 1], index);
        }
        order.sort_unstable_by(|a, b| b.cmp(a));
        for &(x, index) in order.iter() {
            if x == 0 || usize::from(x) >= SCREEN_WIDTH + 8 {
                continue;
            }
            self.draw_sprite(y, usize::from(index), usize::from(x), backdrop);
        }
    }

    fn draw_sprite(&mut self, y: usize, index: usize, x: usize, backdrop: Option<&[u8]>) {
        const Y_FLIP: u8 = 1 << 6;
        const X_FLIP: u8 = 1 << 5;
        const PALETTE: u8 = 1 << 4;
        let top = usize::from(self.oam[index * 4]);
        let attributes = self.oam[index * 4 + 3];
        let height = usize::from(self.sprite_height());
        let mut tile = usize::from(self.oam[index * 4 + 2]);
        if height == 16 {
            tile &= !1;
        }
        let mut row = y + 16 - top;
        if attributes & Y_FLIP != 0 {
            row = height - 1 - row;
        }
        let mut colours = self.row((tile + row / 8) * 16, row & 7).colours();
        if attributes & X_FLIP != 0 {
            colours = colours.swap_bytes();
        }
        if colours == 0 {
            return;
        }
        let palette = if attributes & PALETTE != 0 {
            self.obp1
        } else {
            self.obp0
        };
        let behind = self.is_behind(index);
        let out = &mut self.shades[y * SCREEN_WIDTH..][..SCREEN_WIDTH];
        for (offset, colour) in colours.to_le_bytes().into_iter().enumerate() {
            // Sprite X is eight more than the screen column.
            let Some(column) = (x + offset).checked_sub(8) else {
                continue;
            };
            if colour == 0 || column >= SCREEN_WIDTH {
                continue;
            }
            let hidden = behind && backdrop.is_none_or(|colours| colours[column] != 0);
            if !hidden {
                out[column] = palette >> (colour * 2) & 0b11;
            }
        }
    }
}

/// Draws what has been drawn as colours once more, eight pixels at a time.
fn draw_again(ink: Ink, colours: &[u8], out: &mut [u8]) {
    for (cell, colours) in out.chunks_exact_mut(8).zip(colours.chunks_exact(8)) {
        let mut word = [0; 8];
        word.copy_from_slice(colours);
        let word = u64::from_le_bytes(word);
        let row = Row {
            low: word & Ink::ONES,
            high: word >> 1 & Ink::ONES,
        };
        cell.copy_from_slice(&ink.draw(row).to_le_bytes());
    }
}
