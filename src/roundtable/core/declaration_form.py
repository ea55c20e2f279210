"""The form of a declaration: which keys one call asks for, with the live ids, and how the answer is
read: by its schema, never by patterns on prose.

What cannot be misunderstood is mended here (trailing commas, `Option 1`, `70%`); anything else is
a problem, and the speaker is asked once more for the declaration alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from .contracts import Violation
from .declaration import (
    ANY,
    NONE,
    OPEN,
    OPPOSE,
    OWN,
    SILENT,
    Adopted,
    Condition,
    ConditionKind,
    Decision,
    Declaration,
    DeclaredStance,
    DeclaredValue,
    DeclaredVote,
    StanceWord,
)
from .declaration_block import (
    LABEL,
    BrokenJson,
    only_object,
    parse_json,
    split_blocks,
)
from .json_schema import list_of as _list
from .json_schema import object_of as _object
from .json_schema import text_of as _text
from .option_meant import option_meant
from .pattern import pattern
from .text import clip, count_words
from .thoughts import without_thoughts
from .values import ActionItem

Key = Literal[
    "votes",
    "position",
    "conditions",
    "confidence",
    "stances",
    "adopted",
    "new_points",
    "abstain",
    "scores",
    "end",
    "values",
    "actions",
    "for_the_record",
    "delivers",
    "answer",
    "why",
    "would_change",
    "stands",
    "rests_on",
]
OPENING: tuple[Key, ...] = ("position", "conditions", "confidence", "new_points", "abstain")
"""Round 1: nobody has heard anybody."""
LATER: tuple[Key, ...] = (
    "votes",
    "position",
    "conditions",
    "confidence",
    "stances",
    "adopted",
    "new_points",
    "abstain",
)
LAST: tuple[Key, ...] = tuple(key for key in LATER if key != "new_points")
"""The last round raises no points: nobody could answer them."""
BALLOT: tuple[Key, ...] = ("votes", "stances", "adopted", "abstain")
"""For a short call that asks for votes and stances alone."""
VERDICT: tuple[Key, ...] = ("delivers", "answer", "why", "would_change", "actions")
"""What the host declares with its verdict."""

MAX_BLOCK = 40_000
"""Characters of a block. More is a flood, whatever it holds."""
MAX_POSITION, MIN_POSITION = 300, 2
MAX_TEXT = 300
MAX_KEPT = 1_000
"""Of a condition or an action that is longer than was asked for: half of one binds nobody."""
MAX_ANSWER = 400
MAX_CONDITIONS = MAX_ADOPTED = MAX_NEW = 3
MAX_LIST = 8
MAX_VALUES = 20
LARGEST = 1e15
"""A number beyond that is a slip."""
_TOLERANCE = 1.1
"""A text that is a little too long is kept whole; only beyond that is it cut."""

PLACEHOLDER = "…"
"""What stands for a text in the examples of prompts. An answer that repeats it is no answer."""

_STANCES: tuple[StanceWord, ...] = get_args(StanceWord)
_OWN_STANCES = ("amend", "withdraw")
_POINT_ID = pattern(r"^\W*(?P<kind>[pcPC])\s*(?P<number>\d{1,4})\W*$")
_NUMBER = pattern(r"[-+]?\d{1,15}(?:\.\d{1,10})?")
_PERCENT = pattern(r"^\s*(?P<number>\d{1,3})(?:\.\d+)?\s*(?:%|/\s*100|percent)?\s*$")


@dataclass(frozen=True, slots=True)
class Listed:
    """A point or condition that the speaker is shown."""

    id: str
    text: str
    own: bool = False
    """Whether the speaker raised it itself."""
    asked: bool = False
    """Whether it must be answered: it is contested, undecided or decisive."""
    by: str = ""
    """Whose condition it is, as the speaker knows that one."""
    otherwise: str = ""
    """What that one holds without it."""
    note: str = ""
    """What happened to it that this speaker has to know: who refused it and why, or how it was
    worded when the speaker answered it. Foreign words, like the text."""

    @property
    def told(self) -> str:
        return f"{self.text} [{self.note}]" if self.note else self.text


@dataclass(frozen=True, slots=True)
class AskedValue:
    """A value that a procedure of the user's own asks for."""

    kind: Literal["number", "choice", "list"]
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None

    @property
    def wanted(self) -> str:
        """What is expected, in words."""
        match self.kind:
            case "number":
                low, high = self.minimum, self.maximum
                bounds = (
                    f" from {low:g} to {high:g}"
                    if low is not None and high is not None
                    else f" of at least {low:g}"
                    if low is not None
                    else f" of at most {high:g}"
                    if high is not None
                    else ""
                )
                return f"one single number{bounds}, no range"
            case "choice":
                return f"exactly one of these: {'; '.join(self.choices)}"
            case "list":
                among = f" out of these: {'; '.join(self.choices)}" if self.choices else ""
                return f"a list of texts, best first{among}"

    @property
    def schema(self) -> dict[str, Any]:
        match self.kind:
            case "number":
                bounds = {"minimum": self.minimum, "maximum": self.maximum}
                return {"type": "number", **{k: v for k, v in bounds.items() if v is not None}}
            case "choice":
                return {"enum": list(self.choices)}
            case "list":
                item = {"enum": list(self.choices)} if self.choices else _text(MAX_POSITION)
                return _list(item, MAX_VALUES)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text declares. Without a declaration, `problems` say why."""

    prose: str
    declaration: Declaration | None = None
    problems: tuple[Violation, ...] = ()
    mended: tuple[str, ...] = ()
    """What was set right without asking, in plain words."""
    spared: Declaration | None = None
    """Where only side fields are wrong: the declaration without them, for when asking again has not
    helped. What somebody took over from a letter that nobody has costs no vote."""


@dataclass(frozen=True, slots=True)
class Form:
    """What one call asks to be declared."""

    keys: tuple[Key, ...]
    decisions: tuple[Decision, ...] = ()
    listed: tuple[Listed, ...] = ()
    peers: Mapping[str, str] = field(default_factory=dict)
    """Letter, or name where the others are known by name → participant."""
    scored: Mapping[str, str] = field(default_factory=dict)
    """The name under which a peer is scored → participant."""
    values: Mapping[str, AskedValue] = field(default_factory=dict)
    """What a procedure of the user's own asks for beside that, by name."""
    works: tuple[str, ...] = ()
    """The versions of deliverables among which a verdict says what stands, by their ids."""
    unreplaced: tuple[str, ...] = ()
    """Those of them that nothing took the place of: they stand unless the writer says otherwise."""
    delivered: str = ""
    """The option that the count delivers, or `none`: a verdict has nothing to choose there."""
    recorded: str = ""
    """What the record says of this speaker so far, read back to it; ids only, no foreign words."""
    held: Mapping[str, str] = field(default_factory=dict)
    """What this speaker declared last on each decision, where it did: the `before` of its next
    vote."""
    alone: bool = False
    """Only the declaration is wanted, without a speech."""
    gone: Mapping[str, str] = field(default_factory=dict)
    """Why no stance is taken on an id that is not listed, where that is known: it is a fact, or was
    withdrawn."""

    def __hash__(self) -> int:
        return hash((self.keys, self.decisions, self.listed, tuple(self.peers), self.alone))

    @property
    def asks_votes(self) -> bool:
        return "votes" in self.keys and bool(self.decisions)

    @property
    def schema_keys(self) -> tuple[Key, ...]:
        """The keys that can be filled in now: there are options, points and peers for them."""
        return tuple(key for key in self.keys if self._part(key) is not None)

    def schema(self) -> dict[str, Any]:
        """The JSON schema of this call, with the live ids in it."""
        properties = {key: part for key in self.keys if (part := self._part(key)) is not None}
        return {
            "type": "object",
            "additionalProperties": False,
            "required": list(properties),
            "properties": properties,
        }

    def read(self, text: str) -> Reading:
        """What a text declares: in one block labelled `declaration`, outside of any quotation."""
        text = without_thoughts(text)
        prose, blocks = split_blocks(text)
        if not blocks and self.alone and (bare := only_object(text)):
            blocks = [bare]
        if not blocks:
            return Reading(prose, None, (_problem(f"The block labelled `{LABEL}` is missing."),))
        if len(set(blocks)) > 1:
            told = f"There are {len(blocks)} blocks labelled `{LABEL}`. Give one."
            return Reading(prose, None, (_problem(told),))
        block = blocks[-1]
        if len(block) > MAX_BLOCK:
            told = f"The declaration has {len(block):,} characters; {MAX_BLOCK:,} are allowed."
            return Reading(prose, None, (_problem(told),))
        try:
            found, mended = parse_json(block)
        except BrokenJson as broken:
            return Reading(prose, None, (_problem(f"The declaration is no JSON: {broken}"),))
        reading = self.read_fields(found)
        return replace(reading, prose=prose, mended=(*mended, *reading.mended))

    def read_fields(self, fields: Mapping[str, Any]) -> Reading:
        """The declaration in these fields, as a form or a tool call brings them."""
        reader = _Reader(self)
        declaration = reader.declaration(fields)
        problems = tuple(map(_problem, dict.fromkeys((*reader.problems, *reader.slips))))
        return Reading(
            "",
            None if problems else declaration,
            problems,
            tuple(reader.mended),
            declaration if reader.slips and not reader.problems else None,
        )

    def _part(self, key: Key) -> dict[str, Any] | None:
        match key:
            case "votes":
                return self._votes() if self.decisions else None
            case "position":
                return _text(MAX_POSITION)
            case "conditions":
                otherwise = [*self._option_ids, OWN, OPPOSE, OPEN]
                return _list(
                    _object(
                        text=_text(MAX_TEXT),
                        kind={"enum": ["demand", "fact"]},
                        otherwise={"enum": otherwise},
                    ),
                    MAX_CONDITIONS,
                )
            case "confidence":
                return {"type": "integer", "minimum": 0, "maximum": 100}
            case "stances":
                if not self.listed:
                    return None
                ids = {"enum": [each.id for each in self.listed]}
                return _list(
                    _object(id=ids, stance={"enum": list(_STANCES)}, text=_text(MAX_TEXT)), MAX_LIST
                )
            case "adopted":
                if not self.peers:
                    return None
                return _list(
                    _object(
                        **{"from": {"enum": list(self.peers)}},
                        what=_text(MAX_TEXT),
                        moved={"type": "boolean"},
                    ),
                    MAX_ADOPTED,
                )
            case "new_points":
                return _list(_text(MAX_TEXT), MAX_NEW)
            case "abstain":
                return {"type": ["string", "null"]}
            case "scores":
                score = {"type": "integer", "minimum": 1, "maximum": 5}
                return _object(**dict.fromkeys(self.scored, score)) if self.scored else None
            case "end":
                return {"type": "boolean"}
            case "values":
                asked = {name: each.schema for name, each in self.values.items()}
                return _object(**asked) if asked else None
            case "actions":
                action = _object(what=_text(MAX_TEXT), owner=_text(80), due=_text(80))
                return _list(action, MAX_LIST)
            case "for_the_record":
                return _text(MAX_POSITION)
            case "delivers":
                return {"enum": [*(self.decisions[0].option_ids if self.decisions else ()), NONE]}
            case "answer":
                return _text(MAX_ANSWER)
            case "why" | "would_change":
                return _list(_text(MAX_POSITION), 5)
            case "stands":
                works = list(self.works)
                return _list({"enum": works}, len(works)) if works else None
            case "rests_on":
                return _list(_text(MAX_TEXT), 5)

    @property
    def _option_ids(self) -> list[str]:
        return [option for each in self.decisions for option in each.option_ids]

    @property
    def words_own(self) -> bool:
        """Whether a vote says what `own` means: one position cannot answer several decisions."""
        return len(self.decisions) > 1 or "position" not in self.keys

    def _votes(self) -> dict[str, Any]:
        text = {"text": _text(MAX_POSITION)} if self.words_own else {}
        votes = [
            _object(
                on={"const": decision.id},
                before={"enum": [*decision.option_ids, OWN, SILENT]},
                choice={"enum": [*decision.option_ids, OWN, ANY]},
                acceptable=_list({"enum": list(decision.option_ids)}, len(decision.options)),
                rejects=_list({"enum": list(decision.option_ids)}, len(decision.options)),
                **text,
            )
            for decision in self.decisions
        ]
        item = votes[0] if len(votes) == 1 else {"anyOf": votes}
        return _list(item, len(votes))


