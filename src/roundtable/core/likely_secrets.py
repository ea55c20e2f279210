"""Likely secrets in what somebody is about to send: keys, tokens, private keys, passwords.

What is told of them is where they stand and what they look like, never they themselves. It is
better to miss a weak one than to cry wolf: examples and placeholders are not counted, and a value
that stands behind `password=` has to look like one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from .pattern import pattern
from .text import ASSIGNED_SECRET, REDACTED, SECRETS

_KINDS = (
    ("a private key", pattern(r"-----BEGIN")),
    ("a signed token (JWT)", pattern(r"eyJ")),
    ("a cloud access key", pattern(r"AKIA|ASIA")),
    ("an API key or token", pattern(r"[A-Za-z]{2,6}[-_]|AIza|\d+:")),
)
_SECRET_ADDRESS = pattern(
    r"https://(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks)/[\w/\-]{20,}"
    r"|\bAccountKey=[A-Za-z0-9+/]{40,}={0,2}"
)
_PASSWORD = pattern(r"(?<=://)[^\s/:@]*:(?P<word>[^\s/@]+)(?=@)")
_EXAMPLE = pattern(
    r"(?i)example|sample|dummy|placeholder|changeme|change-me|redacted|your[-_ ]|my[-_]?(?:secret"
    r"|pass|token|key)|xxx|\*\*\*|\.\.\.|…|\$\{|\$\(|\{\{|<[^>]+>|^\$?[A-Z_]+$|^(?:user|pass"
    r"|password|passwd|pwd|secret|token|test|root|postgres|admin|pw)$"
)
_NAMED = pattern(
    r"""(?ix)(?:passw(?:or)?d|passphrase|(?<![a-z])pwd)["']?
    \s{0,20}(?:=>?|:=?)[ \t]{0,20}
    (?:"(?P<double>[^"\n]{8,200})"|'(?P<single>[^'\n]{8,200})'
    |(?P<word>[^\s"'`,;<>(){}\[\]]{8,200}+)(?![(\[{<]))""",
    re.MULTILINE,
)
_NETRC = pattern(
    r"^(?:.{0,300}\blogin[ \t]{1,20}\S{1,200})?[ \t]{0,40}\bpassword[ \t]{1,20}"
    r"(?P<word>\S{8,200})[ \t]{0,20}$",
    re.MULTILINE,
)
"""What stands behind the name of a password: in settings, in JSON, in a netrc."""
_OWNERS_LINK = pattern(r"https?://[^\s/?#]+/\?key=(?P<key>[\w\-]{16,})")
_UNSEEN = pattern("[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]")
"""What has no width: a copy from a page may carry it within a token."""
_LEAST_SURPRISE = 3.0
"""Bits a character of a value that stands behind a name; words have fewer."""


@dataclass(frozen=True, slots=True)
class LikelySecret:
    """Where something stands that looks like a secret."""

    kind: str
    line: int
    start: int
    end: int
    begins: str
    """Its first characters, by which its owner knows it."""

    def __str__(self) -> str:
        return f"line {self.line}: {self.kind} ({self.begins}…)"


def likely_secrets(text: str) -> list[LikelySecret]:
    """All that look like one, in order."""
    found: dict[int, LikelySecret] = {}
    for kind, start, end in _in_the_text(text):
        if not any(each.start <= start < each.end for each in found.values()):
            line = text.count("\n", 0, start) + 1
            found[start] = LikelySecret(kind, line, start, end, _begins(text[start:end]))
    return [found[start] for start in sorted(found)]


def without_secrets(text: str) -> str:
    """The text with a mark in place of each of them."""
    parts, end = [], 0
    for each in likely_secrets(text):
        parts += [text[end : each.start], REDACTED]
        end = each.end
    return "".join([*parts, text[end:]])


def _in_the_text(text: str) -> Iterator[tuple[str, int, int]]:
    """Those that a reader sees, by where they stand: what has no width hides none."""
    if _UNSEEN.search(text) is None:
        yield from _found(text)
        return
    places = [at for at, char in enumerate(text) if not _UNSEEN.match(char)]
    for kind, start, end in _found(_UNSEEN.sub("", text)):
        yield kind, places[start], places[end - 1] + 1


def _found(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _OWNERS_LINK.finditer(text):
        if not _EXAMPLE.search(match["key"]):
            yield "a link with its owner's key", match.start("key"), match.end("key")
    for match in _SECRET_ADDRESS.finditer(text):
        yield "an address that lets others write", match.start(), match.end()
    for match in _PASSWORD.finditer(text):
        if not _EXAMPLE.search(match["word"]):
            yield "a password in an address", match.start(), match.end()
    for match in SECRETS.finditer(text):
        if match.start() and text[match.start() - 1] == "/" and "@" in text[match.end() :][:1]:
            continue  # a password in an address: judged above
        if not _EXAMPLE.search(match[0].removeprefix("-----BEGIN")[:200]):
            yield _kind(match[0]), match.start(), match.end()
    for match in ASSIGNED_SECRET.finditer(text):
        value = match[0][len(match[1]) :]
        if _looks_drawn(value):
            yield "a password or token", match.start() + len(match[1]), match.end()
    for match in _NETRC.finditer(text):
        if _looks_chosen(match["word"]):
            yield "a password", match.start("word"), match.end("word")
    for match in _NAMED.finditer(text):
        group = next(each for each in ("double", "single", "word") if match[each])
        value = match[group] if group != "word" else match[group].rstrip(".:")
        if _looks_chosen(value):
            yield "a password", match.start(group), match.start(group) + len(value)


def _kind(value: str) -> str:
    return next((kind for kind, pattern in _KINDS if pattern.match(value)), "a key or token")


def _looks_drawn(value: str) -> bool:
    """Whether a value was drawn by chance rather than written: several kinds of signs, and no
    repetition."""
    if _EXAMPLE.search(value) or len(value) < 16:
        return False
    kinds = [any(map(test, value)) for test in (str.isdigit, str.islower, str.isupper)]
    shares = [count / len(value) for count in Counter(value).values()]
    return sum(kinds) >= 2 and -sum(p * math.log2(p) for p in shares) >= _LEAST_SURPRISE


def _looks_chosen(value: str) -> bool:
    """Whether a value is one that somebody chose for a password: no word and no code, but letters
    with digits among them."""
    if len(value) < 8 or " " in value or _EXAMPLE.search(value) or _CODE.search(value):
        return False
    letters = [char for char in value if char.isalpha()]
    digits = sum(map(str.isdigit, value))
    return digits > 0 and len(letters) > 1 and len(set(value)) >= 6


_CODE = pattern(r"\w\(|\w\.\w+\.\w|^[$%@]|::|://|^(?:\w+[/.])+[A-Za-z]+$")
"""A call, an attribute, a variable, an address or a path in place of a value."""


def _begins(value: str) -> str:
    return value[:10] if value.startswith("-----BEGIN") else value[:4]
