"""What to suggest: models as different as can be had, a host beside them, and what was stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...core.errors import UnknownName, UsageError
from ...models.entry import ModelEntry
from ...models.found import Found
from ...procedures import procedure_spec
from ...procedures.council.options import PRESETS
from ...procedures.council.roles import ROLES
from ...procedures.custom.spec import UserProcedures
from .wizard import COST, NO_LIMIT, OTHER, PAGES, Wizard

_STRENGTH = {"top": 0, "standard": 0, "small": 1, "demonstration": 2}
USUAL_CAP = 2.0
"""Dollars for one discussion, where prices are known."""


def speakers(found: Found) -> tuple[str, ...]:
    """The models that can speak here, the most different first: one of each family, then the
    second of each, and so on; beside models of this machine, what its servers pass on comes last.
    Agents on a subscription come in where there is nothing else."""
    own = _entries(found, by_name=False) or _entries(found, by_name=True)
    families: dict[str, list[ModelEntry]] = {}
    for entry in sorted(own, key=lambda entry: _rank(found, entry)):
        families.setdefault(entry.family or entry.id, []).append(entry)
    # The family of the best provider first, as discovery has it.
    order = {(entry.family or entry.id): None for entry in own}
    rows = [families[family] for family in order]
    places = range(max(map(len, rows), default=0))
    mixed = [row[place] for place in places for row in rows if place < len(row)]
    if any(map(found.here, mixed)):
        mixed.sort(key=found.passed_on)
    return tuple(entry.id for entry in mixed)


USUAL = {
    "round2": True,
    "language": "auto",
    "logging": True,
    "procedure": "deliberation",
    "search": True,
    "own_cap": NO_LIMIT,
    "page": "screen",
}


def wizard_for(
    found: Found, stored: Mapping[str, Any], *, searches: str, own: UserProcedures
) -> Wizard:
    """The wizard of this installation: it starts from what is stored, as far as that still means
    something, and else from what was found. `searches` names the web search, if there is one;
    `own` are the user's procedures."""

    def known_procedure(name: str) -> object:
        return procedure_spec(name, own)

    def usable(name: str) -> bool:
        try:
            return found.usable(name)
        except UnknownName:
            return False

    def passed_on(name: str) -> bool:
        try:
            return found.passed_on(found.registry.resolve(name))
        except UsageError:
            return False

    fresh = suggested(found)
    before = of_stored(stored) if stored else {}
    for key in ("all", "host", *(role.id for role in ROLES)):
        if key in before and not _means(found.registry.resolve, before[key]):
            del before[key]
    if "procedure" in before and not _means(known_procedure, before["procedure"]):
        del before["procedure"]
    named = PRESETS.get(before.get("preset", ""), ()) or [before.get(r.id, "") for r in ROLES]
    if fresh["models"] != "none" and not any(map(usable, filter(None, named))):
        # What was chosen is gone, and something else is there.
        before = {key: each for key, each in before.items() if key not in fresh or key == "cap"}
    answers = {**USUAL, **fresh, **before, "rest": True} | _open_seats(found, before)
    limits = stored.get("budget")
    engine = stored.get("search")
    return Wizard(
        found.registry.resolve,
        known_procedure=known_procedure,
        defaults=answers,
        limits={k: v for k, v in limits.items() if k != COST} if isinstance(limits, dict) else {},
        engine=engine if isinstance(engine, str) and engine != "none" else "",
        models=speakers(found),
        searches=searches,
        usable=usable,
        passed_on=passed_on,
    )


def _open_seats(found: Found, before: Mapping[str, Any]) -> dict[str, Any]:
    """Models for the seats that were left open beside others: such as nobody has yet, the host
    included, as far as there are any."""
    seats = [role.id for role in ROLES]
    taken = [before[seat] for seat in seats if seat in before]
    if not taken:
        return {}
    here = _beside(found, taken, speakers(found))
    filled: dict[str, Any] = {}
    for seat in seats:
        if seat not in before:
            free = [each for each in here if each not in taken]
            other = [each for each in free if each != before.get("host")]
            if chosen := next(iter(other or free), ""):
                filled[seat] = chosen
                taken.append(chosen)
    return filled


def _means(known: Callable[[str], object], name: str) -> bool:
    try:
        known(name)
    except UsageError:
        return False
    return True


