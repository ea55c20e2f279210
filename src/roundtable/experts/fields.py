"""Which field a topic is of: the everyday words of each domain, in four languages.

A word says more the fewer domains it belongs to. A topic's own words are asked, never a gloss of
them, which would count one word several times.
"""

from __future__ import annotations

import math
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from importlib import resources

from .words import CHINESE, content_words, languages_of, parts, stem

PART_SHARE = 0.6
"""How surely a part of a longer German word means the same as the word alone."""


class Fields:
    """The words of some domains, ready to be looked up. A domain without words has none. Those of a
    language are prepared when a topic of it comes."""

    def __init__(self, domains: Sequence[str]) -> None:
        self._domains = list(domains)
        self._count = len(domains)
        self._bearers: dict[tuple[str, str], list[int]] = {}
        self._prepared: set[str] = set()
        self._longest = 0

    def _prepare(self, language: str) -> None:
        if language in self._prepared:
            return
        bearers: dict[str, list[int]] = defaultdict(list)
        for number, domain in enumerate(self._domains):
            text = _words().get(domain, {}).get(language, "")
            for word in dict.fromkeys(_forms(text, language)):
                bearers[word].append(number)
        self._bearers.update(((word, language), found) for word, found in bearers.items())
        if language == "zh":
            self._longest = max(map(len, bearers), default=0)
        self._prepared.add(language)  # last: another thread may ask meanwhile

    def scores(self, topic: str) -> list[float]:
        """For each domain: how much the topic's words speak for it."""
        found = [0.0] * self._count
        for word, sure in self._named(topic).items():
            bearers = self._bearers[word]
            for number in bearers:
                found[number] += sure * math.log(1 + self._count / len(bearers))
        return found

    def _named(self, topic: str) -> dict[tuple[str, str], float]:
        named: dict[tuple[str, str], float] = {}
        for language in languages_of(topic):
            self._prepare(language)
            for word in content_words(topic, language):
                if (stem(word), language) in self._bearers:
                    named[stem(word), language] = 1.0
                elif language == "de":
                    for part in parts(word):
                        if (part, language) in self._bearers:
                            named.setdefault((part, language), PART_SHARE)
        for run in CHINESE.findall(topic):
            self._prepare("zh")
            for at in range(len(run)):
                for end in range(at + 1, min(len(run), at + self._longest) + 1):
                    if (run[at:end], "zh") in self._bearers:
                        named[run[at:end], "zh"] = 1.0
        return named


def _forms(text: str, language: str) -> list[str]:
    if language == "zh":
        return text.split()
    return [stem(word) for word in content_words(text, language)]


@cache
def _words() -> dict[str, dict[str, str]]:
    text = resources.files(__package__).joinpath("fields.toml").read_text("utf-8")
    return tomllib.loads(text)
