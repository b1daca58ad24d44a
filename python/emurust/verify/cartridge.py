"""Cartridge images for hand-made test programs."""

from __future__ import annotations

from emurust.verify.asm import assemble
from emurust.verify.errors import CartridgeImageError

BANK_SIZE = 0x4000

_HEADER_FIRST, _HEADER_LAST = 0x0134, 0x014C


def build_cartridge(
    program: bytes,
    *,
    cartridge_type: int = 0x00,
    ram_size_code: int = 0x00,
    banks: int = 2,
    title: str = "VERIFY",
) -> bytes:
    """A cartridge image with a valid header around ``program``.

    ``program`` starts at address 0000 and may fill everything; its bytes at
    0134-014F are replaced by the header. The header has no logo: PyBoy's boot
    program does not look for one.

    Raises:
        CartridgeImageError: the program does not fit into ``banks``, or these are
            not a power of two from 2 to 512.
    """
    if banks not in (2 << n for n in range(9)):
        raise CartridgeImageError(f"a cartridge has 2, 4, 8 ... 512 banks, not {banks}")
    size = banks * BANK_SIZE
    if len(program) > size:
        raise CartridgeImageError(
            f"the program has {len(program)} bytes, {banks} banks hold {size}"
        )
    image = bytearray(program.ljust(size, b"\0"))
    image[0x0134:0x0150] = bytes(0x1C)
    encoded = title.encode("ascii")[:15]
    image[0x0134 : 0x0134 + len(encoded)] = encoded
    image[0x0147] = cartridge_type
    image[0x0148] = banks.bit_length() - 2
    image[0x0149] = ram_size_code
    checksum = 0
    for byte in image[_HEADER_FIRST : _HEADER_LAST + 1]:
        checksum = (checksum - byte - 1) & 0xFF
    image[0x014D] = checksum
    total = sum(image) & 0xFFFF
    image[0x014E:0x0150] = total.to_bytes(2, "big")
    return bytes(image)


def assemble_cartridge(
    source: str,
    *,
    cartridge_type: int = 0x00,
    ram_size_code: int = 0x00,
    banks: int = 2,
    names: dict[str, int] | None = None,
) -> bytes:
    """Assemble ``source`` (entered at 0150) into a cartridge image.

    The program may place interrupt handlers with ``ORG``: statements start at
    address 0000, the entry jump at 0100 is added here.
    """
    code = assemble(source, 0, names)
    entry = assemble("NOP\nJP $0150")
    program = bytearray(code.ljust(0x0150, b"\0"))
    if any(program[0x0100:0x0150]):
        raise CartridgeImageError("addresses 0100-014F belong to the entry and the header")
    program[0x0100 : 0x0100 + len(entry)] = entry
    return build_cartridge(
        bytes(program), cartridge_type=cartridge_type, ram_size_code=ram_size_code, banks=banks
    )
