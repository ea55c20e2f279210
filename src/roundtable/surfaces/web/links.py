"""Links: who may do what, written into the address itself and signed. Nothing is stored for them.

A token says which discussion it opens and as whom; the key of this installation signs it, so a
token that was not given out by it does not exist. Whoever deletes the key's file withdraws all of
them at once.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

from ...core.errors import BadSetting
from ...private import private_folder, put_key

Role = Literal["viewer", "seat", "host"]
ROLES: tuple[Role, ...] = get_args(Role)

KEY_FILE = "web.key"
_KEY_BYTES = 32
_MAC_BYTES = 20
"""160 bits: nobody guesses a link."""
_LONGEST = 2048


@dataclass(frozen=True, slots=True)
class Grant:
    """What a link allows."""

    discussion_id: str
    role: Role
    seat: str = ""
    """The participant for whom a link with the role `seat` speaks."""
    expires: datetime | None = None
    locked: bool = False
    """Whether it opens only with its password."""


class Links:
    """Gives out tokens and reads them again. Equal keys give equal tokens, in every process."""

    def __init__(self, key: bytes) -> None:
        if len(key) < _KEY_BYTES:
            raise ValueError(f"a key has at least {_KEY_BYTES} bytes")
        self._key = key

    def token(
        self,
        discussion_id: str,
        role: Role = "viewer",
        *,
        seat: str = "",
        expires: datetime | None = None,
        password: str = "",
    ) -> str:
        """The token for one discussion. The same arguments give the same token, except that one
        with a password is new each time."""
        fields: list[object] = [discussion_id, ROLES.index(role), seat]
        lock = ""
        if password:
            salt = secrets.token_hex(8)
            lock = salt + self._lock(salt, password)
        if expires is not None or lock:
            fields.append(int(expires.timestamp()) if expires is not None else 0)
        if lock:
            fields.append(lock)
        payload = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
        return _text(self._mac(b"link", payload) + payload)

    def read(self, token: str, *, now: datetime) -> Grant | None:
        """What a token allows; None if it was not given out here, or its time is over."""
        fields = self._fields(token)
        if fields is None:
            return None
        discussion_id, role, seat, stamp, lock = fields
        expires = datetime.fromtimestamp(stamp, UTC) if stamp else None
        if expires is not None and now >= expires:
            return None
        return Grant(discussion_id, ROLES[role], seat, expires, locked=bool(lock))

    def opens(self, token: str, password: str) -> bool:
        """Whether this is the password of a locked token."""
        fields = self._fields(token)
        if fields is None or not fields[4]:
            return False
        salt, lock = fields[4][:16], fields[4][16:]
        return hmac.compare_digest(self._lock(salt, password), lock)

    def pass_for(self, token: str) -> str:
        """What a browser keeps once it has opened a locked token."""
        return _text(self._mac(b"pass", token.encode("utf-8", "replace")))

    @property
    def owner_key(self) -> str:
        """Opens the list, the form and every API of this installation."""
        return _text(self._mac(b"owner", b""))

    @property
    def session(self) -> str:
        """What the owner's browser keeps in place of the key."""
        return _text(self._mac(b"session", b""))

    @property
    def name(self) -> str:
        """A short public name of this installation. Browsers share cookies among all ports of a
        host, so the names of ours must tell installations apart."""
        return self._mac(b"name", b"").hex()[:8]

    def is_owner(self, key: str) -> bool:
        return _equal(key, self.owner_key)

    def is_session(self, value: str) -> bool:
        return _equal(value, self.session)

    def is_pass(self, value: str, token: str) -> bool:
        return _equal(value, self.pass_for(token))

    def proof(self, challenge: str) -> str:
        """Shows that whoever answers holds the key, without showing the key."""
        return _text(self._mac(b"proof", challenge.encode("utf-8", "replace")))

    def _lock(self, salt: str, password: str) -> str:
        # Keyed, so that whoever holds the link cannot try passwords without asking us.
        return self._mac(b"lock", f"{salt}{password}".encode("utf-8", "replace")).hex()

    def _mac(self, purpose: bytes, data: bytes) -> bytes:
        return hmac.digest(self._key, purpose + b"\0" + data, hashlib.sha256)[:_MAC_BYTES]

    def _fields(self, token: str) -> tuple[str, int, str, int, str] | None:
        """The signed fields, or None. Only what has our signature is parsed at all."""
        if len(token) > _LONGEST or not token.isascii():
            return None
        try:
            data = urlsafe_b64decode(token + "=" * (-len(token) % 4))
        except ValueError:
            return None
        mac, payload = data[:_MAC_BYTES], data[_MAC_BYTES:]
        # Base64 has several spellings of one value; a link has exactly one.
        if not hmac.compare_digest(mac, self._mac(b"link", payload)) or _text(data) != token:
            return None
        parts = json.loads(payload)
        stamp = parts[3] if len(parts) > 3 else 0
        lock = parts[4] if len(parts) > 4 else ""
        return parts[0], parts[1], parts[2], stamp, lock


def load_links(home: Path) -> Links:
    """The links of this installation; its key is made on first use. Processes that come at the
    same time get the same one."""
    path = home / KEY_FILE
    try:
        if not path.exists():
            private_folder(home)
            put_key(path, secrets.token_hex(_KEY_BYTES))
        key = path.read_bytes().strip()
    except OSError as error:
        raise BadSetting(
            str(path), "the file", f"a place for the page's key ({error.strerror})"
        ) from None
    try:
        return Links(bytes.fromhex(key.decode("ascii")))
    except ValueError:
        expected = f"{2 * _KEY_BYTES} hexadecimal digits; delete the file to get a new key"
        raise BadSetting(str(path), "the key", expected) from None


def _equal(given: str, ours: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), ours.encode("ascii"))


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
