"""The table: what every procedure reads of a discussion's state, and how it asks its seats.

A procedure says who is asked what and in which order. How a question is put into a prompt, what a
seat is to declare, how the vote stands, which words the host may use: that is the same for all, and
stands here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import ClassVar

from ..core.condensing import ROOM, condensed, whole
from ..core.contracts import ANYTHING, Contract
from ..core.declaration import ANY, SILENT, Decision
from ..core.declaration_block import LABEL
from ..core.declaration_form import MAX_TEXT, PLACEHOLDER, Form, Key, Listed
from ..core.effects import (
    DECLARING_TOKENS,
    OwnTemplate,
    PromptPlan,
    PromptValue,
    Task,
    Texts,
    TurnPlan,
    TurnPolicy,
    Untrusted,
    turn_id,
)
from ..core.events import SpeechGiven
from ..core.record import ConditionOnTable, Record, record_before, record_of
from ..core.standing import Standing, standing_of
from ..core.state import State
from ..core.text import as_sentence, clip_words, worded
from ..core.values import Participant
from ..core.verdict_sources import REMARK
from ..core.versions import in_short
from .condition_list import condition_lines
from .late import late_options, said_for, with_their_demands

LANGUAGES = {"en": "English", "de": "German", "es": "Spanish", "zh": "Chinese", "fr": "French"}
PATIENT = TurnPolicy(timeout=600, retries=1)
"""For the embedded model, which may share its core with everything else on the machine."""
ASKED_AT_ONCE = 6
"""Points and conditions that one declaration must answer at most."""
LISTED_AT_ONCE = 24
SPEECH_TOKENS = 4096
"""What the host reads of one seat before it concludes, at most, as a rule."""


@dataclass(frozen=True)
class Table:
    """A discussion as its procedure sees it."""

    turn_name: ClassVar[str] = "{table}-{seat}-r{round}"
    """What a participant's turn is called where turns are listed."""

    state: State
    label: str
    """What its calls are called by."""
    open_names: bool = False
    """Whether the seats know each other by name, and not only by letters."""

    # --- who sits here -------------------------------------------------------------------------

    @property
    def host(self) -> Participant:
        return self.state.start.host

    @property
    def host_writes(self) -> bool:
        """A demonstration model cannot judge: code extracts in its place."""
        return not self.host.speaker.demonstration

    @property
    def seats(self) -> tuple[Participant, ...]:
        return self.state.participants

    def name(self, participant: str) -> str:
        return self.state.name_of(participant)

    def option(self, name: str) -> object:
        """What the discussion was opened with under this name."""
        return self.state.start.options.get(name)

    # --- what was said and declared ------------------------------------------------------------

    @property
    def record(self) -> Record:
        return record_of(self.state)

    @property
    def standing(self) -> Standing:
        return standing_of(self.state)

    def last_words(self, *stages: tuple[str, int]) -> list[SpeechGiven]:
        """Everybody's newest speech of these stages, in the order of the seats."""
        newest: dict[str, SpeechGiven] = {}
        for stage, round_ in stages:
            newest.update({s.participant: s for s in self.state.spoken_in(stage, round_)})
        return [newest[p.id] for p in self.seats if p.id in newest]

    @property
    def last_round(self) -> int:
        return self.state.said.last_round

    # --- fairness ------------------------------------------------------------------------------

    def shuffled(self, reader: str, items: Sequence[str]) -> list[str]:
        """The items in an order drawn for this one reader from the recorded seed, so that nothing
        gains from standing first and everybody can draw it again."""

        def lot(item: str) -> str:
            return hashlib.sha256(f"{self.state.start.seed}/{reader}/{item}".encode()).hexdigest()

        return sorted(items, key=lot)

    def letters(self, reader: str, *, reverse: bool = False) -> dict[str, str]:
        """Letter → seat, for everybody but the reader, in this reader's own order."""
        order = self.shuffled(reader, [p.id for p in self.seats if p.id != reader])
        if reverse:
            order.reverse()
        return {_letter(number): seat for number, seat in enumerate(order)}

    def peers(self, reader: str, *, reverse: bool = False) -> dict[str, str]:
        """The others as a seat knows them: by name, or by its letters for them."""
        others = [each for each in self.seats if each.id != reader]
        names = {each.name: each.id for each in others}
        if not self.open_names:
            return self.letters(reader, reverse=reverse)
        return names if len(names) == len(others) else {each.id: each.id for each in others}

    def anonymous(
        self,
        reader: str,
        speeches: Sequence[SpeechGiven],
        *,
        reverse: bool = False,
        names: bool = False,
    ) -> tuple[Untrusted, ...]:
        """The others' speeches under the letters by which this reader knows them; with `names`
        also whose they are, where that is no secret."""
        said = {speech.participant: speech for speech in speeches}
        return tuple(
            Untrusted(
                "speech",
                said[seat].text,
                f"Answer {letter}, {self.name(seat)}" if names else f"Answer {letter}",
            )
            for letter, seat in self.letters(reader, reverse=reverse).items()
            if seat in said
        )

    def by_name(
        self,
        speeches: Sequence[SpeechGiven],
        *,
        later: Sequence[SpeechGiven] = (),
        listed: Set[str] = frozenset(),
    ) -> tuple[Untrusted, ...]:
        """Speeches for whoever may know who spoke, with the turn by which each is cited, what it
        declared, and whom it means by its letters. What stands word for word in the `later`
        declaration of the same seat, which is shown too, or is `listed` beside the speeches, is
        not told twice."""
        repeated = {s.participant: _declared_texts(s) for s in later}
        return tuple(
            Untrusted(
                "speech",
                self._with_declaration(s, listed=repeated.get(s.participant, frozenset()) | listed),
                self._origin(s),
            )
            for s in speeches
        )

    def conditions_told(self) -> PromptValue:
        """All conditions for whoever writes the result, with what was said to each."""
        lines = "\n".join(condition_lines(self.record, self.name))
        return Untrusted("points", lines, "the declarations") if lines else ""

    @property
    def condition_texts(self) -> frozenset[str]:
        """The conditions as they are worded now, which `conditions_told` lists."""
        return frozenset(each.text for each in self.record.conditions)

    def _origin(self, speech: SpeechGiven) -> str:
        """Each seat knows the others by letters of its own. They are explained beside its words and
        not replaced in them, so that a quotation from them stays exact."""
        origin = f"{self.name(speech.participant)}, turn {speech.turn_id}"
        if self.open_names or speech.independent:
            return origin
        # All of them: whether `A` is an article or somebody cannot be told from the words.
        letters = self.letters(speech.participant)
        meant = [f"{letter} is {self.name(seat)}" for letter, seat in letters.items()]
        return f"{origin}; in these words {', '.join(meant)}" if meant else origin

    def _with_declaration(
        self, speech: SpeechGiven, *, names: bool = True, listed: Set[str] = frozenset()
    ) -> str:
        """The words and what they declared, but for what is `listed` elsewhere; without `names` for
        who may not know who spoke."""
        d = speech.declaration
        if d is None:
            return speech.text
        lines = [speech.text]
        if d.position and d.position not in listed:
            lines.append(f"Declared position: {d.position}")
        kept = {worded(c.text) for c in self.record.conditions if c.owner == speech.participant}
        lines += [
            f"Declared condition ({c.kind}"
            f"{'' if worded(c.text) in kept else ', since reworded or withdrawn'}): {c.text}"
            for c in d.conditions
            if c.text not in listed
        ]
        if d.abstain is not None:
            lines.append(f"Abstains: {d.abstain}")
        lines += [
            f"Took over from {self.name(a.participant) if names else 'another'}: {a.what}"
            for a in d.adopted
            if a.moved
        ]
        if d.for_the_record:
            lines.append(f"For the record: {d.for_the_record}")
        return "\n".join(lines)

    # --- prompts -------------------------------------------------------------------------------

    @property
    def language(self) -> str:
        asked = self.state.start.language
        return LANGUAGES.get(asked, asked)

    def common(self) -> dict[str, PromptValue]:
        """What every prompt of a discussion holds."""
        return {
            "question": Untrusted("question", self.state.start.topic),
            "context": self.documents,
            "remarks": self.remarks,
            "language": self.language,
            "today": self.today,
        }

    @property
    def remarks(self) -> Texts:
        """What the host said beside its turns."""
        return self.state.derived("remarks", _remarks)

    @property
    def documents(self) -> tuple[Untrusted, ...]:
        """The documents as the seats are shown them: whole, or condensed if so it was opened."""
        room = self.option(ROOM)
        if not isinstance(room, int):
            return whole(self.state.context)
        return condensed(self.state.context, self.state.start.topic, room).shown

    @property
    def today(self) -> str:
        """The day of the newest event: a plan with dates needs one, and a resumed discussion is
        not back on the day it was opened."""
        return self.state.updated_at.date().isoformat() if self.state.updated_at else ""

    @staticmethod
    def view(participant: Participant) -> str:
        """What a model that understands little is told of a seat's point of view, within a
        sentence."""
        return (
            "the question below" if participant.described else participant.perspective.rstrip(".")
        )

    @staticmethod
    def own_name(participant: Participant) -> str:
        """What a seat is called where it is told who it is."""
        return "Expert" if participant.described else participant.name

    def persona(self, participant: Participant) -> dict[str, PromptValue]:
        """Who a seat is. What the host described is a model's words, written after it had read the
        question and its material: they stand in a fence, and the instructions point there."""
        if participant.described:
            told = {
                "Name": participant.name,
                "Sees it from here": participant.perspective,
                "Looks at": participant.looks_at,
            }
            lines = [f"{what}: {text}" for what, text in told.items() if text]
            return {
                "name": "the expert whose seat is described below",
                "perspective": "as that description says.",
                "guidance": "",
                "own_seat": Untrusted("seat", "\n".join(lines)),
            }
        settled = self.option("guidance")
        guidance = settled.get(participant.id, "") if isinstance(settled, dict) else ""
        if self.state.seated is not None:
            guidance = self.state.seated.guidance.get(participant.id, guidance)
        return {
            "name": participant.name,
            "perspective": as_sentence(participant.perspective),
            "guidance": str(guidance),
            "own_seat": "",
        }

    # --- declarations --------------------------------------------------------------------------

    def form(
        self,
        participant: Participant,
        keys: Sequence[Key],
        *,
        alone: bool = False,
        reverse: bool = False,
        scored: Mapping[str, str] | None = None,
        only: Sequence[str] | None = None,
        round_: int | None = None,
        whole: bool = False,
    ) -> Form:
        """What a seat is to declare now. `only` limits what it must answer to these ids; with
        `reverse` the others and the options stand from the last to the first; `round_` is given
        where seats speak side by side, who may know nothing of each other's words. A `whole` form
        lists and asks all that there is: whoever fills it in pages through it by itself."""
        record = self.record if round_ is None else record_before(self.state, round_)
        decisions = record.decisions if "votes" in keys else ()
        if reverse:
            # Whoever votes for what stands first is to be found out.
            decisions = tuple(
                each.model_copy(update={"options": each.options[::-1]}) for each in decisions
            )
        peers = self.peers(participant.id, reverse=reverse)
        asked = "stances" in keys
        listed = self._listed(record, participant.id, only, peers, whole=whole) if asked else ()
        return Form(
            keys=tuple(keys),
            decisions=decisions,
            listed=listed,
            peers=peers if "adopted" in keys else {},
            scored=scored or {},
            recorded=_recorded(record, participant.id) if decisions else "",
            held=_held(record, participant.id) if decisions else {},
            alone=alone,
            gone=_gone(record, participant.id) if asked and whole else {},
        )

    def _listed(
        self,
        record: Record,
        seat: str,
        only: Sequence[str] | None,
        peers: Mapping[str, str],
        *,
        whole: bool = False,
    ) -> tuple[Listed, ...]:
        """The points and conditions that a seat is shown: what it must answer first. `only` limits
        them to these, which may be conditions of its own that it has to think of again."""
        known = {who: name for name, who in peers.items()}
        points = [p for p in record.points if not p.withdrawn and p.status != "rejected"]
        found = [Listed(p.id, p.text, own=p.author == seat) for p in points]
        called = known if record.as_cast else {}
        # One's own conditions come first, facts too: they stand until their owner withdraws them.
        own = [
            Listed(c.id, c.text, own=True, note=_refusals(c, called))
            for c in record.conditions
            if c.owner == seat
        ]
        found = [*own, *found]
        found += [
            Listed(
                c.id,
                c.text,
                by=known.get(c.owner, ""),
                otherwise=c.condition.otherwise,
                note=_reworded(c, seat) if record.as_cast else "",
            )
            for c in record.conditions
            if c.demand and c.owner != seat
        ]
        most = None if whole else ASKED_AT_ONCE
        wanted = [*only] if only is not None else unanswered(record, seat)[:most]
        asked = [replace(each, asked=True) for each in found if each.id in wanted and not each.own]
        asked.sort(key=lambda each: wanted.index(each.id))
        if only is not None:
            return (*(each for each in own if each.id in only), *asked)
        taken = {each.id for each in asked}
        rest = [each for each in found if each.id not in taken]
        return (*asked, *rest)[: None if whole else LISTED_AT_ONCE]

    def declaration(self, form: Form) -> PromptPlan:
        """The part of a prompt that asks for a declaration."""
        several = len(form.decisions) > 1
        return PromptPlan(
            "shared/declaration",
            {
                "recorded": form.recorded,
                "decisions": self.decisions_listed(form.decisions) if form.decisions else "",
                "points": _points_listed(form.listed),
                "example": _example(form),
                "longest": str(MAX_TEXT),
                "several": several,
                "alone": form.alone,
                "votes": form.asks_votes,
                "words_own": form.words_own,
                "position": "position" in form.keys,
                "conditions": "conditions" in form.keys,
                "adopted": bool(form.peers) and "adopted" in form.keys,
                "new_points": "new_points" in form.keys,
                "scores": ", ".join(form.scored) if "scores" in form.keys else "",
                "abstain": "abstain" in form.keys,
                "end": "end" in form.keys,
                "values": "; ".join(f"{n} is {v.wanted}" for n, v in form.values.items()),
                "actions": "actions" in form.keys and "delivers" not in form.keys,
                "for_the_record": "for_the_record" in form.keys,
                "verdict": "delivers" in form.keys,
                "rests_on": "rests_on" in form.keys,
            },
        )

    def decisions_listed(self, decisions: Sequence[Decision]) -> Untrusted:
        """The decisions with their options, fenced: an asker, a seat or the clerk worded them."""
        lines: list[str] = []
        for decision in decisions:
            lines.append(f"{decision.id}: {decision.question}")
            lines += [f"  {option.id}: {option.text}" for option in decision.options]
        return Untrusted("options", "\n".join(lines))

    def again(self, form: Form) -> PromptPlan:
        """The short prompt for a declaration that was missing or broken."""
        return PromptPlan(
            "shared/declare-again",
            {
                "question": Untrusted("question", self.state.start.topic),
                "language": self.language,
                "declaration": self.declaration(replace(form, alone=True)),
            },
        )

    # --- turns ---------------------------------------------------------------------------------

    def declaring_task(
        self,
        template: str | OwnTemplate,
        variables: Mapping[str, PromptValue],
        form: Form,
        contract: Contract = ANYTHING,
        *,
        max_tokens: int = SPEECH_TOKENS,
        repeats: bool = False,
    ) -> Task:
        """A speech that ends with a declaration. The template gets it as `declaration`."""
        filled = {**variables, "declaration": self.declaration(form)}
        return Task(
            PromptPlan(template, filled, repeats),
            contract,
            # The block comes last: without tokens of its own a long speech would cut it off.
            max_tokens=max_tokens + DECLARING_TOKENS,
            form=form,
            again=self.again(form),
        )

    def ballot_turn(
        self,
        participant: Participant,
        stage: str,
        round_: int,
        form: Form,
        policy: TurnPolicy,
        *,
        asks: Sequence[str] = (),
        unheard: bool = False,
    ) -> TurnPlan:
        """A short call that asks for a declaration and nothing else. `asks` says what it is about,
        in our words and ids only; `unheard`: nobody has heard the others yet. What came to the
        table since the seat voted is shown with what is said for it, and its conditions are put to
        the seat."""
        new = late_options(self, participant.id, stage)
        form = with_their_demands(self, participant.id, form, new)
        variables: dict[str, PromptValue] = {
            **self.common(),
            **{key: self.persona(participant)[key] for key in ("name", "own_seat")},
            "own": self._own_words_and_works(participant.id, form),
            "peers": tuple(
                Untrusted("speech", held, f"Answer {letter}")
                for letter, seat in form.peers.items()
                if (held := self._held_in_short(seat))
            ),
            "late": Untrusted("options", self.shortened(said_for(self, new))) if new else "",
            "asks": "\n".join(f"- {each}" for each in asks),
            "unheard": unheard,
            "declaration": self.declaration(form),
        }
        task = Task(
            PromptPlan("shared/ballot", variables),
            max_tokens=DECLARING_TOKENS,
            form=form,
            again=self.again(form),
        )
        return self.seat_turn(participant, stage, round_, task, policy, independent=unheard)

    def shortened(self, text: str) -> str:
        """What was said earlier, no longer than a later prompt may show of it."""
        return text

    def _held_in_short(self, seat: str) -> str:
        """A seat's position, and the works by it that stand."""
        told = (self.record.position(seat), in_short(self.state, seat))
        return "\n".join(each for each in told if each)

    def _own_words_and_works(self, seat: str, form: Form | None) -> PromptValue:
        words, works = self.own_words(seat, form), in_short(self.state, seat)
        if not works or not isinstance(words, Untrusted):
            return words
        return replace(words, text=f"{words.text}\n{works}")

    def own_words(self, seat: str, form: Form | None = None) -> PromptValue:
        """A seat's newest speech with what it declared, as it is shown to the seat itself; without
        its conditions that the `form` lists."""
        said = [s for s in self.state.said.of_seats if s.participant == seat and s.text]
        if not said:
            return ""
        # Its letters for the others depend on the order in which they were shown: it needs none.
        listed = {each.text for each in form.listed} if form is not None else set()
        words = self._with_declaration(said[-1], names=self.open_names, listed=listed)
        return Untrusted("speech", words, "yourself")

    def seat_turn(
        self,
        participant: Participant,
        stage: str,
        round_: int,
        task: Task,
        policy: TurnPolicy,
        *,
        demo: Task | None = None,
        independent: bool = False,
        name: str = "",
    ) -> TurnPlan:
        """A participant's turn. `demo` is the same task, scaled to a demonstration model."""
        demonstrates = any(ref.demonstration for ref in participant.speakers)
        return TurnPlan(
            turn_id=turn_id(round_, stage, participant.id),
            stage=stage,
            round=round_,
            participant=participant,
            label=name
            or self.turn_name.format(
                table=self.label, seat=participant.id, stage=stage, round=round_
            ),
            task=task,
            demo_task=demo if demonstrates else None,
            policy=PATIENT if participant.speaker.demonstration else policy,
            independent=independent,
        )

    def host_turn(
        self,
        stage: str,
        task: Task,
        policy: TurnPolicy,
        *,
        name: str = "",
        speaker: Participant | None = None,
    ) -> TurnPlan:
        """A turn of the host after the newest round."""
        host = speaker or self.host
        return TurnPlan(
            turn_id=turn_id(0, stage, host.id),
            stage=stage,
            round=0,
            participant=host,
            label=name or f"{self.label}-{stage}",
            task=task,
            policy=PATIENT if host.speaker.demonstration else policy,
            after_round=self.last_round,
        )


