"""The guard: what a search finds is cleaned here before anything else sees it. Hits are plain words
(no markup, no scripts, nothing hidden, not too long) from public http(s) addresses.

Nothing is resolved. A name that is public here can still lead to a private address: whoever fetches
a page does it by `net.request(…, untrusted=True)`, which looks at the address it connects to.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

from ..core.addresses import is_public_address
from ..core.errors import SearchError
from ..core.pattern import pattern
from ..core.text import clip, redact
from ..core.values import SearchHit
from ..ports import Search

ELSEWHERE = "Try again later, choose another search in the settings, or ask with --no-search."
MAX_LENGTH = 2000

# Names that the public DNS does not have, or has only to point back at the asker.
# fmt: off
_PRIVATE_NAMES = frozenset([
    "localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "localdomain",
    "svc", "arpa", "test", "invalid", "example", "onion", "alt", "nip.io", "sslip.io", "xip.io",
    "localtest.me", "lvh.me", "vcap.me", "fuf.me", "lacolhost.com",
])
# fmt: on
_LABEL = pattern(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_BRACKETED = pattern(r"\[[^\[\]]+\](?::\d+)?")
_IPV4_PART = pattern(r"0x[0-9a-f]*|[0-9]+")


def is_public(url: str) -> bool:
    """Whether this is the http(s) address of a public place, without a user in it."""
    if len(url) > MAX_LENGTH or any(_is_odd(char) for char in url):
        return False
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc or port == 0:
        return False
    if "[" in parts.netloc:
        return bool(_BRACKETED.fullmatch(parts.netloc)) and _is_public_ipv6(host)
    return _is_public_name(host)


def _is_odd(char: str) -> bool:
    """Whether a character has no place in an address, or is read differently by different readers:
    blanks, controls, what nobody sees."""
    return char in '\\<>"' or unicodedata.category(char)[0] in "CZ"


def _is_public_name(host: str) -> bool:
    # Browsers and resolvers read full-width letters and digits, and other full stops, as these.
    name = unicodedata.normalize("NFKC", host).replace("。", ".").lower().removesuffix(".")
    try:
        labels = name.encode("idna").decode("ascii").split(".")
    except UnicodeError:
        return False
    if not all(_LABEL.fullmatch(label) for label in labels):
        return False
    if _IPV4_PART.fullmatch(labels[-1]):
        address = _ipv4(labels)
        return address is not None and is_public_address(address)
    tails = {".".join(labels[start:]) for start in range(len(labels))}
    return len(labels) > 1 and not tails & _PRIVATE_NAMES


def _ipv4(labels: list[str]) -> IPv4Address | None:
    """An IPv4 address in any spelling that is understood: 127.1, 0x7f000001, 0177.0.0.1 …"""
    if len(labels) > 4 or not all(_IPV4_PART.fullmatch(label) for label in labels):
        return None
    try:
        *firsts, last = (_number(label) for label in labels)
    except ValueError:
        return None
    if any(number > 255 for number in firsts) or last >= 256 ** (4 - len(firsts)):
        return None
    value = last
    for place, number in enumerate(firsts):
        value += number << (8 * (3 - place))
    return IPv4Address(value)


def _number(label: str) -> int:
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8) if label.startswith("0") else int(label)


def _is_public_ipv6(host: str) -> bool:
    try:
        return is_public_address(IPv6Address(host))
    except ValueError:
        return False


MAX_RAW = 20_000
"""Characters of a field that are looked at; what comes after them is not missed."""
_LAYERS = 3
"""How many layers of `&amp;lt;` or of tags in tags are taken off. What is wrapped deeper is shown
as text, without the brackets that make a tag."""
_BLOCKS = pattern(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|noscript|iframe|svg)\b"
    r".*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_TAG = pattern(r"</?[a-zA-Z!?/][^<>]*>|<[a-zA-Z][^<>=]*=[^<>]*\Z")
"""A tag, or one that was cut off at the end together with its page."""
_INLINE_TAG = pattern(
    r"</?(?:a|b|code|em|i|mark|span|strong|sub|sup|u)(?:\s[^<>]*)?>", re.IGNORECASE
)
"""Tags that stand inside of sentences and words, as those around the words searched for."""
_TAG_OPENING = pattern(r"(?<!<)<+(?=[a-zA-Z!?/])")
_PICTURE = pattern(r"!+(?=\[)")
_JOINERS = "\u200c\u200d"
"""Parts of Persian words and of emoji, which look like hidden characters and are not."""


def clean(text: str, limit: int) -> str:
    """At most `limit` characters of plain text on one line."""
    text = text[:MAX_RAW]
    for _ in range(_LAYERS):
        unescaped = html.unescape(text)
        if unescaped == text:
            break
        text = unescaped
    # Hidden characters first: `<scr\u200bipt>` must not become a tag afterwards.
    text = _stripped(_shown(text))
    # Programs that show Markdown fetch its pictures, and an address can carry words away.
    return clip(_PICTURE.sub("", " ".join(text.split())), limit)


def _shown(text: str) -> str:
    """Without characters that nobody sees: controls, text directions, tags, private ones."""
    return "".join(
        " " if char.isspace() else char
        for char in text
        if char.isspace() or char in _JOINERS or not _is_hidden(char)
    )


def _is_hidden(char: str) -> bool:
    # Of the variation selectors, the later ones are known to carry hidden messages.
    return unicodedata.category(char).startswith("C") or "\U000e0100" <= char <= "\U000e01ef"


def _stripped(text: str) -> str:
    """Without markup, also where taking a tag away makes a new one of what was around it."""
    for _ in range(_LAYERS):
        text = _TAG.sub(" ", _BLOCKS.sub(" ", _INLINE_TAG.sub("", text)))
    return _TAG_OPENING.sub("", text)


MAX_HITS = 20
MAX_TITLE = 200
MAX_TEXT = 1500
MAX_QUERY = 400
MAX_QUERY_WORDS = 50
"""Brave and Tavily take no more, and no search does better with more."""


class Guarded:
    """A search whose hits are plain text from public addresses and whose errors tell no secrets."""

    def __init__(self, search: Search) -> None:
        self._search = search

    @property
    def name(self) -> str:
        return self._search.name

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        """At most `count` clean hits. SearchError if the search fails, however it does."""
        count = max(1, min(count, MAX_HITS))
        try:
            found = await self._search.find(as_query(query), count)
        except SearchError:
            raise
        except Exception as error:
            # Its own words may hold anything, an address with a key in it included.
            raise SearchError(
                f"The search failed ({self.name}, {type(error).__name__}).", ELSEWHERE
            ) from None
        return kept(found, count)


def as_query(topic: str) -> str:
    """A topic as it is sent to a stranger: one line, not too long, without credentials."""
    words = redact(topic).split()[:MAX_QUERY_WORDS]
    return clip(" ".join(words), MAX_QUERY, ellipsis="")


def kept(found: Iterable[SearchHit], count: int) -> list[SearchHit]:
    """The first `count` hits that may be shown, cleaned, each place and each text once."""
    hits: list[SearchHit] = []
    seen: set[str] = set()
    for hit in found:
        if len(hits) == count:
            break
        url = hit.url.strip()
        if not is_public(url):
            continue
        title, text = clean(hit.title, MAX_TITLE), clean(hit.text, MAX_TEXT)
        marks = {_place(url), text or url}
        if seen & marks or not (title or text):
            continue
        seen |= marks
        hits.append(SearchHit(title=title or urlsplit(url).netloc, url=url, text=text))
    return hits


def _place(url: str) -> str:
    """What two spellings of one address have in common."""
    parts = urlsplit(url)
    query = "&".join(p for p in parts.query.split("&") if not p.lower().startswith("utm_"))
    host = (parts.hostname or "").removeprefix("www.")
    return f"{host}:{parts.port or ''}{parts.path.rstrip('/')}?{query}"
