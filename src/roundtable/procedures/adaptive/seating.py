"""Setting the table: from flags and panels.json to seats, a bench and an orchestrator; and the
terms of a run: what was settled then, and is stored with the opening."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import Field

from ...core.errors import UnknownName, UsageError
from ...core.events import NoteAdded
from ...core.framing import choices_of
from ...core.state import State
from ...core.values import Participant, SpeakerRef, Value
from ...experts.methods import method_or_named
from ...ports import CastingRequest, ChosenExpert, ListedModels, Models
from ..hosting import bound_to, elsewhere, host_wish, hosted, server
from ..messages import demonstrated, demonstration
from ..opening import OpenRequest, Seating
from ..seats import HOST_ID, not_of_library
from . import notes as say
from .design import Design, SeatPlan, Workflow, participant_for, synthesiser, writer_participant
from .options import AdaptiveFlags, TaskMode
from .panels import (
    ANALYST_IDS,
    BRIEFS,
    BUDGET,
    ORCHESTRATOR_ID,
    ORCHESTRATOR_NAME,
    TWO,
    BenchModel,
    Held,
    Panels,
    Seats,
    Slot,
    Timeouts,
    distinct_role,
    find,
    model_key,
    panels_here,
    plain_role,
    role_id,
)

QUICK_SEATS = 3
ENOUGH = 3
"""Of a panel's own models; with fewer, the run switches to the profile `budget`."""
PANELS_JSON = "panels.json"

NO_THREAD = "none"


class Terms(Value):
    """Read back from the options of the opening."""

    task_mode: TaskMode
    quick: bool = False
    check_synthesis: bool = False
    search: bool = True
    meta: bool = False
    """Whether a meta-panel designs the workflow."""
    forced: Workflow | None = None
    session: str = ""
    thread_id: str = NO_THREAD
    max_panel: int = 4
    rounds: int | None = None
    """As the asker wants it; None leaves it to the meta-panel."""
    timeouts: Timeouts = Timeouts()
    costs: dict[str, tuple[float, float]] = Field(default_factory=dict)
    default: Design
    """What is done where no meta-panel decides."""
    default_notes: tuple[NoteAdded, ...] = ()
    """What is to be said about the default panel, should it sit although a meta-panel was asked."""
    bench: tuple[BenchModel, ...] = ()
    analysts: tuple[Participant, ...] = ()
    synthesis: str = ""
    named_host: bool = False
    """Whether somebody chose the orchestrator's model, also for other questions: then that one
    writes, unless it has a seat."""
    asked_host: bool = False
    """Whether it was named with this question: then it writes, seat or no seat."""
    choices: tuple[str, ...] = ()
    """The options, where the question or its asker named some."""

    @classmethod
    def of(cls, state: State) -> Terms:
        known = {
            name: each for name, each in state.start.options.items() if name in cls.model_fields
        }
        return cls.model_validate(known)


def casting_request(request: OpenRequest, _: Mapping[str, Any]) -> CastingRequest | None:
    """The experts that the asker named; without any, the panel has roles of its own."""
    flags = AdaptiveFlags.parse(request.options)
    return CastingRequest(len(flags.experts), flags.experts) if flags.experts else None


def _filled(slots: tuple[Slot, ...], count: int) -> tuple[Slot, ...]:
    """So many slots: the first ones, or all of them and then the first once more."""
    return tuple(slots[place % len(slots)] for place in range(count))


def seat(request: OpenRequest, models: Models, defaults: Mapping[str, Any]) -> Seating:
    """Settle mode and panel, and find a speaker for everybody who may be seated later on."""
    flags = AdaptiveFlags.parse(request.options)
    return _Setting(request, flags, defaults, models).set()


@dataclass(frozen=True, slots=True)
class _Panel:
    """Who sits on a panel, where it comes from, and what is to be said about it."""

    seats: tuple[tuple[SeatPlan, Held], ...]
    by: str
    fixed: bool
    """Whether the meta-panel has nothing to choose any more."""


