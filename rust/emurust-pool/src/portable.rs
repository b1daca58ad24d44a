//! Doing without what only Linux has, on Linux: so that the ways of other systems are tested.

/// Whether the environment variable `EMURUST_PORTABLE` is set, to anything but 0. Looked at once;
/// worker processes inherit it.
pub(crate) fn forced() -> bool {
    use std::sync::OnceLock;

    static FORCED: OnceLock<bool> = OnceLock::new();
    *FORCED.get_or_init(|| {
        std::env::var_os("EMURUST_PORTABLE").is_some_and(|value| !value.is_empty() && value != "0")
    })
}