def _remarks(state: State) -> Texts:
    made = state.said.grown.of("remarks", state.said.of(REMARK), _remark)
    return Texts(((made, 0, len(made)),))


def _remark(_: Untrusted | None, __: int, speech: SpeechGiven) -> Untrusted:
    return Untrusted("remark", speech.text, "the host")


def _declared_texts(speech: SpeechGiven) -> frozenset[str]:
    d = speech.declaration
    return frozenset((d.position, *(c.text for c in d.conditions))) if d else frozenset()


def _letter(number: int) -> str:
    """A to Z, then AA, AB and so on."""
    before, last = divmod(number, 26)
    return (_letter(before - 1) if before else "") + chr(ord("A") + last)


def unanswered(record: Record, seat: str) -> list[str]:
    """Ids of others' points and demands that a seat has not spoken to: one of each author before
    the second of any, and of one author those first on which something hangs."""
    by_author: dict[str, list[str]] = {}
    for each in record.conditions:
        if each.demand and each.owner != seat and seat not in each.answers:
            by_author.setdefault(each.owner, []).append(each.id)
    points = [
        p for p in record.points if p.author != seat and seat not in p.stances and not p.withdrawn
    ]
    weight: Mapping[str, int] = {"disputed": 0, "held": 1, "open": 2}
    for point in sorted(points, key=lambda p: weight.get(p.status, 3)):
        by_author.setdefault(point.author, []).append(point.id)
    turns = zip_longest(*by_author.values())
    return [each for turn in turns for each in turn if each is not None]