class _Setting:
    def __init__(
        self,
        request: OpenRequest,
        flags: AdaptiveFlags,
        defaults: Mapping[str, Any],
        models: Models,
    ) -> None:
        panels = Panels.parse(defaults, PANELS_JSON)
        self.request = request
        self.flags = flags
        self.models = models
        self.mode: TaskMode = flags.mode(request.topic)
        self.notes: list[NoteAdded] = []
        self.seat_notes: list[NoteAdded] = []
        """About the panel as it was set; they do not matter if the meta-panel sets another."""
        self.wishes = flags.wishes
        asked = flags.host or self.wishes.named_for(HOST_ID, ORCHESTRATOR_ID)
        self.asked_host = asked is not None
        self.orchestrator = asked or panels.orchestrator
        self.wish = host_wish(request, models, asked, panels.orchestrator)
        usual = [slot.model for slot in panels.panels[self.mode]] if "panels" in defaults else []
        # The last: the first is the advocate's.
        table = self.wishes.all[::-1] or usual[::-1]
        # Whose model has no seat; who leads in the end hangs on who sits.
        orchestrator = hosted(models, self.wish, ORCHESTRATOR_NAME, table, self.wishes.all)
        self.host = Participant(
            id=ORCHESTRATOR_ID,
            name=ORCHESTRATOR_NAME,
            role="Host",
            emoji="🎯",
            perspective="coordinates, never takes a position, holds no seat",
            speakers=orchestrator.speakers,
        )
        here = panels_here(models, self._kept_from_seats(panels))
        self.panels = Panels.parse(defaults, PANELS_JSON, here)
        self.own_writer = "synthesis" in defaults
        self.seats = Seats(models, self.panels, PANELS_JSON)

    def _kept_from_seats(self, panels: Panels) -> list[str]:
        """The orchestrator's model, and those that are not on the allowlist."""
        seats = Seats(self.models, panels, PANELS_JSON)
        listed = self.models.usable if isinstance(self.models, ListedModels) else ()
        return [self.host.speaker.model, *(name for name in listed if not seats.allowed(name))]

    def set(self) -> Seating:
        panel = self._panel()
        self._lead(panel)
        bench = self._bench(panel)
        participants = [participant_for(plan, _candidate(held)) for plan, held in panel.seats]
        models = {model_key(each.speaker.model) for each in participants}
        wanted = find(bench, self.panels.synthesis)
        named = bool(self.orchestrator or self.request.host_model)
        writer = synthesiser(
            [wanted] if wanted else [],
            bench,
            models,
            self.host.speaker.model,
            named=named,
            asked=self.asked_host,
        )
        seated = [held.speakers[0] for _, held in panel.seats]
        if not self.asked_host and writer.model != self.host.speaker.model:
            self.notes.extend(
                elsewhere(self.models, writer.speakers[0], seated, "writes the synthesis")
            )
        about_panel = (*self.seat_notes, *say.bias(participants, self.host, writer.model))
        analysts: tuple[Participant, ...] = ()
        if not (panel.fixed or self._demonstration(participants)):
            analysts = self._affordable(self._analysts(bench), panel)
        meta = bool(analysts)
        participants.append(writer_participant(writer.speakers))
        if not meta:
            self.notes.extend(about_panel)
        leads = (participants[-1], self.host)
        self.notes.extend(demonstrated(participants[:-1], leads, DEMONSTRATION_NOTE))
        self._note_the_context()
        terms = Terms(
            task_mode=self.mode,
            quick=self.flags.quick,
            check_synthesis=self.flags.check_synthesis,
            search=self.request.search,
            meta=meta,
            forced="parallel_debate" if self.flags.debate else None,
            session=self.flags.session or "",
            max_panel=self.flags.seats or self.panels.max_panel,
            rounds=self.flags.rounds,
            timeouts=self.panels.timeouts,
            costs=self.panels.costs,
            default=Design(
                workflow="parallel_debate",
                rounds=1 if self.flags.quick else self.flags.rounds or self.panels.rounds,
                seats=tuple(plan for plan, _ in panel.seats),
                synthesis=writer.model,
                by=panel.by,
            ),
            default_notes=tuple(dict.fromkeys(about_panel)) if meta else (),
            bench=bench,
            analysts=analysts,
            synthesis=self.panels.synthesis,
            named_host=named,
            asked_host=self.asked_host,
            choices=self.flags.choices or choices_of(self.request.topic),
        )
        return Seating(
            participants=tuple(participants),
            host=self.host,
            options=terms.model_dump(mode="json"),
            language=self.request.language or "auto",
            notes=tuple(dict.fromkeys(self.notes)),
        )

    def _lead(self, panel: _Panel) -> None:
        """Seat the orchestrator that this panel is to have, wherever its models came from."""
        table = [held.model for _, held in reversed(panel.seats)]
        led = hosted(self.models, self.wish, ORCHESTRATOR_NAME, table, self.wishes.all)
        self.host = self.host.model_copy(update={"speakers": led.speakers})
        self.notes[:0] = led.notes

    def _panel(self) -> _Panel:
        """Explicit models first, then a profile, then the mode's own; `budget` when too few of
        those can be used."""
        own = self.panels.panels[self.mode]
        roles = [slot.role for slot in own]
        if self.flags.listed or self.flags.experts or self.wishes:
            slots, by = self._by_hand(own)
            return _Panel(self._seated(slots, roles), by, fixed=True)
        if self.flags.seats is not None:
            own = _filled(own, self.flags.seats)
        held = [self.seats.held(slot, slot.role or "a panelist") for slot in own]
        usable = len({model_key(each.model) for each in held if each.own})
        if all(each.speakers[0].demonstration for each in held):
            first = own[: self.flags.seats or QUICK_SEATS]
            return _Panel(self._seated(first, roles, quiet=True), "default", fixed=True)
        if usable < min(ENOUGH, len(own)):
            missing = usable < len({slot.model for slot in own})
            slots = self.panels.profiles[BUDGET]
            if self.flags.seats is not None:
                slots = _filled(slots, self.flags.seats)
            few = say.few_models(usable, len(slots))
            self.notes.append(say.switched_to_budget(usable, len(own)) if missing else few)
            seats = self._seated(slots, roles)
            return _Panel(seats, f"profile {BUDGET}", fixed=self.flags.quick)
        if self.flags.quick:
            # First those whose own model can speak; sorting keeps the panel's order.
            ordered = sorted(range(len(own)), key=lambda place: not held[place].own)
            ordered = ordered[: self.flags.seats or QUICK_SEATS]
            slots = tuple(own[place] for place in sorted(ordered))
            return _Panel(self._seated(slots, [s.role for s in slots]), "quick", fixed=True)
        most = self.flags.seats or self.panels.max_panel
        return _Panel(self._seated(own[:most], roles), "default", fixed=False)

    def _by_hand(self, own: tuple[Slot, ...]) -> tuple[tuple[Slot, ...], str]:
        """The seats that the asker named: by experts, by models, or by both. Where there are more
        seats than models, they share them."""
        slots, by = self._listed() if self.flags.listed else (own, "default")
        usual = len(slots) if self.flags.listed else min(len(own), self.panels.max_panel)
        filled = _filled(slots, self.flags.count(usual))
        for place, persona in enumerate(self._personas()):
            self.notes.extend(not_of_library(persona))
            task = persona.guidance or f"Argue as {persona.name}: {persona.perspective}"
            filled = (
                *filled[:place],
                filled[place].model_copy(update={"role": plain_role(persona.name), "task": task}),
                *filled[place + 1 :],
            )
        if self.flags.experts:
            by = "experts"
        seats = [slot.role for slot in (*filled, *own) if slot.role]
        profile = by.startswith("profile")
        checked = replace(self.wishes, in_order=()) if profile else self.wishes
        self.notes.extend(
            checked.checked(
                [*seats, HOST_ID, ORCHESTRATOR_ID], len(filled), experts=len(self.flags.experts)
            )
        )
        if len(filled) == 1:
            self.notes.append(say.alone())
        named = [self.wishes.named_for(slot.role) if slot.role else None for slot in filled]
        return tuple(
            slot.model_copy(update={"model": model, "fallback": ()}) if model else slot
            for slot, model in zip(filled, named, strict=True)
        ), by

    def _personas(self) -> Sequence[ChosenExpert]:
        """The experts that were named."""
        if not self.flags.experts:
            return ()
        chosen = self.request.chosen_experts
        return chosen.experts if chosen else [method_or_named(name) for name in self.flags.experts]

    def _listed(self) -> tuple[tuple[Slot, ...], str]:
        names = self.flags.listed
        profile = self.panels.profiles.get(names[0]) if len(names) == 1 else None
        if profile is not None:
            return profile, f"profile {names[0]}"
        slots = self.panels.panels[self.mode]
        fallback = {slot.model: slot.fallback for slot in slots}
        for name in names:
            self._known(name)
        return tuple(Slot(model=n, fallback=fallback.get(n, ())) for n in names), "panel"

    def _known(self, name: str) -> None:
        try:
            self.models.seat(name, "the panel")
        except UnknownName as error:
            if error.kind != "model" or "/" in name or len(self.flags.listed) > 1:
                raise
            here = self.models.usable if isinstance(self.models, ListedModels) else ()
            known = {*self.panels.profiles, *error.suggestions, *here}
            raise UnknownName("profile or model", name, known) from None

    def _seated(
        self, slots: Sequence[Slot], roles: Sequence[str], *, quiet: bool = False
    ) -> tuple[tuple[SeatPlan, Held], ...]:
        found: list[tuple[SeatPlan, Held]] = []
        for place, slot in enumerate(slots):
            usual = roles[place] if place < len(roles) else f"Panelist {place + 1}"
            taken = [plan for plan, _ in found]
            role = distinct_role(slot.role or usual, [plan.role for plan in taken])
            held = self._held(slot, role, quiet=quiet)
            if held is None:
                continue
            plan = SeatPlan(
                id=role_id(role, [plan.id for plan in taken]),
                role=role,
                model=slot.model,
                task=slot.task or BRIEFS.get(role, ""),
            )
            found.append((plan, held))
        if not found:
            raise UsageError(
                say.EVERYBODY_REFUSED, "Add models to it in panels.json, or remove the list."
            )
        return tuple(found)

    def _held(self, slot: Slot, role: str, *, quiet: bool) -> Held | None:
        """The slot's speakers, without those who may not sit; None if that leaves nobody."""
        held = self.seats.held(slot, role)
        if not self.seats.allowed(slot.model):
            if not self.seats.allowed(held.model):
                self.seat_notes.append(say.not_allowed(role, slot.model, "the seat was skipped"))
                return None
            self.seat_notes.append(say.not_allowed(role, slot.model, f"{held.model} was seated"))
            return held
        if self._is_orchestrators(held.model) and not self.flags.listed:
            others = [ref for ref in held.speakers if self._may_sit_instead(ref)]
            if others:
                self.seat_notes.append(
                    NoteAdded(
                        code="orchestrator_excluded",
                        text=f"{role}: {held.model} is the orchestrator's own model and holds no "
                        f"seat, so {others[0].model} was seated.",
                    )
                )
                seated = others[0].model_copy(update={"spare": False})
                return Held(slot, (seated, *others[1:]), own=held.own)
        if not held.own and not quiet:
            self.seat_notes.append(say.degraded(role, held))
        return held

    def _may_sit_instead(self, ref: SpeakerRef) -> bool:
        """Whether one of a seat's chain may hold it from the start: who would stand in after a
        failure is no model of this table by that, as in a follow-up, which keeps its models."""
        if self._is_orchestrators(ref.model):
            return False
        if not ref.spare or not isinstance(self.models, ListedModels):
            return True
        return ref.model in self.models.usable

    def _is_orchestrators(self, model: str) -> bool:
        return model_key(model) == model_key(self.host.speaker.model)

    def _bench(self, panel: _Panel) -> tuple[BenchModel, ...]:
        """Everybody whom panels.json names and who is near this panel, and the orchestrator's model
        as the last: there is always one who can write."""
        bench = self._near(self.seats.bench(), panel)
        own = self.host.speaker.model
        # After the choice: the same model of another server is no way to this one.
        if any(_reaches(each, own) for each in bench):
            return bench
        last = BenchModel(name=own, speakers=self.host.speakers, allowed=self.seats.allowed(own))
        return (*bench, last)

    def _near(self, bench: tuple[BenchModel, ...], panel: _Panel) -> tuple[BenchModel, ...]:
        """Of the bench those of the panel's servers, where all of the panel was named or speaks on
        this machine; the one that panels.json names for the synthesis stays."""
        seated = [held.speakers[0] for _, held in panel.seats]
        if not bound_to(self.models, seated, self.wishes.all):
            return bench
        servers = {server(self.models, each) for each in (*seated, self.host.speaker)}
        wanted = find(bench, self.panels.synthesis) if self.own_writer else None
        return tuple(
            each
            for each in bench
            if each == wanted or server(self.models, each.speakers[0]) in servers
        )

    def _analysts(self, bench: Sequence[BenchModel]) -> tuple[Participant, ...]:
        """The premium models, each as one meta-analyst. For one that cannot speak its fallback
        sits, or another of the bench; no model sits twice, and one alone does not sit at all."""
        premium = [each for each in bench if each.premium and each.allowed]
        usable = [each for each in bench if each.usable and each.allowed]
        own = {model_key(each.model) for each in premium if each.usable}
        found: dict[str, BenchModel] = {}
        absent: list[str] = []
        for candidate in premium:
            key = model_key(candidate.model)
            if candidate.usable or not (key in own or key in found or self._mute(candidate)):
                found.setdefault(key, candidate)
            else:
                absent.append(candidate.name)
        for candidate in usable:
            if len(found) < len(premium):
                found.setdefault(model_key(candidate.model), candidate)
        if len(found) < TWO:
            self.notes.append(say.META_ALONE)
            return ()
        if absent and len(found) < len(premium):
            self.notes.append(say.meta_smaller(len(found), absent))
        return tuple(
            self._analyst(analyst_id, candidate)
            for analyst_id, candidate in zip(ANALYST_IDS, found.values(), strict=False)
        )

    def _mute(self, candidate: BenchModel) -> bool:
        """Whether only a demonstration, or a model that may not sit, would speak for it."""
        first = candidate.speakers[0]
        return first.demonstration or not self.seats.allowed(first.model)

    def _analyst(self, analyst_id: str, candidate: BenchModel) -> Participant:
        name = f"Meta-analyst {analyst_id[-1].upper()}"
        if not candidate.usable:
            held = self.seats.held(self.seats.named(candidate.name, "meta.models", name), name)
            self.notes.append(say.degraded(name, held))
        return Participant(
            id=analyst_id,
            name=name,
            role="Meta-analyst",
            emoji="🧭",
            perspective="designs the workflow",
            speakers=candidate.speakers,
        )

    def _demonstration(self, participants: Sequence[Participant]) -> bool:
        return any(each.speaker.demonstration for each in participants)

    def _affordable(
        self, analysts: tuple[Participant, ...], panel: _Panel
    ) -> tuple[Participant, ...]:
        """A meta-panel is worth its calls only if there is room for the debate it designs."""
        limit = self.request.budget.max_calls
        if not analysts or limit is None or limit >= len(analysts) + 2 * len(panel.seats) + 1:
            return analysts
        self.notes.append(say.META_TOO_DEAR)
        return ()

    def _note_the_context(self) -> None:
        if not self.request.search:
            self.notes.append(NO_SEARCH_NOTE)


def _reaches(candidate: BenchModel, model: str) -> bool:
    names = (candidate.name, *candidate.doors)
    return model_key(model) in {model_key(name) for name in names}


def _candidate(held: Held) -> BenchModel:
    return BenchModel(name=held.slot.model, speakers=held.speakers, usable=held.own)


DEMONSTRATION_NOTE = demonstration(
    "its positions and scores are not meaningful, and the result is an extract of what was said"
)
NO_SEARCH_NOTE = NoteAdded(
    code="no_search",
    text="No web search in this run: the panel has no real-time data, and every prompt says so.",
    remedy="Fine for abstract and theoretical questions; otherwise check what is said about the "
    "present.",
)
