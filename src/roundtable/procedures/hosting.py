"""The host's model: who named it, and where it comes from if nobody did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from ..core.errors import BadSetting, NoModel, UsageError
from ..core.events import NoteAdded
from ..core.values import OUTSIDE, SpeakerRef
from ..ports import ListedModels, Models, SpeakerChain
from .opening import OpenRequest

HOST_ELSEWHERE = "host_elsewhere"
"""The code of the note that whoever leads or writes reads what would otherwise stay here."""
_LOOKED_AT = 24
"""Models that are considered for the host of a table: a server may list thousands, the first of
every family come first."""


@dataclass(frozen=True, slots=True)
class HostWish:
    """Which model is to lead, and who says so."""

    model: str | None = None
    """None is the default one."""
    by: Literal["call", "settings", "nobody"] = "nobody"
    in_place_of: str = ""
    """The model that the settings name, where that cannot be used: whoever leads instead is told.
    """


def host_wish(
    request: OpenRequest, models: Models, asked: str | None, settled: str | None = None
) -> HostWish:
    """`asked` is what the call names, `settled` what a file of the procedure's says. After another
    discussion the model that led then does so again; else a default model that the settings name
    is the host's. Of what was chosen for the question only a model that the user's
    files give to the host counts as named."""
    if asked is not None:
        return HostWish(asked, "call")
    if request.kept_host:
        return HostWish(request.kept_host, "call")
    if settled is not None:
        return HostWish(settled, "settings")
    chosen = request.chosen_experts
    routed = chosen.host_model if chosen else None
    if chosen is not None and routed is not None and chosen.host_named:
        return HostWish(routed, "settings")
    if request.host_model and _itself(models, request.host_model):
        return HostWish(routed, "settings")
    return HostWish(routed, in_place_of=request.host_model)


def _itself(models: Models, name: str) -> bool:
    """Whether the model of this name can speak, and no other in its place."""
    try:
        return not models.seat(name, "host").notes
    except UsageError:
        return False


def hosted(
    models: Models, wish: HostWish, name: str, table: Sequence[str], named: Sequence[str] = ()
) -> SpeakerChain:
    """Who speaks for a host, at a table of these models of which some were `named`.

    Where nobody named a host, words go to no server that nobody chose: if every seat has a model
    that was named, or all of them speak on this machine, the host is a model of the same servers.
    Where there is no other that can speak, or only the demonstration model, it is the first of the
    table's that can: whoever names models for the seats has models.
    """
    others = [each for each in table if each != OUTSIDE]
    seated = _speakers(models, others, name) if isinstance(models, ListedModels) else []
    if wish.by == "nobody" and (beside := _beside(models, wish, name, seated, others, named)):
        return _instead(models, beside, wish)
    chosen = _instead(models, _usual(models, wish.model, name, others), wish)
    if wish.by == "call":
        return chosen
    told = elsewhere(models, chosen.speakers[0], seated, "leads")
    return SpeakerChain(chosen.speakers, (*chosen.notes, *told))


def _instead(models: Models, chosen: SpeakerChain, wish: HostWish) -> SpeakerChain:
    """Who leads, with a note where it is not the model that the settings name."""
    if not wish.in_place_of:
        return chosen
    leads = chosen.speakers[0].model
    try:
        usual = models.seat(wish.in_place_of, "host")
        told, remedy = usual.notes, usual.notes[0].remedy if usual.notes else ""
        same = usual.speakers[0].model == leads
    except UsageError:
        told, remedy, same = (), "`roundtable doctor` says why.", False
    if not same:
        text = f"{leads} leads in place of {wish.in_place_of}, which cannot be used now."
        told = (NoteAdded(code="substituted", text=text, remedy=remedy),)
    return SpeakerChain(chosen.speakers, (*chosen.notes, *told))


def elsewhere(
    models: Models, speaker: SpeakerRef, seated: Sequence[SpeakerRef], does: str
) -> list[NoteAdded]:
    """What is to be said where the seats speak on this machine and whoever leads or writes does
    not."""
    if not _all_here(models, seated) or _all_here(models, [speaker]) or speaker.model == OUTSIDE:
        return []
    return [
        NoteAdded(
            code=HOST_ELSEWHERE,
            text=f"Every seat speaks on this machine, but {speaker.model}, which {does} as your "
            "settings say, does not: it reads the question and the documents.",
            remedy=f"--host {seated[0].model} keeps them here.",
        )
    ]


def bound_to(models: Models, seated: Sequence[SpeakerRef], named: Sequence[str]) -> bool:
    """Whether whoever leads or writes must come from the servers of these seats: each of them has a
    model that was named, or all of them speak on this machine."""
    if not seated or not isinstance(models, ListedModels):
        return False
    return _were_named(models, seated, named) or _all_here(models, seated)


def _were_named(models: Models, seated: Sequence[SpeakerRef], named: Sequence[str]) -> bool:
    own = {each.model for each in _speakers(models, named, "a seat")}
    return all(each.model in own for each in seated)


def _is_here(models: Models, wish: HostWish, name: str) -> bool:
    """Whether whoever leads usually is of this machine itself."""
    usual = _speakers(models, [wish.model or models.default_model], name)
    return _all_here(models, usual)


def _all_here(models: Models, seated: Sequence[SpeakerRef]) -> bool:
    """Whether all who are models speak on this machine."""
    if not isinstance(models, ListedModels):
        return False
    names = [each.model for each in seated if each.model != OUTSIDE]
    return bool(names) and all(map(models.here, names))


def server(models: Models, speaker: SpeakerRef) -> tuple[str, str, bool]:
    """Where a speaker is served: by whom, at which address, and whether on this machine. A model
    that a server here passes on is not of the server of those that it runs itself."""
    here = isinstance(models, ListedModels) and models.here(speaker.model)
    return speaker.model.partition("/")[0], speaker.at, here


def _beside(
    models: Models,
    wish: HostWish,
    name: str,
    seated: Sequence[SpeakerRef],
    others: Sequence[str],
    named: Sequence[str],
) -> SpeakerChain | None:
    """A model of the servers at which the seats speak, one without a seat and of a family of its
    own first; None where the host may come from anywhere."""
    if not bound_to(models, seated, named):
        return None
    if not _were_named(models, seated, named) and _is_here(models, wish, name):
        return None
    free = list(_free(models, name, seated))
    families = {each.family for each in seated}
    strange = [each for each in free if each.speakers[0].family not in families]
    if free:
        return (strange or free)[0]
    return _too(others[0], models.seat(others[0], name))


def _free(models: Models, name: str, seated: Sequence[SpeakerRef]) -> Iterator[SpeakerChain]:
    """The models of the same servers that hold no seat, the default model first."""
    assert isinstance(models, ListedModels)
    servers = {server(models, each) for each in seated}
    providers = {provider for provider, *_ in servers}
    held = {each.model for each in seated}
    listed = dict.fromkeys((models.default_model, *models.usable))
    near = (each for each in listed if each.partition("/")[0] in providers and each not in held)
    for each in islice(near, _LOOKED_AT):
        chain = models.seat(each, name)
        first = chain.speakers[0]
        if server(models, first) in servers and first.model not in held and not first.demonstration:
            yield chain


def _speakers(models: Models, names: Sequence[str], seat: str) -> list[SpeakerRef]:
    """Who would speak for these models; nobody for names that mean nothing, which whoever seats
    them says."""
    found = []
    for each in dict.fromkeys(names):
        if each != OUTSIDE:
            try:
                found.append(models.seat(each, seat).speakers[0])
            except UsageError:
                continue
    return found


def _usual(models: Models, wanted: str | None, name: str, others: Sequence[str]) -> SpeakerChain:
    try:
        usual = models.seat(wanted or models.default_model, name)
    except (NoModel, BadSetting):
        if not others or wanted not in (None, models.default_model):
            raise
        return _too(others[0], models.seat(others[0], name))
    if wanted is not None or not others or not usual.speakers[0].demonstration:
        return usual
    chosen = models.seat(others[0], name)
    return usual if chosen.speakers[0].demonstration else _too(others[0], chosen)


def _too(model: str, chosen: SpeakerChain) -> SpeakerChain:
    note = NoteAdded(
        code="host_of_the_table",
        text=f"{model} speaks for the host too: no model was named for it.",
        remedy="Name one with --host.",
    )
    return SpeakerChain(chosen.speakers, (*chosen.notes, note))
