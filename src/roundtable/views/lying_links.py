"""Links that lie: their words show another address than they have, or they lead where none should.

And what can be told of a text without reading it as Markdown: most hold nothing that could do harm.
"""

from __future__ import annotations

import re
import unicodedata
from html import unescape
from urllib.parse import unquote, urlsplit

_SUSPECT = re.compile(r"<[A-Za-z/!?@#]|!\[|\][(\[:]")
"""Without any of these there is nothing to be done, and most texts are without."""
_PLAIN_LINK = re.compile(
    r"(?<![\\!])\[(?P<words>[^\[\]<>`\\\n]*)\]\((?P<target>https?://[^\s()<>\\]+)\)"
)
"""What most links look like: they need no parser to be judged."""
FOLLOWED = re.compile(r"(?:https?://[^/?#\s]|mailto:[^\s])", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]*:|[/\\]{2}", re.IGNORECASE)
_FILE_SUFFIXES = (
    "cc|cfg|conf|cpp|cs|css|csv|doc|docx|go|gz|hpp|hs|htm|html|ini|ipynb|java|js|json|jsonl|jsx|"
    "kt|lock|log|md|ml|mm|pdf|php|pl|pm|png|jpg|svg|ps|py|pyi|rb|rs|rst|sh|so|sql|st|svelte|"
    "swift|tar|tex|toml|ts|tsv|tsx|txt|vb|vue|xlsx|xml|yaml|yml"
)
"""What ends the name of a file or of a program: nobody takes these for addresses, though some could
be one."""
_CLAIMED = re.compile(
    r"(?:[a-z][a-z0-9+.\-]{0,30}:)?//(?P<address>[^\s/?#<>]+)(?P<path>[/?#][^\s<>]*)?"
    r"|(?<![\w.@\-])(?P<bare>(?:\d{1,3}\.){3}\d{1,3}|localhost(?=:\d)"
    rf"|(?:[\w\-]+\.)+(?!(?:{_FILE_SUFFIXES})\b)(?:[^\W\d_]{{2,63}}|xn--[\w\-]+))(?![\w\-])"
    r"(?P<port>:\d{1,5})?(?P<way>[/?#][^\s<>]*)?"
    r"|[\w.+\-]{1,64}@(?P<mail>[\w.\-]+)",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"[^\s()\[\]<>|]{0,200}$")
_AFTER = re.compile(r"[^\s()\[\]<>|]{0,200}")
_EMPHASIS = re.compile(r"[*~`\\]|(?<![a-z0-9])_+|_+(?![a-z0-9])", re.IGNORECASE)
_DOTS = str.maketrans("。｡．․", "....")
"""Other alphabets' full stops, which browsers read as dots of a host."""


def is_suspect(text: str) -> bool:
    if "](" in text:
        text = _PLAIN_LINK.sub(_unless_it_lies, text)
    return _SUSPECT.search(text) is not None


def _unless_it_lies(link: re.Match[str]) -> str:
    words = in_its_place(link["words"], link.string, link.start(), link.end())
    return link[0] if lies(words, link["target"]) else ""


def in_its_place(words: str, source: str, start: int, end: int) -> str:
    """The words of a link with what touches them: a reader sees no border between."""
    before = _BEFORE.search(source[max(0, start - 200) : start])
    after = _AFTER.match(source, end)
    return f"{before[0] if before else ''}{words}{after[0] if after else ''}"


def lies(words: str, target: str) -> bool:
    """Whether the words show another address than the link has, or it leads where no link should:
    to a script, a file, a place of this machine."""
    plain = unicodedata.normalize("NFKC", unescape(words).translate(_DOTS))
    plain = "".join(char for char in plain if unicodedata.category(char) != "Cf")
    claims = [*_CLAIMED.finditer(plain)]
    if (bare := _EMPHASIS.sub("", plain)) != plain:
        claims += _CLAIMED.finditer(bare)
    if not FOLLOWED.match(target):
        if _SCHEME.match(target) or target.startswith(("\\", "%5C", "%5c")):
            return True
        return any(claim[0].rstrip(_STOPS) not in target for claim in claims)
    leads = _host(target)
    return any(_claims_another(each, leads, target) for each in claims)


_STOPS = ".,;:!?'\"…)]*_~`"


def _claims_another(claim: re.Match[str], leads: str, target: str) -> bool:
    claimed = claim["address"] or claim["bare"] or claim["mail"]
    host = claimed.rpartition("@")[2].partition(":")[0]
    if _bare(host.rstrip(_STOPS)) != leads:
        return True
    way = claim["path"] or claim["way"] or ""
    shown_way, real = _way(way), _way(re.sub(r"^\w+:/*[^/?#]*", "", target))
    if way.rstrip(_STOPS.replace(".", "").replace("…", "")).endswith(
        ("…", "...")
    ):  # shortened, as long addresses are
        return not real.startswith(shown_way)
    return bool(shown_way) and shown_way != real


def _way(path: str) -> str:
    """What follows the host, however it is written and emphasised."""
    return re.sub(r"[*_~`\\]", "", unquote(path)).rstrip(_STOPS + "/")


def _host(target: str) -> str:
    if target.lower().startswith("mailto:"):
        return _bare(target.partition("?")[0].rpartition("@")[2])
    try:
        # Browsers end a host at a backslash, other readers do not.
        return "" if "\\" in target else _bare(urlsplit(target).hostname or "")
    except ValueError:
        return ""


def _bare(host: str) -> str:
    return host.lower().rstrip(".").removeprefix("www.")
