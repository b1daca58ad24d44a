//! Machine memory as numpy arrays that are read without copying.
//!
//! # Why this is sound
//!
//! A numpy array may be read at any time, by any thread, also while another
//! thread runs the machine with the GIL released. The core works on its memory
//! through `&mut`, so an array that pointed into it would be read while Rust
//! believes to be alone with it: undefined behaviour, whatever is locked.
//!
//! Therefore an array never points into the core. It points into a
//! [`SharedBytes`]: a block of relaxed atomics of which no `&u8` or `&[u8]` is
//! ever made on the Rust side. At the end of each call that changed the machine
//! and before its lock is released, the areas that somebody holds an array of
//! are stored there (8 KiB take a fraction of a microsecond); areas nobody looks
//! at cost nothing. So a view
//!
//! * is live: it shows the machine after the latest call, without being fetched
//!   again;
//! * read while another thread is inside such a call may be partly old and
//!   partly new, like any array that another thread writes to, but is never
//!   undefined: Rust only ever stores atomically;
//! * neither moves nor is freed while an array lives: the array's base object
//!   owns a count of the block, which never reallocates.

#![expect(unsafe_code, reason = "numpy takes array memory only as a raw pointer")]

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use numpy::npyffi::{self, npy_intp, PyArrayObject, PY_ARRAY_API};
use numpy::{Element, PyArrayDescrMethods};
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ViewOwner>()
}

/// PyBoy's default colours of the shades 0 to 3, and of a cell never drawn to,
/// as R, G, B, A in memory order. (Eight entries, so that an index needs no check.)
const RGBA_OF_SHADE: [[u8; 4]; 8] = {
    let mut colours = [[0; 4]; 8];
    colours[0] = [0xFF, 0xFF, 0xFF, 0xFF];
    colours[1] = [0x99, 0x99, 0x99, 0xFF];
    colours[2] = [0x55, 0x55, 0x55, 0xFF];
    colours[3] = [0x00, 0x00, 0x00, 0xFF];
    colours
};

/// The word for two neighbouring cells, at eight times the left shade plus the right one.
const RGBA_OF_PAIR: [u64; 64] = {
    let mut words = [0; 64];
    let mut pair = 0;
    while pair < words.len() {
        let [a, b, c, d] = RGBA_OF_SHADE[pair / 8];
        let [e, f, g, h] = RGBA_OF_SHADE[pair % 8];
        words[pair] = u64::from_ne_bytes([a, b, c, d, e, f, g, h]);
        pair += 1;
    }
    words
};

const BYTES_PER_WORD: usize = 8;

/// Bytes that numpy reads while Rust may be storing to them.
struct SharedBytes {
    words: Box<[AtomicU64]>,
    len: usize,
}

impl SharedBytes {
    fn new(len: usize) -> Self {
        let words = (0..len.div_ceil(BYTES_PER_WORD))
            .map(|_| AtomicU64::new(0))
            .collect();
        Self { words, len }
    }

    fn as_ptr(&self) -> *mut u8 {
        self.words.as_ptr().cast_mut().cast()
    }

    /// Stores all bytes of `source`, which has `len` bytes.
    fn store(&self, source: &[u8]) {
        debug_assert_eq!(source.len(), self.len);
        let chunks = source.chunks_exact(BYTES_PER_WORD);
        let rest = chunks.remainder();
        for (word, chunk) in self.words.iter().zip(chunks) {
            let mut bytes = [0; BYTES_PER_WORD];
            bytes.copy_from_slice(chunk);
            word.store(u64::from_ne_bytes(bytes), Ordering::Relaxed);
        }
        if !rest.is_empty() {
            let mut bytes = [0; BYTES_PER_WORD];
            bytes[..rest.len()].copy_from_slice(rest);
            self.words[self.words.len() - 1].store(u64::from_ne_bytes(bytes), Ordering::Relaxed);
        }
    }

    /// Stores the colour of every shade of `shades`, which has `len / 4` bytes.
    fn store_rgba(&self, shades: &[u8]) {
        debug_assert_eq!(shades.len() * 4, self.len);
        for (word, pair) in self.words.iter().zip(shades.chunks_exact(2)) {
            let index = (pair[0] & 7) << 3 | pair[1] & 7;
            word.store(RGBA_OF_PAIR[usize::from(index)], Ordering::Relaxed);
        }
    }
}