LONGEST_REASON = 200


def _refusals(condition: ConditionOnTable, called: Mapping[str, str]) -> str:
    """Who refuses a demand, as its owner knows them, and why: nobody can answer what it was not
    told."""
    told = []
    for who, said in condition.answers.items():
        if condition.demand and said.stance == "disagree" and who in called:
            why = clip_words(" ".join(said.text.split()), LONGEST_REASON)
            told.append(f"refused by {called[who]}" + (f": “{why}”" if why else ""))
    return "; ".join(told)


def _reworded(condition: ConditionOnTable, seat: str) -> str:
    """That what a seat answered is worded otherwise now, and how it was worded then."""
    before = condition.earlier.get(seat)
    if before is None:
        return ""
    did = "granted" if before.said.stance == "agree" else "answered"
    wording = clip_words(" ".join(before.wording.split()), LONGEST_REASON)
    return f"reworded since you {did} it; before: “{wording}”"


def _gone(record: Record, seat: str) -> dict[str, str]:
    """Why nobody takes a stance on what is on the record and on no list."""
    found = {
        each.id: "is a fact: no stance is taken on facts"
        for each in record.conditions
        if not each.demand and each.owner != seat
    }
    found |= {each.id: "was rejected by all" for each in record.points if each.status == "rejected"}
    found |= {
        stance.id: f"was withdrawn in round {each.round} by {each.participant}"
        for each in record.statements
        for stance in each.declaration.stances
        if stance.stance == "withdraw" and record.condition(stance.id) is None
    }
    return found


