"""`roundtable experts`: who could sit at the table, and who should for a topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ...core.errors import UnknownName, UsageError
from ...experts.expert import Expert
from ...experts.library_files import OwnFile, own_files, read_library, read_own
from ...experts.methods import METHODS, find_method
from ...ports import ChosenExpert
from ...settings import Settings
from .here import settings_here
from .terminal import echo, echo_error, print_json

if TYPE_CHECKING:
    from ...experts.selection import Choice

NEAREST = 8
"""Experts shown for a query that is in nobody's words."""
HEADING = "methods of reasoning"


def experts_command(flags: Mapping[str, Any]) -> int:
    settings = settings_here()
    query: Sequence[str] = flags["query"]
    if flags["topic"] is not None:
        if query:
            raise UsageError("--for chooses by a topic, so there is nothing to search.", _USE)
        return _choose(settings, flags)
    own = own_files(*settings.expert_folders)
    library = read_library(own)
    if query == ("show",):
        raise UsageError("Show whom?", "Name one: roundtable experts show threat-modeller")
    if query[:1] == ("show",):
        found = _found(" ".join(query[1:]), library)
        if isinstance(found, ChosenExpert):
            return _show_method(found, as_json=flags["as_json"])
        return _show(found, own, as_json=flags["as_json"])
    if query:
        return _search(" ".join(query), settings, library, as_json=flags["as_json"])
    if flags["as_json"]:
        _print_json([*map(_dumped, library.values()), *map(_dumped, METHODS)])
        return 0
    _list(library.values(), set(read_own(own)))
    _list_methods(METHODS, first=False)
    echo("\nOne of them: roundtable experts show ID")
    echo('A panel for a topic: roundtable experts --for "Should we …?"')
    return 0


_USE = 'Use either: roundtable experts QUERY, or: roundtable experts --for "TOPIC".'


def _list(experts: Iterable[Expert], own: set[str]) -> None:
    by_domain = sorted(experts, key=lambda expert: expert.domain)
    width = max((len(expert.id) for expert in by_domain), default=0)
    for number, (domain, group) in enumerate(groupby(by_domain, key=lambda each: each.domain)):
        members = list(group)
        echo(f"{chr(10) if number else ''}{domain} ({len(members)})")
        for expert in members:
            mark = "  (own)" if expert.id in own else ""
            echo(f"  {expert.id:<{width}}  {expert.name}{mark}")


def _search(query: str, settings: Settings, library: Mapping[str, Expert], *, as_json: bool) -> int:
    """Those who bear the words; if nobody does, those who come nearest in meaning."""
    found = [expert for expert in library.values() if _bears(_words(expert), query)]
    methods = [each for each in METHODS if _bears((each.id, each.name, HEADING), query)]
    if found or methods:
        if as_json:
            _print_json([*map(_dumped, found), *map(_dumped, methods)])
        else:
            _list(found, set())
            _list_methods(methods, first=not found)
        return 0
    from ...bootstrap import expert_selector

    nearest = expert_selector(settings).search(query, NEAREST)
    if as_json:
        _print_json([_row(choice) for choice in nearest])
        return 0
    echo_error(f"Nobody is described by {query!r}. The nearest in meaning:")
    for choice in nearest:
        expert = choice.expert
        echo(f"{expert.id}  {expert.name}, {expert.domain}: {choice.why}")
    return 0


def _list_methods(methods: Sequence[ChosenExpert], *, first: bool) -> None:
    """Those who belong to no field: they sit where no expert fits, or where they are named."""
    if not methods:
        return
    width = max(len(each.id) for each in methods)
    echo(f"{'' if first else chr(10)}{HEADING} ({len(methods)})")
    for each in methods:
        echo(f"  {each.id:<{width}}  {each.name}")


def _words(expert: Expert) -> Iterable[str]:
    tags = (tag for row in expert.tags.values() for tag in row)
    return (expert.id, expert.name, expert.domain, *tags)


def _bears(words: Iterable[str], query: str) -> bool:
    wanted = query.strip().casefold()
    return any(wanted in word.casefold() for word in words)


