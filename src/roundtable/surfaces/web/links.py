"""Links: who may do what, written into the address itself and signed.

A link says which discussion it opens and as whom; the key of this installation signs it, so one
that was not given out by it does not exist. Nothing needs to be stored for it until it is ended:
then its id is kept, and the next one that is given out for the same end is another. Whoever
deletes the key's file withdraws all of them at once.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ...core.errors import BadSetting
from ...private import private_folder, put_key, put_private
from ...settings import Settings
from ..tokens.capability import OWNER, ROLES, Act, Capability, Role
from ..tokens.store import ENDED, FILE, KEY, Tokens, id_of, is_token, shared_of

KEY_FILE = KEY
_KEY_BYTES = 32
_MAC_BYTES = 20
"""160 bits: nobody guesses a link."""
_LONGEST = 2048


_ACTS: dict[Role, frozenset[Act]] = {
    "viewer": frozenset({"watch"}),
    "seat": frozenset({"speak"}),
    "host": frozenset({"lead"}),
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something that looks like a link or a token opens nothing."""

    why: str


class Links:
    """Gives out links and reads them again, and tokens as well: whatever a caller brings becomes
    a capability here. Equal keys give equal links, in every process."""

    def __init__(self, key: bytes, tokens: Tokens | None = None) -> None:
        if len(key) < _KEY_BYTES:
            raise ValueError(f"a key has at least {_KEY_BYTES} bytes")
        self._key = key
        self.tokens = tokens or Tokens(None)

    def token(
        self,
        discussion_id: str,
        role: Role = "viewer",
        *,
        seat: str = "",
        expires: datetime | None = None,
        password: str = "",
        by: Capability = OWNER,
    ) -> str:
        """The link to one discussion, given out by somebody: it ends with what that one holds.
        The same arguments give the same one until it is ended, except that one with a password is
        new each time."""
        ends = [each for each in (expires, by.expires) if each is not None]
        stamp = int(min(ends).timestamp()) if ends else 0
        lock = ""
        if password:
            salt = secrets.token_hex(8)
            lock = salt + self._lock(salt, password)
        edition = self.tokens.era
        while True:
            made = self._signed(discussion_id, role, seat, stamp, lock, edition, by.lineage)
            if not self.tokens.is_ended(id_of(made)):
                return made
            edition += 1

    def standing(self, discussion_id: str, seats: Iterable[str]) -> list[str]:
        """The links that a discussion has without anybody's asking."""
        roles: list[Role] = ["viewer", "host"]
        return [
            *(self.token(discussion_id, role) for role in roles),
            *(self.token(discussion_id, "seat", seat=seat) for seat in seats),
        ]

    def _signed(
        self,
        discussion_id: str,
        role: Role,
        seat: str,
        stamp: int,
        lock: str,
        edition: int,
        parents: tuple[str, ...],
    ) -> str:
        fields: list[object] = [discussion_id, ROLES.index(role), seat]
        more: list[object] = [stamp, lock, edition, list(parents)]
        while more and not more[-1]:  # short, and as links always were
            more.pop()
        payload = json.dumps([*fields, *more], ensure_ascii=False, separators=(",", ":")).encode()
        return _text(self._mac(b"link", payload) + payload)

    def read(self, secret: str, *, now: datetime) -> Capability | None:
        """What a link or a token allows; None if it was not given out here, has run out or was
        ended."""
        found = self.held(secret, now=now)
        return found if isinstance(found, Capability) else None

    def held(self, secret: str, *, now: datetime) -> Capability | Refusal:
        """The same, with the reason if it allows nothing. Only who really held it once is told
        more than that it opens nothing."""
        fields = None if is_token(secret) else self._fields(secret)
        found = self.tokens.find(secret) if fields is None else _capability(secret, fields)
        if found is None:
            known = is_token(secret) and self.tokens.is_ended(id_of(secret))
            return Refusal(ENDED if known else "")
        if fields is not None and fields.edition < self.tokens.era:
            return Refusal(ENDED)
        why = self.tokens.refusal(found, now)
        return Refusal(why) if why else found

    def find(self, secret: str) -> Capability | None:
        """What was given out, whether it still stands or not."""
        if is_token(secret):
            return self.tokens.find(secret)
        fields = self._fields(secret)
        return None if fields is None else _capability(secret, fields)

    def opens(self, token: str, password: str) -> bool:
        """Whether this is the password of a locked token."""
        fields = self._fields(token)
        if fields is None or not fields.lock:
            return False
        salt, lock = fields.lock[:16], fields.lock[16:]
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

    def signed(self, purpose: bytes, payload: bytes) -> str:
        """Words that we give out and want back as they were; anybody can read them."""
        return _text(self._mac(purpose, payload) + payload)

    def unsigned(self, purpose: bytes, text: str) -> bytes | None:
        """The words of what was signed here for this purpose; None for anything else."""
        try:
            data = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        except ValueError:
            return None
        mac, payload = data[:_MAC_BYTES], data[_MAC_BYTES:]
        return payload if hmac.compare_digest(mac, self._mac(purpose, payload)) else None

    def _lock(self, salt: str, password: str) -> str:
        # Keyed, so that whoever holds the link cannot try passwords without asking us.
        return self._mac(b"lock", f"{salt}{password}".encode("utf-8", "replace")).hex()

    def _mac(self, purpose: bytes, data: bytes) -> bytes:
        return hmac.digest(self._key, purpose + b"\0" + data, hashlib.sha256)[:_MAC_BYTES]

    def _fields(self, token: str) -> _Fields | None:
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
        more = dict(enumerate(parts))
        return _Fields(
            parts[0],
            parts[1],
            parts[2],
            more.get(3, 0),
            more.get(4, ""),
            more.get(5, 0),
            tuple(more.get(6, ())),
        )


@dataclass(frozen=True, slots=True)
class _Fields:
    discussion_id: str
    role: int
    seat: str
    stamp: int
    lock: str
    edition: int
    parents: tuple[str, ...]


def _capability(link: str, fields: _Fields) -> Capability:
    return Capability(
        acts=_ACTS[ROLES[fields.role]],
        id=id_of(link),
        discussions=frozenset({fields.discussion_id}),
        seat=fields.seat,
        channels=frozenset(),
        expires=datetime.fromtimestamp(fields.stamp, UTC) if fields.stamp else None,
        parents=fields.parents,
        locked=bool(fields.lock),
    )


def links_of(settings: Settings) -> Links:
    """The links of this installation, wherever its key is kept: in its home; or in the database
    where that is on a server, so that every process behind a balancer has the same. The home then
    has a copy, and what it had before is taken over if it was first."""
    links = load_links(settings.home)
    if (shared := shared_of(settings)) is None:
        return links
    path = settings.home / KEY_FILE
    own = path.read_text("ascii").strip()
    key = shared.settled(KEY, own)
    if key != own:
        put_private(path, key)
    elif (given_out := settings.home / FILE).exists():
        shared.settled(FILE, given_out.read_text("utf-8"))
    return Links(bytes.fromhex(key), Tokens(settings.home, shared=shared))


def load_links(home: Path) -> Links:
    """The links of the installation that has its key in this home; it is made on first use.
    Processes that come at the same time get the same one."""
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
        return Links(bytes.fromhex(key.decode("ascii")), Tokens(home))
    except ValueError:
        expected = f"{2 * _KEY_BYTES} hexadecimal digits; delete the file to get a new key"
        raise BadSetting(str(path), "the key", expected) from None


def _equal(given: str, ours: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), ours.encode("ascii"))


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
