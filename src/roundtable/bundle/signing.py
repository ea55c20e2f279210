"""Signatures over the head of a bundle: Ed25519, with the extra `sign`."""

from __future__ import annotations

import secrets
from pathlib import Path

from ..core.errors import NotAllowed, UsageError
from ..core.extras import needs
from ..private import private_folder, put_key
from .reading import Signature
from .writing import SIGNED

KEY_FILE = "bundle.key"


class BundleKey:
    """A user's own key. Its public half stands in every bundle that it signs."""

    def __init__(self, secret: bytes) -> None:
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        except ImportError:
            raise needs("Signing", "sign") from None
        self._key = Ed25519PrivateKey.from_private_bytes(secret)
        self.public_key = self._key.public_key().public_bytes_raw().hex()

    def sign(self, message: bytes) -> str:
        return self._key.sign(message).hex()


def load_key(home: Path) -> BundleKey:
    """The key in the user's home, made on first use."""
    path = home / KEY_FILE
    private_folder(home)
    if not path.exists():
        put_key(path, secrets.token_bytes(32).hex() + "\n")
    try:
        return BundleKey(bytes.fromhex(path.read_text("ascii").strip()))
    except ValueError:
        raise NotAllowed(
            f"{path} holds no key of 32 bytes in hex.", "Move it away; a new one will be made."
        ) from None


def own_public_key(home: Path) -> str | None:
    """The public half of the user's own key, if there is one already."""
    try:
        return load_key(home).public_key if (home / KEY_FILE).is_file() else None
    except (NotAllowed, UsageError, OSError):
        return None


def is_genuine(signature: Signature, head: str) -> bool | None:
    """Whether the key that the bundle names signed this head; None if that cannot be found out
    here, because cryptography is not installed."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        return None
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature.public_key))
        key.verify(bytes.fromhex(signature.signature), SIGNED + head.encode())
    except (InvalidSignature, ValueError):
        return False
    return True
