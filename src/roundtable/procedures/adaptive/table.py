"""The panel's table: what the adaptive rules read of a discussion beside what every table has, and
the digests in which speeches travel on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ...core.contracts import Contract, Violation, parse_sections
from ...core.convergence import Score
from ...core.effects import PromptValue, TurnPolicy, Untrusted
from ...core.events import ScoresGiven, SearchFinished, SpeechGiven
from ...core.grounding import NO_REAL_TIME_DATA, current_context
from ...core.scores import Matrix, consensus, matrix
from ...core.text import count_words, first_sentences
from ...core.values import Participant
from ...views.adaptive_meta import counted
from ...views.prior import PRIOR
from ..table import PATIENT, Table
from ..work import wants_work
from .design import Design, SeatPlan
from .panels import SYNTHESISER_ID, Phase
from .seating import Terms

META, ANSWER, CRITIQUE, SECOND = "meta-panel", "answer", "critique", "second-stage"
SYNTHESIS, LAST_RESORT, VALIDATION, REWRITE, RECHECK = (
    "synthesis",
    "synthesis-by-orchestrator",
    "validation",
    "rewrite",
    "recheck",
)
READS_PER_SEAT, SYNTHESIS_WRITES = 2000, 4096


@dataclass(frozen=True)
class PanelTable(Table):
    """It lives for one decision, so what is read from the state once stays true."""

    turn_name: ClassVar[str] = "{table}-{stage}-{seat}"

    label: str = "rt"
    open_names: bool = True

    @cached_property
    def terms(self) -> Terms:
        return Terms.of(self.state)

    @cached_property
    def design(self) -> Design:
        """How the run goes on: as it was chosen, or by default as long as nothing was."""
        chosen = self.state.workflow
        return self.terms.default if chosen is None else Design.model_validate(chosen.design)

    @property
    def rounds(self) -> int:
        """How many rounds are wanted: as designed, and what the chair added."""
        return self.design.rounds + self.state.extra_rounds

    # --- who sits here -------------------------------------------------------------------------

    @property
    def seats(self) -> tuple[Participant, ...]:
        """Whoever debates; the synthesiser and the analysts do not."""
        return tuple(self.present(p) for p in self.state.participants if p.id in self.plans)

    @property
    def synthesiser(self) -> Participant:
        found = self.state.participant(SYNTHESISER_ID)
        if found is None:  # while the meta-panel sits, the one of the opening stands by
            found = next(p for p in self.state.start.participants if p.id == SYNTHESISER_ID)
        return found

    @cached_property
    def plans(self) -> dict[str, SeatPlan]:
        """What each seat is there for."""
        return {plan.id: plan for plan in self.design.seats}

    def seated(self, stage: int) -> list[Participant]:
        """Who holds the seats of a stage now."""
        here = {seat.id: seat for seat in self.seats}
        return [here[p.id] for p in self.design.seats if p.stage == stage and p.id in here]

    def present(self, participant: Participant) -> Participant:
        """The participant without the speakers that gave up in an earlier turn: each round is a
        fresh call, but nobody pays twice to learn that a model is down."""
        spoke = [s.model for s in self.state.said.of_seats if s.participant == participant.id]
        models = [ref.model for ref in participant.speakers]
        if not spoke or spoke[-1] not in models:
            return participant
        left = participant.speakers[models.index(spoke[-1]) :]
        return participant.model_copy(update={"speakers": left})

    def peers(self, reader: str, *, reverse: bool = False) -> dict[str, str]:  # noqa: ARG002
        """A panel knows each other by roles."""
        return {seat.name: seat.id for seat in self.seats if seat.id != reader}

    # --- what was said -------------------------------------------------------------------------

    @cached_property
    def answers(self) -> list[SpeechGiven]:
        return self.state.spoken_in(ANSWER, 1)

    def critiques(self, round_: int) -> list[SpeechGiven]:
        return self.state.spoken_in(CRITIQUE, round_)

    @property
    def critique_rounds(self) -> range:
        """The rounds of cross-critique that were begun."""
        last = max((r for stage, r in self.state.stages if stage == CRITIQUE), default=1)
        return range(2, last + 1)

    @property
    def second_round(self) -> int:
        """The number of the round in which stage 2 is held: after those of stage 1."""
        return self.critique_rounds.stop

    @property
    def second_answers(self) -> list[SpeechGiven]:
        return next((self.state.spoken_in(s, r) for s, r in self.state.stages if s == SECOND), [])

    @property
    def latest(self) -> list[SpeechGiven]:
        """Each panelist's newest speech; where a later round lost somebody, the earlier stands."""
        stages = [(ANSWER, 1), *((CRITIQUE, r) for r in self.critique_rounds)]
        return self.last_words(*stages, (SECOND, self.second_round))

    def word_of(self, participant: str, before: int) -> SpeechGiven | None:
        """A panelist's newest speech of the rounds before this one."""
        stages = [(ANSWER, 1), *((CRITIQUE, r) for r in range(2, before))]
        spoken = (s for s in self.last_words(*stages) if s.participant == participant)
        return next(spoken, None)

    def words_of(self, participant: str) -> list[SpeechGiven]:
        """All that a panelist said in the debate, in order."""
        stages = [(ANSWER, 1), *((CRITIQUE, r) for r in self.critique_rounds)]
        spoken = [s for stage, round_ in stages for s in self.state.spoken_in(stage, round_)]
        return [s for s in spoken if s.participant == participant]

    @cached_property
    def critics(self) -> list[Participant]:
        """Who can take part in a cross-critique: whoever left something to examine."""
        left = {s.participant for s in self.answers if digest(s)}
        return [seat for seat in self.seated(1) if seat.id in left]

    # --- scores --------------------------------------------------------------------------------

    @property
    def counted(self) -> list[ScoresGiven]:
        return counted(self.state)

    @property
    def consensus(self) -> Score:
        return consensus(self.counted)

    @property
    def matrix(self) -> Matrix:
        return matrix(self.counted, {seat.id: seat.role for seat in self.design.seats})

    # --- prompts and turns ---------------------------------------------------------------------

    @cached_property
    def wants_work(self) -> bool:
        """Work is asked for by the question, and by every workflow that is not a debate."""
        builds = self.terms.task_mode == "build" or self.design.workflow != "parallel_debate"
        return wants_work(self, always=builds)

    @property
    def searched(self) -> bool:
        """Whether the search has come to an end, or there is none."""
        return not self.terms.search or bool(self.state.searches)

    def common(self) -> dict[str, PromptValue]:
        """What every prompt holds. Earlier roundtables have a place of their own."""
        context = tuple(each for each in self.documents if not each.source.startswith(PRIOR))
        return {**super().common(), "context": context}

    def grounding(self) -> dict[str, PromptValue]:
        """The syntheses of earlier roundtables, and CURRENT_CONTEXT."""
        prior = tuple(each for each in self.documents if each.source.startswith(PRIOR))
        hits = next((s.hits for s in self.state.searches if isinstance(s, SearchFinished)), None)
        current: PromptValue = NO_REAL_TIME_DATA
        if hits is not None:
            opened = self.state.opened_at
            assert opened is not None, "a discussion that searches was opened"
            current = Untrusted("web", current_context(hits, opened.date()), "the web search")
        return {
            "prior": prior,
            "current_context": current,
        }

    def policy(self, phase: Phase, participant: Participant, *, repairs: int = 0) -> TurnPolicy:
        speaker = participant.speaker
        if speaker.demonstration:
            return PATIENT
        timeouts = self.terms.timeouts
        seconds = timeouts.seconds(phase, speaker.model)
        chosen = timeouts.chosen(phase, speaker.model)
        return TurnPolicy(timeout=seconds, deadline=seconds, repairs=repairs, chosen=chosen)


