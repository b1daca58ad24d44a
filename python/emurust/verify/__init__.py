"""Verification of EmuRust against PyBoy."""