def _found(name: str, library: Mapping[str, Expert]) -> Expert | ChosenExpert:
    """The expert of this name, or the method of reasoning."""
    wanted = name.strip().casefold()
    for expert in library.values():
        if wanted in (expert.id, expert.name.casefold()):
            return expert
    if (method := find_method(name)) is not None:
        return method
    raise UnknownName("expert", name, [*library, *(each.id for each in METHODS)])


def _dumped(expert: Expert | ChosenExpert) -> dict[str, Any]:
    """An expert as a row of one document; a method has no field, and nobody finds it by tags."""
    if isinstance(expert, Expert):
        return expert.model_dump(mode="json")
    empty = {"domain": "", "asks": [], "blind_spot": "", "needs": [], "tags": {}}
    return {
        "id": expert.id,
        "name": expert.name,
        "perspective": expert.perspective,
        "guidance": expert.guidance,
        **empty,
    }


def _show_method(method: ChosenExpert, *, as_json: bool) -> int:
    if as_json:
        _print_json(_dumped(method))
        return 0
    lines = [
        f"{method.name} ({method.id}), a method of reasoning",
        "",
        f"Perspective: {method.perspective}",
        f"Guidance: {method.guidance}",
        f"Sits where no expert of the library fits, or where it is named: --experts {method.id}",
    ]
    echo("\n".join(lines))
    return 0


def _show(expert: Expert, own: Sequence[OwnFile], *, as_json: bool) -> int:
    if as_json:
        _print_json(expert.model_dump(mode="json"))
        return 0
    lines = [
        f"{expert.name} ({expert.id}), {expert.domain}",
        "",
        f"Perspective: {expert.perspective}",
        "Always asks:",
        *(f"  - {question}" for question in expert.asks),
        f"Blind spot: {expert.blind_spot}",
        f"Guidance: {expert.guidance}",
        f"Needs a model for: {', '.join(expert.needs) or 'anything'}",
        "Found by:",
        *(f"  {language}: {', '.join(tags)}" for language, tags in expert.tags.items()),
    ]
    if source := next((file for file in reversed(own) if expert.id in read_own([file])), None):
        lines.append(f"From: {source.path}")
    echo("\n".join(lines))
    return 0


def _choose(settings: Settings, flags: Mapping[str, Any]) -> int:
    from ...bootstrap import expert_selector
    from ...experts.mmr import LAMBDA

    lam = LAMBDA if flags["lam"] is None else flags["lam"]
    panel = expert_selector(settings).choose(
        flags["topic"],
        flags["count"],
        lam=lam,
        weights=_weights(flags["weight"]),
        include=flags["include"],
    )
    if flags["as_json"]:
        rows = [_row(choice) for choice in panel]
        _print_json({"topic": flags["topic"], "lambda": lam, "panel": rows})
        return 0
    for number, choice in enumerate(panel, 1):
        expert = choice.expert
        echo(f"{number}. {expert.name} ({expert.id}), {expert.domain}")
        echo(f"   {choice.why}")
        echo(f"   {expert.perspective}")
    if len(panel) < flags["count"]:
        echo("Nobody else of the library fits; methods of reasoning take the other seats.")
    domains = dict.fromkeys(choice.expert.domain for choice in panel)
    echo(f"\nDomains: {', '.join(domains) or 'none'}. λ = {lam:g}: {lam:.0%} relevance.")
    return 0


def _weights(pairs: Sequence[str]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for pair in pairs:
        domain, _, number = pair.partition("=")
        try:
            weights[domain.strip()] = float(number)
        except ValueError:
            raise UsageError(
                f"--weight {pair!r} is not a domain and a number.", "Write it as --weight legal=1.5"
            ) from None
    return weights


def _row(choice: Choice) -> dict[str, Any]:
    return {
        "id": choice.expert.id,
        "name": choice.expert.name,
        "domain": choice.expert.domain,
        "relevance": choice.relevance,
        "likeness": choice.likeness,
        "named": list(choice.named),
        "reason": choice.reason,
        "why": choice.why,
    }


def _print_json(document: Any) -> None:
    print_json(document)
