"""Packed: the data of an event as SQLite stores it. Long JSON is deflated, short JSON stays text.

Nine tenths of a ledger are prompts and answers, and of the prompts most is what every prompt says.
So zlib is given those words beforehand: `packed_1.txt`, the wording of all procedures as it was
when the file was made. What is packed names in its head the words that it needs (zlib's DICTID) and
cannot be read without them: such a file never changes. Where prompts have moved far from it, a
second one joins it, with a migration, so that older programs leave the database alone.

PostgreSQL packs long values by itself.
"""

from __future__ import annotations

import zlib
from functools import cache
from importlib.resources import files

SHORTEST = 128
"""Bytes: below that, a row is not worth the work."""
_NEWEST = "packed_1.txt"
_KNOWN = (_NEWEST,)
_MOST = 1 << 30
"""Bytes that are unpacked at most: far more than any event has."""


def pack(data: str) -> str | bytes:
    """What to store: bytes if that is shorter, else the text itself."""
    plain = data.encode()
    if len(plain) < SHORTEST:
        return data
    packer = _packer().copy()
    packed = packer.compress(plain) + packer.flush()
    return packed if len(packed) < len(plain) else data


def unpack(stored: str | bytes) -> str:
    """The text that was packed. ValueError if the bytes are none of ours."""
    if isinstance(stored, str):
        return stored
    words = _all_words().get(int.from_bytes(stored[2:6], "big"))
    if words is None:
        raise ValueError("it was packed with words that are not known here")
    unpacker = zlib.decompressobj(zdict=words)
    try:
        plain = unpacker.decompress(stored, _MOST)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("it does not end where it should")
    return plain.decode()


@cache
def _packer() -> zlib._Compress:
    """Copied for each event: to read the words in takes longer than to pack most of them."""
    return zlib.compressobj(zdict=_words(_NEWEST))


@cache
def _all_words() -> dict[int, bytes]:
    return {zlib.adler32(words): words for words in map(_words, _KNOWN)}


@cache
def _words(name: str) -> bytes:
    # However the file came here: the bytes are those that it was made with.
    return (files(__package__) / name).read_bytes().replace(b"\r\n", b"\n")
