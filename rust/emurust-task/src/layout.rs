//! How one machine's records are laid out in bytes: observation, info and watched RAM.

/// Element type of an observation field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DType {
    /// Unsigned byte.
    U8,
    /// Signed byte (Gymnasium's dtype for `MultiBinary`).
    I8,
    /// Single precision float, little endian.
    F32,
}

impl DType {
    /// Bytes of one element, which is also the alignment of a field of this type.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            DType::U8 | DType::I8 => 1,
            DType::F32 => 4,
        }
    }

    /// The numpy name: `"uint8"`, `"int8"` or `"float32"`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            DType::U8 => "uint8",
            DType::I8 => "int8",
            DType::F32 => "float32",
        }
    }
}

/// The values that a field can have, in Gymnasium's terms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ObsSpace {
    /// `Box(low, high)`.
    Box {
        /// Least value.
        low: f64,
        /// Greatest value.
        high: f64,
    },
    /// `MultiBinary`: 0 or 1.
    MultiBinary,
    /// `MultiDiscrete`: 0 to `n - 1` in every element.
    MultiDiscrete {
        /// Number of values.
        n: u32,
    },
}

/// One field of the observation record.
#[derive(Debug, Clone, PartialEq)]
pub struct ObsField {
    /// Name, the key in a Dict observation.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Shape, row major.
    pub shape: Vec<usize>,
    /// First byte in the record; a multiple of the element size.
    pub offset: usize,
    /// What values the elements can have.
    pub space: ObsSpace,
}

impl ObsField {
    /// Bytes that the field takes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.size()
    }

    /// Whether the field takes no bytes at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What an info value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InfoKind {
    /// A named progress value of the task.
    Progress,
    /// What a reward term has given since the reset.
    RewardTerm,
}

/// One of the `f32` values that accompany each step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InfoField {
    /// Name: as in the task file; reward terms have the prefix `reward/`.
    pub name: String,
    /// What it is.
    pub kind: InfoKind,
}

/// One entry of the watched RAM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchField {
    /// What was asked for: a name or an address.
    pub name: String,
    /// First byte in the machine's watch record.
    pub offset: usize,
    /// Number of bytes.
    pub len: usize,
}
