//! One block of zeroed memory for everything that trainer and workers share.
//!
//! Control data is reached as atomics only. Array data (observations, rewards and so on) is
//! reached through raw pointers by whoever has the machine's turn; see `slot.rs`.

#![expect(
    unsafe_code,
    reason = "shared memory is reached through pointers; every access is checked against its bounds"
)]

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicU8};

use memmap2::{MmapMut, MmapOptions, MmapRaw};

/// The block. Freed when the last owner lets go of it.
#[derive(Debug)]
pub struct Memory {
    map: MmapRaw,
    len: usize,
}

impl Memory {
    /// Memory of this process.
    ///
    /// # Errors
    /// The system's, when there is not as much.
    pub fn private(len: usize) -> io::Result<Self> {
        let map = MmapRaw::from(MmapMut::map_anon(len)?);
        Ok(Self { map, len })
    }

    /// Memory that other processes can map too: they get the file, which has no name in the
    /// file system, so that nothing of it can be left behind.
    ///
    /// # Errors
    /// The system's, when there is not as much.
    #[cfg(unix)]
    pub fn shared(len: usize) -> io::Result<(Self, File)> {
        let file = nameless_file(len)?;
        Ok((Self::map(&file, len)?, file))
    }

    /// Maps what [`Memory::shared`] made.
    ///
    /// # Errors
    /// The system's.
    pub fn open(file: &File) -> io::Result<Self> {
        let len = usize::try_from(file.metadata()?.len())
            .map_err(|_| io::Error::other("it is larger than this process can address"))?;
        Self::map(file, len)
    }

    fn map(file: &File, len: usize) -> io::Result<Self> {
        let map = MmapOptions::new().len(len).map_raw(file)?;
        Ok(Self { map, len })
    }

    /// Bytes of the block.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A pointer to `len` bytes from `offset`, valid while this value lives.
    ///
    /// # Panics
    /// If they are not all inside.
    #[must_use]
    pub fn pointer(&self, offset: usize, len: usize) -> *mut u8 {
        let inside = offset.checked_add(len).is_some_and(|end| end <= self.len);
        assert!(inside, "{len} bytes at {offset} of a block of {}", self.len);
        self.map.as_mut_ptr().wrapping_add(offset)
    }

    fn atomics<T>(&self, offset: usize, count: usize) -> &[T] {
        let pointer = self.pointer(offset, count * size_of::<T>()).cast::<T>();
        assert!(pointer.is_aligned(), "offset {offset} is not aligned");
        // SAFETY: `pointer` is in bounds (asserted), aligned (asserted), and lives as long as
        // `self`. This private function is called with atomics only, for which every bit
        // pattern is valid and which others, also in other processes, may change meanwhile.
        // Control data, for which it is used, is never reached in another way.
        unsafe { std::slice::from_raw_parts(pointer, count) }
    }

    pub(crate) fn u8s(&self, offset: usize, count: usize) -> &[AtomicU8] {
        self.atomics(offset, count)
    }

    pub(crate) fn u32(&self, offset: usize) -> &AtomicU32 {
        &self.atomics(offset, 1)[0]
    }

    pub(crate) fn u64s(&self, offset: usize, count: usize) -> &[AtomicU64] {
        self.atomics(offset, count)
    }

    pub(crate) fn u64(&self, offset: usize) -> &AtomicU64 {
        &self.u64s(offset, 1)[0]
    }

    /// Copies bytes in. The caller has the turn for them.
    pub(crate) fn store(&self, offset: usize, bytes: &[u8]) {
        let pointer = self.pointer(offset, bytes.len());
        // SAFETY: in bounds (checked by `pointer`), and `bytes` is ordinary memory of this
        // process, which does not overlap with the block: no slices of the block are handed out
        // while its owner is reached through `store`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), pointer, bytes.len()) }
    }

    /// Copies bytes out. The caller has the turn for them.
    pub(crate) fn fetch(&self, offset: usize, bytes: &mut [u8]) {
        let pointer = self.pointer(offset, bytes.len());
        // SAFETY: as in `store`.
        unsafe { std::ptr::copy_nonoverlapping(pointer, bytes.as_mut_ptr(), bytes.len()) }
    }

    /// Copies bytes within the block; the ranges do not overlap.
    pub(crate) fn copy(&self, from: usize, to: usize, len: usize) {
        assert!(from + len <= to || to + len <= from, "ranges overlap");
        let (from, to) = (self.pointer(from, len), self.pointer(to, len));
        // SAFETY: both in bounds (checked by `pointer`) and apart (asserted).
        unsafe { std::ptr::copy_nonoverlapping(from, to, len) }
    }
}

#[cfg(unix)]
fn nameless_file(len: usize) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    if !crate::portable::forced() {
        return memory_file(len);
    }
    unlinked_file(len)
}

/// A file that is only in memory.
#[cfg(target_os = "linux")]
fn memory_file(len: usize) -> io::Result<File> {
    use rustix::fs::{
        fallocate, fcntl_add_seals, memfd_create, FallocateFlags, MemfdFlags, SealFlags,
    };

    let file = memfd_create(
        "emurust-pool",
        MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING,
    )?;
    let file = File::from(file);
    file.set_len(len as u64)?;
    // Taken now: running out of memory later would be a deadly signal instead of an error.
    fallocate(&file, FallocateFlags::empty(), 0, len as u64)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW)?;
    Ok(file)
}

/// A temporary file whose name is gone before it is used.
#[cfg(unix)]
fn unlinked_file(len: usize) -> io::Result<File> {
    use std::sync::atomic::{AtomicU64, Ordering};

    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = format!(
        "emurust-pool-{}-{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    );
    let path = std::env::temp_dir().join(name);
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    std::fs::remove_file(&path)?;
    file.set_len(len as u64)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn bytes_go_in_and_out() {
        let memory = Memory::private(4096).expect("memory");
        memory.store(10, &[1, 2, 3]);
        memory.copy(10, 100, 3);
        let mut bytes = [0; 3];
        memory.fetch(100, &mut bytes);
        assert_eq!(bytes, [1, 2, 3]);
        memory.u32(64).store(7, Ordering::Relaxed);
        assert_eq!(memory.u8s(64, 1)[0].load(Ordering::Relaxed), 7);
    }

    #[test]
    #[should_panic(expected = "of a block of")]
    fn nothing_outside_is_reached() {
        let memory = Memory::private(4096).expect("memory");
        let _ = memory.u32(4096);
    }

    #[cfg(unix)]
    #[test]
    fn two_mappings_see_the_same() {
        let (memory, file) = Memory::shared(8192).expect("memory");
        let other = Memory::open(&file).expect("mapping");
        memory.store(5000, &[9]);
        assert_eq!(other.u8s(5000, 1)[0].load(Ordering::Relaxed), 9);
        assert_eq!(other.len(), 8192);
    }

    #[cfg(unix)]
    #[test]
    fn so_do_two_of_a_file_without_a_name() {
        let file = unlinked_file(8192).expect("a file");
        let memory = Memory::open(&file).expect("mapping");
        let other = Memory::open(&file).expect("mapping");
        memory.store(5000, &[9]);
        assert_eq!(other.u8s(5000, 1)[0].load(Ordering::Relaxed), 9);
    }
}