# --- digests -----------------------------------------------------------------------------------

SELF_DIGEST = "SELF-DIGEST"
DERIVED = "[digest derived]"
POSITION, REASONING, RISKS = "Position", "Reasoning", "Risks and Unknowns"
CRITIQUE_OF_PEERS, UPDATED = "Critique", "Updated Position"
ANSWER_SECTIONS = (POSITION, REASONING, RISKS, SELF_DIGEST)
CRITIQUE_SECTIONS = (CRITIQUE_OF_PEERS, UPDATED, SELF_DIGEST, "AGREEMENT SCORES")
"""The scores are declared; whoever writes them down as well must not have them in its digest."""

DERIVED_SENTENCES, DERIVED_CHARACTERS = 5, 900
_LABEL = re.compile(r"^[\s>*_]*SELF[\s-]?DIGEST[*_\s]*[:：][*_]*", re.IGNORECASE | re.MULTILINE)
_WORK = re.compile(r"^\[deliverable [^\n]*\]$", re.MULTILINE)
"""What stands in a speech where it brought a work."""
_DIGEST_HEADING = re.compile(rf"^[^\n]*{SELF_DIGEST}[^\n]*\Z", re.MULTILINE)
_MARKS = re.compile(r"^\s*#.*$|^\s*SCORES\s*:.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DigestContract(Contract):
    """A speech that must end in a digest. All its other sections are read where they stand, and
    missed by nobody."""

    flag: str = DERIVED

    def check(self, text: str) -> tuple[Violation, ...]:
        if self.parse(text).get(SELF_DIGEST):
            return ()
        return (Violation("digest", f"The section “## {SELF_DIGEST}” is missing or empty."),)

    def parse(self, text: str) -> dict[str, str]:
        found = parse_sections(text, self.sections)
        if not found.get(SELF_DIGEST) and (label := _LABEL.search(text)):
            # "SELF-DIGEST: …" without a heading; what follows up to a heading is the digest.
            rest = text[label.end() :]
            heading = re.search(r"^\s*#", rest, re.MULTILINE)
            body = rest[: heading.start()] if heading else rest
            if body.strip():
                found[SELF_DIGEST] = body.strip()
        return found


ANSWER_CONTRACT = DigestContract(sections=ANSWER_SECTIONS)
CRITIQUE_CONTRACT = DigestContract(sections=CRITIQUE_SECTIONS)


def digest(speech: SpeechGiven) -> str:
    """The speech's own digest; where it has none, the beginning of its position or of all of it;
    empty if nothing is left."""
    own = _WORK.sub("", speech.sections.get(SELF_DIGEST, "")).strip()
    if count_words(own):
        return own
    parts = (speech.sections.get(name, "") for name in (UPDATED, POSITION))
    source = next((part for part in parts if count_words(part)), speech.text)
    derived = first_sentences(_MARKS.sub("", source), DERIVED_SENTENCES, DERIVED_CHARACTERS)
    return derived if count_words(derived) else ""


def without_digest(speech: SpeechGiven) -> str:
    """A speech for whoever is shown its digest beside it; whole where that is not its end."""
    own = speech.sections.get(SELF_DIGEST, "").strip()
    if not own or not speech.text.rstrip().endswith(own):
        return speech.text
    before = speech.text.rstrip().removesuffix(own)
    return _DIGEST_HEADING.sub("", before.rstrip()).rstrip() or speech.text