def suggested(found: Found) -> dict[str, Any]:
    """Answers for the wizard from what was found."""
    here = speakers(found)
    if not here:
        return {"models": "none", "host": "", "cap": NO_LIMIT}
    seats, host = table(found, here)
    cap = USUAL_CAP if _priced(found, {*seats, host}) else NO_LIMIT
    answers: dict[str, Any] = {
        "models": "each" if len(set(seats)) > 1 else "one",
        "all": seats[0],
        "preset": "diverse",
        "host": host,
        "cap": cap,
    }
    return answers | {role.id: seat for role, seat in zip(ROLES, seats, strict=True)}


def table(found: Found, here: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Three seats as different as can be, and a host of a family that does not argue, or at least
    a model that does not, as far as there are any. Where models run on this machine, those that
    its servers pass on neither sit nor lead unless they are named."""
    entries = [found.registry.resolve(each) for each in here]
    some_here = any(map(found.here, entries))
    able = [each.id for each in entries if not (some_here and found.passed_on(each))]
    seats = tuple(able[place % len(able)] for place in range(len(ROLES)))
    argue = {_family(found, each) for each in seats}
    lead = _beside(found, seats, able)
    apart = (each for each in lead if _family(found, each) not in argue)
    other = (each for each in lead if each not in seats)
    return seats, next(apart, None) or next(other, None) or lead[0]


def _beside(found: Found, seated: Sequence[str], others: Sequence[str]) -> Sequence[str]:
    """Of others those that may join the seated unasked: of this machine where all of those are."""

    def here(model: str) -> bool:
        return found.here(found.registry.resolve(model))

    return [each for each in others if here(each)] if all(map(here, seated)) else others


def of_stored(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The answers that config.json was made of; of what it does not hold, none."""
    answers: dict[str, Any] = {}
    models = stored.get("models")
    named = {r.id: models.get(r.id) for r in ROLES} if isinstance(models, Mapping) else {}
    named = {role: name for role, name in named.items() if isinstance(name, str) and name}
    if named:
        different = len(set(named.values())) > 1 or len(named) < len(ROLES)
        answers |= {"models": "each" if different else "one", "all": next(iter(named.values()))}
        answers |= named
    elif isinstance(stored.get("preset"), str) and stored["preset"] in PRESETS:
        answers |= {"models": "preset", "preset": stored["preset"]}
    if stored.get("round2") in (True, False, "ask"):
        answers["round2"] = stored["round2"]
    if isinstance(language := stored.get("language"), str) and language:
        known = language in ("en", "de", "es", "auto")
        answers |= {"language": language if known else "", "own_language": language}
    if isinstance(stored.get("log_sessions"), bool):
        answers["logging"] = stored["log_sessions"]
    # A file from before says nothing of a procedure, and meant the council.
    answers["procedure"] = str(stored.get("procedure") or "council")
    if isinstance(stored.get("host"), str):
        answers["host"] = stored["host"]
    budget = stored.get("budget")
    cap = budget.get(COST) if isinstance(budget, Mapping) else None
    if isinstance(cap, int | float) and not isinstance(cap, bool):
        usual = float(cap) in (0.5, 2.0, 10.0)
        answers |= {"cap": float(cap) if usual else OTHER, "own_cap": f"{cap:.10g}"}
    elif "procedure" in stored:  # this set-up wrote it, and none was wanted
        answers["cap"] = NO_LIMIT
    if "search" in stored:
        answers["search"] = stored["search"] != "none"
    if "web" in stored:
        answers["page"] = next((p for p, web in PAGES.items() if web is stored["web"]), "screen")
    return answers


def _entries(found: Found, *, by_name: bool) -> list[ModelEntry]:
    ids: Iterable[str] = (
        model for each in found.providers if each.by_name == by_name for model in each.models
    )
    entries = [found.registry.resolve(model) for model in dict.fromkeys(ids)]
    return [entry for entry in entries if entry.tier != "demonstration"]


def _rank(found: Found, entry: ModelEntry) -> tuple[bool, int]:
    """Within a family: what its provider prefers, then what is strong."""
    preferred = found.registry.providers[entry.provider].default_model
    return entry.id != preferred, _STRENGTH[entry.tier]


def _family(found: Found, model: str) -> str:
    return found.registry.resolve(model).family or model


def _priced(found: Found, models: Iterable[str]) -> bool:
    """Whether a limit in dollars means something: a price is known, and not nothing."""
    refs = [found.registry.speaker_ref(model) for model in models]
    known = all(ref.usd_per_million_out is not None for ref in refs)
    return known and any(ref.usd_per_million_out for ref in refs)