def _recorded(record: Record, seat: str) -> str:
    """What the record says of a seat, for it to confirm or correct."""
    parts: list[str] = []
    for decision in record.decisions:
        vote = record.vote(decision, seat)
        if vote.vote is not None:
            told = f"on {decision.id} you hold {vote.choice}"
            if vote.vote.rejects:
                told += f" and reject {', '.join(vote.vote.rejects)}"
            parts.append(told)
            continue
        put = [option.id for option in decision.options if seat in option.holders]
        if put:
            parts.append(f"on {decision.id} the clerk put your statement under {put[0]}")
    return f"Recorded: {'; '.join(parts)}." if parts else ""


def _held(record: Record, seat: str) -> dict[str, str]:
    """What a seat declared last on each decision, and a placeholder where it spoke and did not
    vote. Where the clerk put it is no word of its own: whoever copies that has confirmed
    nothing."""
    held = {d.id: record.vote(d, seat).choice for d in record.decisions}
    spoke = bool(record.of(seat))
    known = {decision: choice for decision, choice in held.items() if choice not in ("", ANY)}
    return {d: PLACEHOLDER for d in held if spoke} | known


_BLANK = {"number": "null", "choice": '"…"', "list": '["…"]'}


def _points_listed(listed: Sequence[Listed]) -> PromptValue:
    if not listed:
        return ""
    lines = [
        f"{'?' if each.asked else ' '} {each.id}{_whose(each)}: {each.told}" for each in listed
    ]
    return Untrusted("points", "\n".join(lines))


