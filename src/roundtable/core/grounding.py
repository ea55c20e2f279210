"""Grounding: what a web search brought, as a prompt may use it.

Web pages are untrusted. Here they are condensed without a model, so nothing in them can steer
that, and judged by what can be seen from outside. Such a judgement is a hint, not a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from .text import clip, count_words, sentences
from .values import SearchHit

NO_REAL_TIME_DATA = "No real-time data: no web search answered in this run."
"""What prompts say when there was no search, or when it failed."""
NOTHING_USEFUL = "The web search found nothing useful for this question."

LIMIT_WORDS = 250
FACTS_PER_SOURCE = 3
WORDS_PER_FACT = 40
WORDS_PER_ADDRESS = 20
LONG_QUERY = 200

# fmt: off
_ANYBODY_WRITES = frozenset([
    "reddit.com", "quora.com", "medium.com", "substack.com", "blogspot.com", "wordpress.com",
    "tumblr.com", "x.com", "twitter.com", "facebook.com", "instagram.com", "tiktok.com",
    "youtube.com", "pinterest.com", "linkedin.com", "fandom.com", "t.me", "telegra.ph",
    "pastebin.com", "4chan.org", "zhihu.com", "weibo.com",
])
_SHORTENERS = frozenset([
    "bit.ly", "t.co", "tinyurl.com", "goo.gl", "ow.ly", "is.gd", "buff.ly", "rebrand.ly",
])
# fmt: on
_FEW_WORDS = r"\s+(?:\w+\s+){0,4}"
_ORDERS = re.compile(
    rf"\b(?:ignore|disregard|forget|override){_FEW_WORDS}(?:previous|prior|above|earlier|your|all)"
    rf"{_FEW_WORDS}(?:instructions?|prompts?|rules|guidelines)\b"
    rf"|\b(?:ignoriere|vergiss){_FEW_WORDS}(?:anweisungen|vorgaben)\b"
    rf"|\b(?:ignora|olvida){_FEW_WORDS}instrucciones\b"
    r"|(?:忽略|无视).{0,20}(?:指令|指示|提示)"
    r"|\byou are now (?:a|an|the|in)\b|\bdear (?:ai|model|assistant)\b|\bnew instructions?:"
    r"|\byour system prompt\b|<\|(?:im_start|system)|\[/?INST\]",
    re.IGNORECASE,
)
"""How texts address models. It catches the plain cases; against the others there is the fence."""


def doubts(hit: SearchHit) -> tuple[str, ...]:
    """Why a source may be weak, in words for a prompt; empty if nothing speaks against it."""
    try:
        parts = urlsplit(hit.url)
        host = (parts.hostname or "").lower().removesuffix(".")
    except ValueError:
        return ("its address is malformed",)
    found = []
    if parts.scheme != "https":
        found.append("not https")
    if _is_ip(host):
        found.append("an address without a name")
    if _belongs(host, _ANYBODY_WRITES):
        found.append("anybody can write there")
    if _belongs(host, _SHORTENERS):
        found.append("a shortened address")
    if len(parts.query) > LONG_QUERY:
        found.append("a very long query")
    if gives_orders(f"{hit.title} {hit.text}"):
        found.append("its text gives orders to the reader")
    return tuple(found)


@lru_cache(maxsize=2048)  # the same hits are asked about whenever something is decided
def gives_orders(text: str) -> bool:
    """Whether a text talks to a model instead of about its subject."""
    return _ORDERS.search(text) is not None


def labelled(hit: SearchHit) -> str:
    """A hit's address, with the doubts about it beside it."""
    weak = doubts(hit)
    return f"{hit.url} (weak source: {', '.join(weak)})" if weak else hit.url


def current_context(hits: Sequence[SearchHit], on: date, limit_words: int = LIMIT_WORDS) -> str:
    """What the search says, in at most `limit_words` words: the facts of each source, those with
    dates and figures first, with the source and with the day of the search."""
    sources = [source for hit in hits if (source := _Source.of(hit, on)).facts]
    chosen: list[tuple[int, int]] = []
    for turn in range(FACTS_PER_SOURCE):
        for place, source in enumerate(sources):
            if turn < len(source.facts):
                longer = [*chosen, (place, source.facts[turn])]
                if count_words(_written(sources, longer, on)) <= limit_words:
                    chosen = longer
    return _first_words(_written(sources, chosen, on), limit_words)


@dataclass(frozen=True, slots=True)
class _Source:
    """One hit as sentences, and which of them to tell, the best first."""

    address: str
    sentences: tuple[str, ...]
    facts: tuple[int, ...]

    @classmethod
    def of(cls, hit: SearchHit, on: date) -> _Source:
        parts = [_first_words(part, WORDS_PER_FACT) for part in sentences(hit.text or hit.title)]
        # From its first order on, a text is no longer about its subject.
        orders = (place for place, part in enumerate(parts) if gives_orders(part))
        told = range(next(orders, len(parts)))
        facts = sorted(told, key=lambda place: (-_news(parts[place], on), place))
        address = labelled(hit)
        if count_words(address) > WORDS_PER_ADDRESS:
            # Better a place than half an address, which would be a wrong one.
            address = labelled(hit).replace(hit.url, urlsplit(hit.url).netloc)
        return cls(address, tuple(parts), tuple(facts))


def _news(sentence: str, on: date) -> int:
    """How much a sentence is worth: a recent date most, a figure some."""
    recent = str(on.year) in sentence or str(on.year - 1) in sentence
    return 2 * recent + any(char.isdigit() for char in sentence)


def _written(sources: Sequence[_Source], chosen: Sequence[tuple[int, int]], on: date) -> str:
    if not chosen:
        return f"Web search of {on.isoformat()}. {NOTHING_USEFUL}"
    lines = [f"Web search of {on.isoformat()}; what the sources say, unverified:"]
    for place, source in enumerate(sources):
        told = sorted(fact for where, fact in chosen if where == place)
        if told:
            facts = " ".join(source.sentences[fact] for fact in told)
            lines.append(f"- {facts} [{source.address}]")
    return "\n".join(lines)


def _first_words(text: str, limit: int) -> str:
    """At most `limit` words of a text, counted as everywhere: CJK text by its characters."""
    if count_words(text) <= limit:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_words(text[:middle]) <= limit else (low, middle - 1)
    return clip(text, low)


def _belongs(host: str, names: frozenset[str]) -> bool:
    labels = host.split(".")
    return any(".".join(labels[start:]) in names for start in range(len(labels)))


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
