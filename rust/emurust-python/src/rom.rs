//! `Rom`: a cartridge image, parsed once and shared by the machines that run it.

use std::sync::Arc;

use emurust_core::Rom as CoreRom;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::errors::ToPyErr;
use crate::gate;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Rom>()
}

/// A checked cartridge image.
///
/// image: the whole file. Raises RomError (or its subclasses RomSizeError and
/// UnsupportedMapperError) when it is not a ROM this machine can run.
#[pyclass(frozen, module = "emurust._emurust")]
pub(crate) struct Rom(pub(crate) Arc<CoreRom>);

#[pymethods]
impl Rom {
    #[new]
    fn new(py: Python<'_>, image: PyBackedBytes) -> PyResult<Self> {
        let parsed = py.detach(|| gate::guarded(|| Ok(CoreRom::from_bytes(&image))))?;
        parsed.map(Self).map_err(|error| error.to_py_err())
    }

    /// The whole image.
    fn image<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.image())
    }

    /// A 64-bit hash of the image (FNV-1a), by which a state knows its cartridge.
    #[getter]
    fn fingerprint(&self) -> u64 {
        self.0.fingerprint()
    }

    /// Title in the header, up to its first zero byte.
    #[getter]
    fn title(&self) -> &str {
        &self.0.header().title
    }

    /// The byte at 0x0147.
    #[getter]
    fn cartridge_type(&self) -> u8 {
        self.0.header().cartridge_type
    }

    /// The mapper's usual name, such as "MBC3".
    #[getter]
    fn mapper(&self) -> &'static str {
        self.0.header().mapper.name()
    }

    #[getter]
    fn has_ram(&self) -> bool {
        self.0.header().has_ram
    }

    #[getter]
    fn has_battery(&self) -> bool {
        self.0.header().has_battery
    }

    #[getter]
    fn has_rtc(&self) -> bool {
        self.0.header().has_rtc
    }

    #[getter]
    fn has_rumble(&self) -> bool {
        self.0.header().has_rumble
    }

    /// Number of 16 KiB banks in the image.
    #[getter]
    fn rom_banks(&self) -> usize {
        self.0.header().rom_banks
    }

    /// Number of 16 KiB banks that the header promises; None for an unknown code.
    #[getter]
    fn declared_rom_banks(&self) -> Option<usize> {
        self.0.header().declared_rom_banks
    }

    /// Number of 8 KiB cartridge RAM banks the machine has for this cartridge.
    #[getter]
    fn ram_banks(&self) -> usize {
        self.0.header().ram_banks
    }

    /// The byte at 0x0149.
    #[getter]
    fn ram_size_code(&self) -> u8 {
        self.0.header().ram_size_code
    }

    /// The byte at 0x0143; bit 7 set: has Game Boy Color features.
    #[getter]
    fn cgb_flag(&self) -> u8 {
        self.0.header().cgb_flag
    }

    /// The byte at 0x0146; 0x03: has Super Game Boy features.
    #[getter]
    fn sgb_flag(&self) -> u8 {
        self.0.header().sgb_flag
    }

    /// The mask ROM version at 0x014C.
    #[getter]
    fn version(&self) -> u8 {
        self.0.header().version
    }

    /// The header checksum at 0x014D, which is right in every `Rom`.
    #[getter]
    fn header_checksum(&self) -> u8 {
        self.0.header().header_checksum
    }

    /// The checksum at 0x014E, 16 bits.
    #[getter]
    fn global_checksum(&self) -> u16 {
        self.0.header().global_checksum
    }

    /// What the checksum at 0x014E should be, 16 bits.
    #[getter]
    fn computed_global_checksum(&self) -> u16 {
        self.0.header().computed_global_checksum
    }
}