def _whose(listed: Listed) -> str:
    """Whose it is, as far as the reader may know, and what that seat holds without it."""
    if listed.own:
        return " (yours)"
    told = [f"of {listed.by}"] if listed.by else []
    told += [f"otherwise {listed.otherwise}"] if listed.otherwise else []
    return f" ({', '.join(told)})" if told else ""


def _example(form: Form) -> str:
    """The block with placeholders for texts and the live ids of the form."""
    decisions = form.decisions
    own = ', "text": ""' if form.words_own else ""
    votes = ", ".join(
        f'{{"on": "{d.id}", "before": "{form.held.get(d.id, SILENT)}", "choice": "{PLACEHOLDER}", '
        f'"acceptable": [], "rejects": []{own}}}'
        for d in decisions
    )
    peer = next(iter(form.peers), "A")
    asked = next((each.id for each in form.listed if each.asked), "")
    asked = asked or next((each.id for each in form.listed), "p1")
    parts = {
        "votes": f'"votes": [{votes}]' if form.asks_votes else "",
        "position": '"position": "…"',
        "conditions": '"conditions": [{"text": "…", "kind": "demand", "otherwise": "open"}]',
        "confidence": '"confidence": 0',
        "stances": f'"stances": [{{"id": "{asked}", "stance": "…", "text": "…"}}]'
        if form.listed
        else "",
        "adopted": f'"adopted": [{{"from": "{peer}", "what": "…", "moved": false}}]'
        if form.peers
        else "",
        "new_points": '"new_points": ["…"]',
        "abstain": '"abstain": null',
        "scores": '"scores": {' + ", ".join(f'"{name}": 3' for name in form.scored) + "}"
        if form.scored
        else "",
        "end": '"end": false',
        "values": '"values": {'
        + ", ".join(f'"{name}": {_BLANK[each.kind]}' for name, each in form.values.items())
        + "}"
        if form.values
        else "",
        "actions": '"actions": [{"what": "…", "owner": "…", "due": "…"}]',
        "for_the_record": '"for_the_record": ""',
        "delivers": f'"delivers": "{form.delivered or PLACEHOLDER}"',
        "answer": '"answer": "…"',
        "why": '"why": ["…"]',
        "would_change": '"would_change": ["…"]',
        # Whoever copies it loses nothing.
        "stands": f'"stands": {json.dumps(form.unreplaced or form.works[-1:])}'
        if form.works
        else "",
        "rests_on": '"rests_on": ["a1"]',
    }
    lines = [part for key in form.keys if (part := parts[key])]
    body = ",\n ".join(lines)
    return f"```{LABEL}\n{{{body}}}\n```"
