"""Asset conversion for the KITHWILD cartridge."""