class _Reader:
    """Reads fields against a form, and collects what is wrong with them."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.problems: list[str] = []
        self.slips: list[str] = []
        """What is wrong with fields that decide nothing by themselves: it is left out."""
        self.mended: list[str] = []

    def declaration(self, fields: Mapping[str, Any]) -> Declaration:
        keys = self.form.keys
        abstain = self._abstention(fields)
        votes = tuple(self._votes(fields.get("votes"), abstain)) if self.form.asks_votes else ()
        needs_position = "position" in keys and abstain is None
        return Declaration(
            votes=votes,
            position=self._position(fields.get("position"), votes) if needs_position else "",
            conditions=tuple(self._conditions(fields.get("conditions")))
            if "conditions" in keys
            else (),
            confidence=self._confidence(fields.get("confidence")) if "confidence" in keys else None,
            stances=tuple(self._stances(fields.get("stances"))) if "stances" in keys else (),
            adopted=tuple(self._adopted(fields.get("adopted"))) if "adopted" in keys else (),
            new_points=self._texts(fields.get("new_points"), MAX_NEW, MAX_TEXT)
            if "new_points" in keys
            else (),
            abstain=abstain,
            scores=self._scores(fields.get("scores")) if "scores" in keys else {},
            end=self._end(fields.get("end")) if "end" in keys else None,
            values=self._values(fields.get("values"))
            if "values" in keys and abstain is None
            else {},
            actions=tuple(self._actions(fields.get("actions"))) if "actions" in keys else (),
            for_the_record=self._text(fields.get("for_the_record"), MAX_POSITION)
            if "for_the_record" in keys
            else "",
            delivers=self._delivers(fields.get("delivers")) if "delivers" in keys else "",
            answer=self._answer(fields.get("answer")) if "answer" in keys else "",
            why=self._texts(fields.get("why"), 5, MAX_POSITION) if "why" in keys else (),
            would_change=self._texts(fields.get("would_change"), 5, MAX_POSITION)
            if "would_change" in keys
            else (),
            stands=self._stands(fields.get("stands")) if "stands" in keys else (),
            rests_on=self._texts(fields.get("rests_on"), 5, MAX_TEXT) if "rests_on" in keys else (),
        )

    # --- what decides --------------------------------------------------------------------------

    def _abstention(self, fields: Mapping[str, Any]) -> str | None:
        if "abstain" not in self.form.keys:
            return None
        told = fields.get("abstain")
        if told is None or told is False or told == "" or told in ("null", "none", "None"):
            return None
        reason = self._text(told, MAX_POSITION) if isinstance(told, str) else "no reason given"
        if any(fields.get(key) for key in ("votes", "scores", "stances", "new_points", "values")):
            self.problems.append(
                "It abstains and yet takes part: either abstain with a reason and leave the lists "
                "empty, or set abstain to null. No preference is the choice `any`."
            )
        return reason or "no reason given"

    def _votes(self, given: Any, abstain: str | None) -> Iterator[DeclaredVote]:
        entries = given if isinstance(given, list) else [given] if isinstance(given, dict) else []
        by_decision: dict[str, Mapping[str, Any]] = {}
        for entry in entries:
            if not isinstance(entry, dict):
                continue
            on = str(entry.get("on", "")).strip().casefold()
            if not on and len(self.form.decisions) == 1:
                on = self.form.decisions[0].id
            if on in by_decision and by_decision[on] != entry:
                self.problems.append(f"There are two votes on {clip(on, 10)}. Give one.")
            by_decision[on] = entry
        for decision in self.form.decisions:
            if decision.id in by_decision:
                yield from self._vote(decision, by_decision[decision.id])
            elif abstain is None:
                self.problems.append(f"The vote on {decision.id} is missing.")
        unknown = set(by_decision) - {decision.id for decision in self.form.decisions}
        if unknown:
            self.mended.append("votes on decisions that are not on the table were left out")

    def _vote(self, decision: Decision, entry: Mapping[str, Any]) -> Iterator[DeclaredVote]:
        choice, doubt = self._option(decision, entry.get("choice"), (OWN, ANY))
        if choice is None:
            self.problems.append(doubt or _must_be("The choice", decision, OWN, ANY))
            return
        before, doubt = self._option(decision, entry.get("before"), (OWN, SILENT))
        if before is None and entry.get("before") not in (None, ""):
            self.slips.append(doubt or _must_be("before", decision, OWN, SILENT))
        acceptable = self._options(decision, entry.get("acceptable"), "acceptable")
        rejects = self._options(decision, entry.get("rejects"), "rejects")
        if choice in rejects:
            self.problems.append(f"On {decision.id} the choice is also among the rejects.")
        if both := [option for option in acceptable if option in rejects]:
            self.slips.append(f"On {decision.id} {both[0]} is both acceptable and rejected.")
            acceptable, rejects = (
                tuple(option for option in options if option not in both)
                for options in (acceptable, rejects)
            )
        if choice in acceptable:
            self.mended.append("the choice was left out of acceptable")
        yield DeclaredVote(
            on=decision.id,
            before=before or SILENT,
            choice=choice,
            acceptable=tuple(option for option in acceptable if option != choice),
            rejects=rejects,
            text=self._text(entry.get("text"), MAX_POSITION) if choice == OWN else "",
        )

    def _options(self, decision: Decision, given: Any, key: str) -> tuple[str, ...]:
        found: list[str] = []
        for each in given if isinstance(given, list) else [given] if given else []:
            option, doubt = self._option(decision, each, (OWN, ANY, SILENT, NONE))
            if option is None:
                told = f"{key} on {decision.id} names an option that is not there."
                self.slips.append(doubt or told)
            elif option in decision.option_ids:
                found.append(option)
        return tuple(dict.fromkeys(found))

    def _option(
        self, decision: Decision, given: Any, fixed: Sequence[str]
    ) -> tuple[str | None, str]:
        """The id that is meant, if only one can be; else what two things it could mean, if that
        is why."""
        meant = option_meant(decision, given, fixed)
        if meant.mended:
            self._mend(meant.mended)
        return meant.id, f"On {decision.id} {meant.doubt}." if meant.doubt else ""

    def _position(self, given: Any, votes: Sequence[DeclaredVote]) -> str:
        position = self._text(given, MAX_POSITION)
        stated = len(position) >= MIN_POSITION and any(char.isalnum() for char in position)
        chosen = any(vote.choice not in (OWN, ANY) for vote in votes)
        if not stated and not chosen:
            self.problems.append("The position is missing: one sentence, what you would do.")
        return position if stated else ""

    def _delivers(self, given: Any) -> str:
        if not self.form.decisions:
            return NONE
        decision = self.form.decisions[0]
        option, doubt = self._option(decision, given, (NONE,))
        if option is None:
            told = f"delivers must be one of {', '.join((*decision.option_ids, NONE))}."
            self.problems.append(doubt or told)
        return option or ""

    def _stands(self, given: Any) -> tuple[str, ...]:
        """Ids that nobody knows are left out: then all that nothing replaced stands."""
        named = given if isinstance(given, list | tuple) else [given]
        ids = (each.strip().casefold() for each in named if isinstance(each, str))
        return tuple(dict.fromkeys(each for each in ids if each in self.form.works))

    def _answer(self, given: Any) -> str:
        answer = self._text(given, MAX_ANSWER)
        if not answer:
            self.problems.append("The answer is missing: one or two sentences.")
        return answer

    # --- what goes with it ---------------------------------------------------------------------

    def _conditions(self, given: Any) -> Iterator[Condition]:
        options = {option for each in self.form.decisions for option in each.option_ids}
        entries = given if isinstance(given, list) else []
        for entry in entries[:MAX_CONDITIONS]:
            if isinstance(entry, str):
                entry = {"text": entry}
            if not isinstance(entry, dict) or not (text := self._text(entry.get("text"), MAX_KEPT)):
                continue
            otherwise = str(entry.get("otherwise", OPEN)).strip().casefold()
            known = otherwise in options or otherwise in (OWN, OPPOSE, OPEN)
            # A condition of unknown kind stands in the way: that is the careful reading.
            kind: ConditionKind = "fact" if entry.get("kind") == "fact" else "demand"
            yield Condition(
                text=text,
                kind=kind,
                otherwise=otherwise if known else OPEN,
            )

    def _confidence(self, given: Any) -> int | None:
        if isinstance(given, bool) or given is None:
            return None
        if isinstance(given, float) and 0 < given < 1:
            return round(given * 100)
        if isinstance(given, int | float):
            return round(given) if 0 <= given <= 100 else None
        match = _PERCENT.match(str(given))
        number = int(match["number"]) if match else -1
        return number if 0 <= number <= 100 else None

    def _stances(self, given: Any) -> Iterator[DeclaredStance]:
        """Two different words on one point cancel each other: nobody knows what was meant."""
        listed = {each.id: each for each in self.form.listed}
        taken: dict[str, DeclaredStance] = {}
        contradicted: set[str] = set()
        unlisted: list[str] = []
        for entry in given if isinstance(given, list) else []:
            if not isinstance(entry, dict):
                continue
            match = _POINT_ID.match(str(entry.get("id", "")))
            point = f"{match['kind'].lower()}{int(match['number'])}" if match else ""
            if point not in listed:
                unlisted.append(point or "one without an id")
                continue
            word = str(entry.get("stance", "")).strip().casefold()
            if word not in _STANCES:
                self.slips.append(
                    f"The stance on {point} must be one of {', '.join(_STANCES)}, in English."
                )
                continue
            if word in _OWN_STANCES and not listed[point].own:
                self.slips.append(f"Only the author of {point} can {word} it.")
                continue
            condition = word == "amend" and point.startswith("c")
            stance = DeclaredStance(
                id=point,
                stance=word,
                text=self._text(entry.get("text"), MAX_KEPT if condition else MAX_TEXT),
            )
            if word == "amend" and not stance.text:
                self.slips.append(f"To amend {point}, give its new wording in text.")
                continue
            if point in taken and taken[point].stance != stance.stance:
                contradicted.add(point)
            taken[point] = stance
        if unlisted:
            for told in _left_out(list(dict.fromkeys(unlisted)), self.form.gone):
                self._mend(told)
        for point in sorted(contradicted):
            self.slips.append(f"There are two different stances on {point}. Give one.")
        yield from (each for point, each in taken.items() if point not in contradicted)

    def _adopted(self, given: Any) -> Iterator[Adopted]:
        entries = given if isinstance(given, list) else []
        for entry in entries[:MAX_ADOPTED]:
            if not isinstance(entry, dict):
                continue
            what = self._text(entry.get("what"), MAX_TEXT)
            participant = self._peer(entry.get("from"))
            if participant is None:
                if what:
                    known = ", ".join(self.form.peers)
                    self.slips.append(f"adopted.from must be one of {known}.")
                continue
            if what:
                yield Adopted(participant=participant, what=what, moved=entry.get("moved") is True)

    def _peer(self, given: Any) -> str | None:
        """Who is meant by a letter, a name or an id; None unless it is one of the others."""
        told = str(given or "").strip().removeprefix("Answer ").removeprefix("Speaker ")
        told = told.strip().casefold()
        for known, participant in self.form.peers.items():
            if told in (known.casefold(), participant.casefold()):
                return participant
        return None

    def _scores(self, given: Any) -> dict[str, int]:
        scores: dict[str, int] = {}
        entries = given if isinstance(given, dict) else {}
        by_name = {_plain(name): participant for name, participant in self.form.scored.items()}
        for name, value in entries.items():
            participant = by_name.get(_plain(str(name)))
            number = value if isinstance(value, int) and not isinstance(value, bool) else None
            if isinstance(value, str) and value.strip() in ("1", "2", "3", "4", "5"):
                number = int(value)
            if participant is not None and number is not None and 1 <= number <= 5:
                scores[participant] = number
        missing = [n for n, p in self.form.scored.items() if p not in scores]
        if missing:
            self.slips.append(f"scores needs a whole number from 1 to 5 for {len(missing)} more.")
        return scores

    def _end(self, given: Any) -> bool | None:
        return given if isinstance(given, bool) else None

    def _values(self, given: Any) -> dict[str, DeclaredValue]:
        entries = given if isinstance(given, dict) else {}
        found: dict[str, DeclaredValue] = {}
        for name, asked in self.form.values.items():
            value = self._value(entries.get(name), asked)
            if value is None:
                self.problems.append(f"values.{name} must be {asked.wanted}.")
            else:
                found[name] = value
        return found

    def _value(self, given: Any, asked: AskedValue) -> DeclaredValue | None:
        if asked.kind == "number":
            return self._number(given, asked)
        if asked.kind == "choice":
            return _among(given, asked.choices)
        items = given if isinstance(given, list) else [given] if isinstance(given, str) else []
        texts = [self._text(each, MAX_POSITION) for each in items[:MAX_VALUES]]
        if asked.choices:
            chosen = [_among(each, asked.choices) for each in texts]
            return None if None in chosen else tuple(dict.fromkeys(c for c in chosen if c)) or None
        return tuple(dict.fromkeys(each for each in texts if each)) or None

    def _number(self, given: Any, asked: AskedValue) -> float | None:
        if isinstance(given, str) and _NUMBER.fullmatch(given.strip()):
            self._mend("a number in quotation marks was read as one")
            given = float(given)
        if isinstance(given, bool) or not isinstance(given, int | float):
            return None
        low, high = asked.minimum, asked.maximum
        within = (low is None or given >= low) and (high is None or given <= high)
        return float(given) if within and abs(given) <= LARGEST else None

    def _actions(self, given: Any) -> Iterator[ActionItem]:
        for entry in (given if isinstance(given, list) else [])[:MAX_LIST]:
            if isinstance(entry, str):
                entry = {"what": entry}
            if isinstance(entry, dict) and (what := self._text(entry.get("what"), MAX_KEPT)):
                owner, due = self._text(entry.get("owner"), 80), self._text(entry.get("due"), 80)
                yield ActionItem(text=what, owner=owner, due=due)

    def _texts(self, given: Any, most: int, length: int) -> tuple[str, ...]:
        entries = given if isinstance(given, list) else [given] if isinstance(given, str) else []
        found = (self._text(each, length) for each in entries)
        return tuple(dict.fromkeys(each for each in found if each))[:most]

    def _text(self, given: Any, limit: int) -> str:
        """A text on one line; empty if there is none, or only the placeholder of the example."""
        if not isinstance(given, str):
            return ""
        text = " ".join(given.split())
        if not text.strip(f"{PLACEHOLDER}.-–— ") or text.strip("<>").startswith(PLACEHOLDER):
            return ""
        if len(text) <= limit * _TOLERANCE:
            return text
        self._mend(f"a text of {len(text)} characters was cut to {limit}")
        return clip(text, limit)

    def _mend(self, told: str) -> None:
        if told not in self.mended:
            self.mended.append(told)


def _left_out(ids: Sequence[str], gone: Mapping[str, str]) -> Iterator[str]:
    """Which stances count for nothing, and why: each with its own reason where that is known."""
    yield from (f"{each} {gone[each]}" for each in ids if each in gone)
    unknown = [each for each in ids if each not in gone]
    more = f" and {len(unknown) - 8} more" if len(unknown) > 8 else ""
    if unknown:
        listed = f"{', '.join(unknown[:8])}{more}"
        yield f"stances on points that are not listed were left out: {listed}"


def _among(given: Any, choices: Sequence[str]) -> str | None:
    """The choice that these words are, apart from capitals and marks."""
    same = [each for each in choices if isinstance(given, str) and _plain(each) == _plain(given)]
    return same[0] if len(same) == 1 else None


def _must_be(key: str, decision: Decision, *fixed: str) -> str:
    return f"{key} on {decision.id} must be one of {', '.join((*decision.option_ids, *fixed))}."


def _problem(told: str) -> Violation:
    return Violation(LABEL, told)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", text).casefold().split())


_REFUSAL = pattern(
    r"^\W*(?:(?:i['’]?m|i am) (?:really |very |truly )?(?:sorry|afraid)\b|sorry\b|i apologi[sz]e\b"
    r"|(?:as an ai\b[^.]*\b)?i (?:can(?:no|['’])t|can ?not|won['’]t|will not|am (?:not able|unable)"
    r"|must (?:decline|refuse)|decline|refuse)\b"
    r"|(?:es )?tut mir leid\b|ich (?:kann|darf|werde|möchte)\b[^.]{0,60}\bnicht\b|leider kann ich\b"
    r"|lo siento\b|no puedo\b|me niego\b|抱歉|对不起|我不能|我无法|很遗憾)",
    re.IGNORECASE,
)
LONGEST_REFUSAL = 60
"""Words. Whoever says more than that has said something."""


def seems_refused(prose: str) -> bool:
    """Whether a speech looks like a refusal to take part. It decides nothing by itself: the
    speaker is asked once for its declaration, and whoever gives none has not answered."""
    return bool(_REFUSAL.match(prose)) and count_words(prose) <= LONGEST_REFUSAL