/// The base object of an array: keeps the array's memory.
#[pyclass(frozen, module = "emurust._emurust")]
pub(crate) struct ViewOwner(
    #[expect(dead_code, reason = "held so that the block lives")] Arc<SharedBytes>,
);

/// How the bytes of an area become the bytes of its view.
#[derive(Clone, Copy)]
enum Format {
    Same,
    Rgba,
}

/// One area of a machine, and the block through which Python sees it (made when
/// first asked for).
pub(crate) struct View {
    bytes: Option<Arc<SharedBytes>>,
    /// The block does not show the machine's present content.
    stale: bool,
    format: Format,
}

impl View {
    pub(crate) const fn new() -> Self {
        Self::with(Format::Same)
    }

    /// A view of shades as colours.
    pub(crate) const fn new_rgba() -> Self {
        Self::with(Format::Rgba)
    }

    const fn with(format: Format) -> Self {
        Self {
            bytes: None,
            stale: true,
            format,
        }
    }

    /// Brings the view up to date, if anybody holds an array of it.
    ///
    /// Arrays are made only under the machine's lock, which the caller holds: a
    /// count of one cannot grow meanwhile.
    pub(crate) fn refresh(&mut self, source: &[u8]) {
        if let Some(bytes) = &self.bytes {
            self.stale = Arc::strong_count(bytes) == 1;
            if !self.stale {
                self.format.store(bytes, source);
            }
        }
    }

    /// An array over the view's block, brought up to date with `source`.
    fn block(&mut self, source: &[u8]) -> Arc<SharedBytes> {
        let format = self.format;
        let bytes = self
            .bytes
            .get_or_insert_with(|| Arc::new(SharedBytes::new(format.len(source))));
        if self.stale {
            format.store(bytes, source);
            self.stale = false;
        }
        Arc::clone(bytes)
    }

    /// A uint8 array of `shape` that shows `source` now and the same area after
    /// every later call on the machine.
    pub(crate) fn array<'py, const N: usize>(
        &mut self,
        py: Python<'py>,
        source: &[u8],
        shape: [usize; N],
    ) -> PyResult<Bound<'py, PyAny>> {
        let writeable = matches!(self.format, Format::Rgba);
        array_over(py, self.block(source), shape, writeable)
    }
}

impl Format {
    fn len(self, source: &[u8]) -> usize {
        match self {
            Self::Same => source.len(),
            Self::Rgba => source.len() * 4,
        }
    }

    fn store(self, bytes: &SharedBytes, source: &[u8]) {
        match self {
            Self::Same => bytes.store(source),
            Self::Rgba => bytes.store_rgba(source),
        }
    }
}

/// A C-contiguous uint8 array over `bytes`, which its base object keeps alive.
fn array_over<const N: usize>(
    py: Python<'_>,
    bytes: Arc<SharedBytes>,
    shape: [usize; N],
    writeable: bool,
) -> PyResult<Bound<'_, PyAny>> {
    assert_eq!(shape.iter().product::<usize>(), bytes.len);
    let data: *mut c_void = bytes.as_ptr().cast();
    let owner = Bound::new(py, ViewOwner(bytes))?.into_any();
    let mut dims = shape.map(|len| len as npy_intp);
    let dims: *mut npy_intp = dims.as_mut_ptr();
    let flags = if writeable {
        npyffi::NPY_ARRAY_WRITEABLE
    } else {
        0
    };
    // SAFETY: `data` points to as many bytes as the shape has (asserted above).
    // They live in a heap block that is never reallocated and that `owner`, set
    // as the array's base, keeps alive. Rust accesses the block by atomic stores
    // only and holds no reference to its bytes. numpy copies `dims`, takes the
    // reference to the dtype, and, in SetBaseObject, the one to `owner`.
    unsafe {
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            npyffi::get_type_object(py, npyffi::NpyTypes::PyArray_Type),
            u8::get_dtype(py).into_dtype_ptr(),
            N as c_int,
            dims,
            ptr::null_mut(),
            data,
            flags,
            ptr::null_mut(),
        );
        let array = Bound::from_owned_ptr_or_err(py, array)?;
        let status = PY_ARRAY_API.PyArray_SetBaseObject(
            py,
            array.as_ptr().cast::<PyArrayObject>(),
            owner.into_ptr(),
        );
        if status != 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(array)
    }
}
