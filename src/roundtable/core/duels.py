"""Duels: the rules that compare options two at a time, on one table of who beats whom.

A table says for each pair of options how many ballots put the first above the second. All three
rules choose an option that beats every other one if there is such an option; they differ in what
they make of circles. None of them looks at the order in which options or ballots came.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations

Ranking = Sequence[Collection[str]]
"""Groups of options, best first; options in one group are tied."""
Duels = Mapping[tuple[str, str], int]


def duels(rankings: Iterable[Ranking], options: Sequence[str]) -> dict[tuple[str, str], int]:
    """For each pair, how many rankings put the first above the second. They must be complete."""
    table = {(a, b): 0 for a in options for b in options if a != b}
    for groups in rankings:
        for place, group in enumerate(groups):
            for lower in groups[place + 1 :]:
                for a in group:
                    for b in lower:
                        table[a, b] += 1
    return table


def copeland(table: Duels, options: Sequence[str]) -> dict[str, float]:
    """A point for each option beaten in a duel, half a point for a draw."""
    scores = dict.fromkeys(options, 0.0)
    for a, b in combinations(options, 2):
        if table[a, b] == table[b, a]:
            scores[a] += 0.5
            scores[b] += 0.5
        else:
            scores[a if table[a, b] > table[b, a] else b] += 1.0
    return scores


def schulze(table: Duels, options: Sequence[str]) -> dict[str, float]:
    """How many options an option's strongest paths beat or match.

    A path is as strong as its weakest duel, and a duel as strong as the ballots that won it.
    """
    strength = {pair: (won if won > table[pair[1], pair[0]] else 0) for pair, won in table.items()}
    for via in options:
        for a in options:
            first = strength.get((a, via), 0)
            if not first:
                continue
            for b in options:
                if b not in (a, via) and (through := min(first, strength[via, b])):
                    strength[a, b] = max(strength[a, b], through)
    return {
        a: float(sum(1 for b in options if b != a and strength[a, b] >= strength[b, a]))
        for a in options
    }


def ranked_pairs(table: Duels, options: Sequence[str]) -> dict[str, float]:
    """1 for whoever is left unbeaten when duels are locked in from the clearest on, else 0.

    A duel that would close a circle with those locked before is left out. Duels of equal margin
    are locked together, and those of them that would close a circle with each other are all left
    out, so that no order of the list decides; that can end in a tie.
    """
    margins = {pair: won - table[pair[1], pair[0]] for pair, won in table.items()}
    beats: dict[str, set[str]] = {option: set() for option in options}
    for margin in sorted({m for m in margins.values() if m > 0}, reverse=True):
        equal = [pair for pair, m in margins.items() if m == margin]
        fresh = [(a, b) for a, b in equal if a not in _below(beats, b)]
        trial = {option: set(beaten) for option, beaten in beats.items()}
        for a, b in fresh:
            trial[a].add(b)
        for a, b in fresh:
            if a not in _below(trial, b):
                beats[a].add(b)
    losers = {b for beaten in beats.values() for b in beaten}
    return {option: float(option not in losers) for option in options}


def _below(beats: Mapping[str, Collection[str]], start: str) -> set[str]:
    """Everything that an option beats, directly or through others."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for beaten in beats[waiting.pop()]:
            if beaten not in seen:
                seen.add(beaten)
                waiting.append(beaten)
    return seen
