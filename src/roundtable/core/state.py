"""State: the fold of a discussion's events. Only `apply` changes it; everybody else reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, TypeVar, assert_never

from . import budget as budgets
from .declaration import LIMITED, UNDECLARED
from .errors import FailureCause
from .events import (
    SET_ASIDE,
    AttemptFailed,
    AttemptFinished,
    AttemptStarted,
    BallotCast,
    BudgetExhausted,
    ChoiceMade,
    CostEstimated,
    DecisionsTabled,
    DiscussionClosed,
    DiscussionOpened,
    DiscussionPaused,
    DiscussionResumed,
    EndVoted,
    FollowUpOpened,
    LimitsRaised,
    MaterialAdded,
    NewsPlanned,
    NewsRequested,
    NewsSettled,
    NewsThreadOpened,
    NewsTried,
    NoteAdded,
    OutcomeRecorded,
    ParticipantsSeated,
    ParticipantSubstituted,
    PointRaised,
    PointsMerged,
    RoundAdvanced,
    RoundsExtended,
    ScoresGiven,
    SearchFailed,
    SearchFinished,
    SpeechGiven,
    StageClosed,
    StageOpened,
    StageReopened,
    StanceTaken,
    StopRequested,
    StoredEvent,
    TaskLinked,
    TaskWritten,
    TurnFailed,
    VerdictReached,
    WorkflowChosen,
)
from .limits import is_raised
from .shared import Layered, Trail
from .speech_index import SpeechIndex
from .values import (
    HOST_WIRE_NAME,
    Budget,
    Expected,
    Material,
    NewsPlan,
    Participant,
    Reservation,
    SpeakerRef,
    Status,
    Usage,
    Verdict,
)

T = TypeVar("T")

NOT_THERE: FailureCause = "not_found"
"""The speaker does not exist there, or cannot be used: a second attempt will not answer either."""
_MAYBE_PAID: frozenset[FailureCause] = frozenset(
    ["timeout", "cut", "cancelled", "lost", "empty", "garbled", "refused"]
)
"""After these the provider may have done the work and charged for it."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call made for a turn, and what came of it."""

    started: AttemptStarted
    at: datetime
    finished: AttemptFinished | None = None
    failed: AttemptFailed | None = None

    @property
    def in_flight(self) -> bool:
        return self.finished is None and self.failed is None

    @property
    def usage(self) -> Usage | None:
        """What was counted, of an answer or of a call that brought none."""
        outcome = self.finished or self.failed
        return outcome.usage if outcome else None

    @property
    def reached_nobody(self) -> bool:
        """Whether the model that was asked for does not exist: that is no call."""
        return self.failed is not None and self.failed.cause == NOT_THERE


STANDS = "stands"
"""The code, before a slash and the turn, of the note that what was said there before stands."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A participant's slot in a stage of a round, with its attempts and its outcome."""

    id: str
    attempts: tuple[Attempt, ...] = ()
    speech: SpeechGiven | None = None
    failure: TurnFailed | None = None
    again: int = 0
    """How often its stage was asked again after it was over."""
    before: int = 0
    """Of the attempts, so many were made before it was asked again: they count for nothing now."""
    stands: SpeechGiven | None = None
    """What it had come to before it was asked anew: it counts again where nothing comes instead."""
    answered: int | None = None
    """The attempts from here up to `before` brought that: they are not paid again for an answer to
    the same."""
    thought_on: tuple[Attempt, ...] = ()
    """Of the attempts before its limits were raised, those that used up all that their task allows
    in thought: no limit stood in their way, so the same is not asked of the same model again."""

    @property
    def outcome_key(self) -> str:
        """What makes its outcome one, however often it is recorded."""
        return f"outcome/{self.id}" + (f"/again-{self.again}" if self.again else "")

    @property
    def over(self) -> bool:
        return self.speech is not None or self.failure is not None


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of the procedure: the turns it asked for, and whether it is over."""

    opened: StageOpened
    closed: StageClosed | None = None
    notes_before: int = 0
    """How many notes there were when it opened."""


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """How a discussion stood before its last stage was asked again."""

    turns: tuple[str, ...]
    verdict: Verdict
    closed: DiscussionClosed


@dataclass(slots=True, repr=False)
class State:
    """Everything that is known about a discussion, as its events tell it."""

    discussion_id: str = ""
    seq: int = 0
    opened: DiscussionOpened | None = None
    opened_at: datetime | None = None
    updated_at: datetime | None = None
    stages: Layered[tuple[str, int], Stage] = field(default_factory=Layered)
    turns: Layered[str, Turn] = field(default_factory=Layered)
    speeches: Trail[SpeechGiven] = field(default_factory=Trail)
    spoken_at: Trail[datetime] = field(default_factory=Trail)
    stage_at: datetime | None = None
    """When the newest stage was opened, or gone on with after a pause."""
    turn_over_at: datetime | None = None
    """When the last turn ended, with a speech or without."""
    failures: Trail[TurnFailed] = field(default_factory=Trail)
    seated: ParticipantsSeated | None = None
    ever_seated: dict[str, Participant] = field(default_factory=dict)
    """Everybody who ever sat at the table, as they sat there last."""
    workflow: WorkflowChosen | None = None
    ballots: Trail[BallotCast] = field(default_factory=Trail)
    scores: Trail[ScoresGiven] = field(default_factory=Trail)
    points: Layered[str, PointRaised] = field(default_factory=Layered)
    merges: Trail[PointsMerged] = field(default_factory=Trail)
    stances: Trail[StanceTaken] = field(default_factory=Trail)
    end_votes: dict[str, bool] = field(default_factory=dict)
    advanced: dict[int, RoundAdvanced] = field(default_factory=dict)
    tabled: Trail[DecisionsTabled] = field(default_factory=Trail)
    outcome: OutcomeRecorded | None = None
    substitutions: Trail[ParticipantSubstituted] = field(default_factory=Trail)
    searches: Trail[SearchFinished | SearchFailed] = field(default_factory=Trail)
    choices: dict[str, ChoiceMade] = field(default_factory=dict)
    notes: Trail[NoteAdded] = field(default_factory=Trail)
    set_aside: bool = False
    """Whether it ended its workers so often that it waits for somebody to go on by hand."""
    usage: Usage = field(default_factory=Usage)
    _missing: dict[str, None] = field(default_factory=dict)
    _heard: dict[str, None] = field(default_factory=dict)
    speaking: dict[str, str] = field(default_factory=dict)
    """The model that was called last for each participant."""
    reservations: dict[tuple[str, int], Reservation] = field(default_factory=dict)
    exhausted: BudgetExhausted | None = None
    limits: LimitsRaised | None = None
    """The newest limits, where they are not those of the opening."""
    passed: frozenset[str] = frozenset()
    """Those of them, by their fields, that were lower than what was spent when they were set."""
    expected: Expected | None = None
    """What it was expected to take, where somebody was told."""
    paused: DiscussionPaused | None = None
    """Who paused it, while it is paused."""
    added: Trail[MaterialAdded] = field(default_factory=Trail)
    extra_rounds: int = 0
    notification_plan: NewsPlan | None = None
    notifications: Trail[NewsRequested | NewsThreadOpened | NewsTried | NewsSettled] = field(
        default_factory=Trail
    )
    """What was done to tell others, in order; `core.notifications` says where each stands."""
    task: TaskLinked | None = None
    tasks_written: Trail[TaskWritten] = field(default_factory=Trail)
    stop_requested: StopRequested | None = None
    verdict: Verdict | None = None
    verdict_before: Verdict | None = None
    """What it had come to before its limits were raised."""
    asked_again: AskedAgain | None = None
    """What it had come to before its last stage was asked again, where no limit had ended it."""
    kept_by: BudgetExhausted | None = None
    """The limit that did not allow asking again, so that all stands as it was."""
    closed: DiscussionClosed | None = None
    follow_ups: Trail[str] = field(default_factory=Trail)
    """The discussions that go on from this one."""
    _unspent: State | None = field(default=None, compare=False)
    """As it was before the budget was spent."""
    imagined: bool = field(default=False, compare=False)
    """Whether it is led on with imagined words, which nobody reads and nothing has to check."""
    said: SpeechIndex = field(default_factory=SpeechIndex, compare=False)
    """The speeches, by where to find them."""
    newest_round: int = field(default=0, compare=False)
    """The newest round in which somebody has begun to speak."""
    round_turns: Trail[str] = field(default_factory=Trail, compare=False)
    """The turns in the rounds of the participants, in the order in which they were taken."""
    _called: Layered[str, None] = field(default_factory=Layered, compare=False)
    """The turns for which a call was made."""
    _calling: dict[tuple[str, int], Attempt] = field(default_factory=dict, compare=False)
    """The calls of which nothing was heard."""
    _derived: dict[str, tuple[int, Any]] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        """In a word: all of it would fill a log, and take seconds."""
        return f"<State of {self.discussion_id or 'nothing'} at event {self.seq}, {self.status}>"

    def derived(self, name: str, compute: Callable[[State], T]) -> T:
        """What follows from this state, computed once until the next event."""
        held = self._derived.get(name)
        if held is None or held[0] != self.seq:
            held = self.seq, compute(self)
            self._derived[name] = held
        found: T = held[1]
        return found

    @property
    def status(self) -> Status:
        return "running" if self.closed is None else self.closed.status

    @property
    def unchanged(self) -> AskedAgain | None:
        """How it stood before its last stage was asked again, if a limit let nothing come of it:
        so it stands."""
        again = self.asked_again
        if again is None or (self.exhausted or self.kept_by) is None:
            return None
        turns = [turn for each in again.turns if (turn := self.turn(each)) is not None]
        return again if all(each.speech in (None, each.stands) for each in turns) else None

    @property
    def start(self) -> DiscussionOpened:
        """The opening event of a discussion that exists."""
        assert self.opened is not None, "a discussion begins with DiscussionOpened"
        return self.opened

    @property
    def budget(self) -> Budget:
        """What it may spend now."""
        return self.start.budget if self.limits is None else self.limits.budget

    @property
    def limits_from(self) -> dict[str, str]:
        """Where each limit comes from, in words."""
        return self.start.limits_from if self.limits is None else self.limits.limits_from

    @property
    def participants(self) -> tuple[Participant, ...]:
        """Who sits at the table now."""
        return self.start.participants if self.seated is None else self.seated.participants

    @property
    def context(self) -> tuple[Material, ...]:
        """The material that came with the topic, and what joined it since."""
        if not self.added:
            return self.start.context
        return (*self.start.context, *(each.material for each in self.added))

    @property
    def voters(self) -> tuple[Participant, ...]:
        """Everybody whose voice counts, as they sat here last: all who ever sat at the table, or,
        where a workflow was designed, its seats. Who designs it or only writes has no vote."""
        return self.derived("voters", _voters)

    def participant(self, participant_id: str) -> Participant | None:
        """The participant or host with this id, also one whose seat was set anew; the host also
        answers to its wire name."""
        host = self.start.host
        if participant_id in (host.id, HOST_WIRE_NAME):
            return host
        return self.ever_seated.get(participant_id)

    def name_of(self, participant_id: str) -> str:
        """How the participant or host is called; the id of one who never sat here."""
        seated = self.participant(participant_id)
        return seated.name if seated else participant_id

    def turn(self, turn_id: str) -> Turn | None:
        return self.turns.get(turn_id)

    def speech(self, turn_id: str) -> SpeechGiven | None:
        turn = self.turns.get(turn_id)
        return turn.speech if turn else None

    def outcome_key(self, turn_id: str) -> str:
        """The idempotency key of the outcome that a turn is to have now."""
        return self.turns.get(turn_id, Turn(turn_id)).outcome_key

    def spoken_in(self, stage: str, round_: int) -> list[SpeechGiven]:
        """The accepted speeches of one stage, in the order of its turns."""
        held = self.stages.get((stage, round_))
        if held is None:
            return []
        found = (self.speech(turn_id) for turn_id in held.opened.turns)
        return [speech for speech in found if speech is not None]

    @property
    def in_flight(self) -> tuple[Attempt, ...]:
        """The calls of which nothing was heard: under way, or lost with the process that made
        them."""
        return tuple(self._calling.values())

    @property
    def called_turns(self) -> Iterator[Turn]:
        """The turns for which a call was made, the first first."""
        return (self.turns[each] for each in self._called)

    @property
    def missing_models(self) -> frozenset[str]:
        """The models that turned out not to exist."""
        return frozenset(self._missing.keys() - self._heard.keys())

    @property
    def heard_speakers(self) -> tuple[SpeakerRef, ...]:
        """The speakers of the table that have answered, the first first."""
        table = (*self.ever_seated.values(), self.start.host)
        known = {ref.model: ref for each in table for ref in each.speakers}
        return tuple(known[model] for model in self._heard if model in known)

    @property
    def cost_usd(self) -> float | None:
        """The whole cost; None while one that may cost is not known: of a call without a price,
        under way, or lost."""
        if any(attempt.started.reserved.cost_usd > 0 for attempt in self.in_flight):
            return None
        return self.usage.cost_usd

    def spending(self, now: datetime, coming: Sequence[Reservation] = ()) -> budgets.Spending:
        """What is spent or set aside; `coming` are the reservations of calls about to begin."""
        seconds = budgets.active_seconds(self._calls(now))
        usage = self.usage + Usage(calls=len(coming)) if coming else self.usage
        held = [*self.reservations.values(), *coming]
        return budgets.spending(usage, held, seconds, self.passed, self.unheard_usd)

    @property
    def unheard_usd(self) -> float:
        """What stays set aside for calls that were lost or cut off, and may have been paid."""
        return sum(
            held.cost_usd
            for key, held in self.reservations.items()
            if key not in self._calling and not held.is_kept
        )

    def _calls(self, now: datetime) -> Iterator[tuple[float, float]]:
        """When each call began and ended; one that is under way, until now. What a process left
        unheard when it ended took nobody's time."""
        for turn in self.called_turns:
            for attempt in turn.attempts:
                ended = attempt.finished or attempt.failed
                begun = attempt.at.timestamp()
                yield begun, now.timestamp() if ended is None else begun + ended.seconds

    def apply(self, record: StoredEvent) -> None:
        """Take in the next event. Events must come in order, without gaps."""
        if record.seq != self.seq + 1:
            raise ValueError(f"event {record.seq} cannot follow event {self.seq}")
        self.seq = record.seq
        self.updated_at = record.at
        event = record.event
        match event:
            case StageOpened() | StageReopened() | DiscussionResumed():
                self.stage_at = record.at
            case SpeechGiven() | TurnFailed():
                self.turn_over_at = record.at
            case _:
                pass
        match event:
            case DiscussionOpened():
                self.discussion_id = record.discussion_id
                self.opened = event
                self.opened_at = record.at
                self.said.host = event.host.id
                self.ever_seated.update((each.id, each) for each in event.participants)
            case StageOpened():
                stage = Stage(event, notes_before=len(self.notes))
                self.stages[event.stage, event.round] = stage
            case StageClosed():
                place = event.stage, event.round
                self.stages[place] = replace(self.stages[place], closed=event)
            case StageReopened():
                self._reopen(event)
            case FollowUpOpened():
                self.follow_ups.append(event.discussion_id)
            case AttemptStarted():
                self.set_aside = False
                begun = Attempt(event, record.at)
                turn = self._turn(event.turn_id)
                self.turns[turn.id] = replace(turn, attempts=(*turn.attempts, begun))
                self._calling[event.turn_id, event.attempt] = begun
                self._called[event.turn_id] = None
                self.speaking[event.participant] = event.model
                self.reservations[event.turn_id, event.attempt] = event.reserved
                self.usage += Usage(calls=1)
            case AttemptFinished():
                self._answer(replace(self._attempt(event.turn_id, event.attempt), finished=event))
                self._settle_finished(event)
            case AttemptFailed():
                self._answer(replace(self._attempt(event.turn_id, event.attempt), failed=event))
                self._settle_failed(event)
            case SpeechGiven():
                turn = self._turn(event.turn_id)
                # Written out: `replace` would take longer than all else of a speech.
                self.turns[turn.id] = Turn(
                    turn.id,
                    turn.attempts,
                    event,
                    turn.failure,
                    turn.again,
                    turn.before,
                    turn.stands,
                    turn.answered,
                )
                self.speeches.append(event)
                self.said.add(event)
                self.spoken_at.append(record.at)
                self._count(event)
            case TurnFailed():
                self.turns[event.turn_id] = replace(self._turn(event.turn_id), failure=event)
                self.failures.append(event)
            case ParticipantSubstituted():
                self.substitutions.append(event)
            case BallotCast():
                self.ballots.append(event)
            case ParticipantsSeated():
                self.seated = event
                if event.instead:
                    self.ever_seated.clear()
                self.ever_seated.update((each.id, each) for each in event.participants)
            case WorkflowChosen():
                self.workflow = event
            case ScoresGiven():
                self.scores.append(event)
            case PointRaised():
                self.points[event.point_id] = event
            case PointsMerged():
                self.merges.append(event)
            case StanceTaken():
                self.stances.append(event)
            case EndVoted():
                self.end_votes[event.participant] = event.in_favour
            case RoundAdvanced():
                self.advanced[event.round] = event
            case DecisionsTabled():
                self.tabled.append(event)
            case OutcomeRecorded():
                self.outcome = event
            case SearchFinished() | SearchFailed():
                self.searches.append(event)
            case ChoiceMade():
                self.choices[event.question] = event
            case NoteAdded():
                self.notes.append(event)
                self.set_aside = self.set_aside or event.code == SET_ASIDE
            case BudgetExhausted():
                if self.exhausted is None:
                    self._unspent = self.branch()
                    self.exhausted = event
            case LimitsRaised():
                self._limit(event, record.at)
            case CostEstimated():
                self.expected = event.expected
            case DiscussionPaused():
                self.paused = event
            case DiscussionResumed():
                self.paused = None
            case MaterialAdded():
                self.added.append(event)
            case RoundsExtended():
                self.extra_rounds += event.rounds
            case NewsPlanned():
                self.notification_plan = event.plan
            case NewsRequested() | NewsThreadOpened() | NewsTried() | NewsSettled():
                self.notifications.append(event)
            case TaskLinked():
                self.task = event
            case TaskWritten():
                self.tasks_written.append(event)
            case StopRequested():
                self.stop_requested = self.stop_requested or event
            case VerdictReached():
                self.verdict = event.verdict
            case DiscussionClosed():
                self.closed = event
                if event.stop_reason != "budget" and self.unchanged is not None:
                    self.kept_by, self.exhausted = self.exhausted, None
            case _:
                assert_never(event)

    def _count(self, speech: SpeechGiven) -> None:
        """Take in what a speech declares beside what the record holds."""
        declared = speech.declaration
        if declared is not None and declared.end is not None:
            self.end_votes[speech.participant] = declared.end
        if declared is not None and declared.scores:
            self.scores.append(
                ScoresGiven(
                    turn_id=speech.turn_id,
                    participant=speech.participant,
                    round=speech.round,
                    scores=declared.scores,
                )
            )

    def to_ask_anew(self) -> tuple[str, ...]:
        """The turns that would be asked for anew if a budget that is spent were raised: those that
        it refused, those that were only asked for because it was spent, what the host had begun to
        write and could not bring to its end, and speeches that it cut off before their declaration.
        Any other answer of the table stays."""
        before = self._unspent
        if before is None:
            return ()
        asked = {t for stage in before.stages.values() for t in stage.opened.turns}
        still_open = {t for s in before.stages.values() if s.closed is None for t in s.opened.turns}

        def anew(turn: Turn) -> bool:
            if turn.id not in asked:
                return turn.over
            held = before.turn(turn.id)
            if turn.speech is not None and lost_to_limit(turn.speech):
                return turn.id in still_open
            if held is not None and held.over:
                return False
            if turn.failure is not None:
                return turn.failure.cause == "budget"
            # Its next call was what the budget refused, or it would have had to be longer.
            waited = held is not None and held.attempts and not held.attempts[-1].in_flight
            return bool(turn.speech and _round_of(turn.id) == 0 and waited)

        return tuple(turn.id for turn in self.turns.values() if anew(turn))

    def _limit(self, event: LimitsRaised, at: datetime) -> None:
        """It goes on within other limits. Where the one that was spent is not higher now, it comes
        to the end that it had begun."""
        spent, were = self.exhausted, self.budget
        self.limits = event
        self.passed = budgets.passed(event.budget, self.spending(at))
        if spent is not None and is_raised(budgets.LIMITS[spent.limit], were, event.budget):
            self._go_on(event)

    def _go_on(self, event: LimitsRaised) -> None:
        """From where the budget ended it: what was decided because it was spent is undone, what was
        said by those who had begun before stays, and so does what was spent."""
        before, self._unspent = self._unspent, None
        assert before is not None, "it is kept when the budget is spent"
        self.verdict_before = self.verdict or self.verdict_before
        earlier = [self._turn(each) for each in event.turns]
        self._take_back(event.turns)
        for turn in earlier:
            self._keep_answers(turn)
        # Copies of this state hold the same `before`, and go on from it too.
        before = before.branch()
        for name in _DECIDED:
            setattr(self, name, getattr(before, name))
        for speech in self.speeches[len(before.speeches) :]:
            self._count(speech)
        # A stage that was open then is open again; what came after it has not been opened yet.
        self.verdict = self.closed = self.stop_requested = self.exhausted = None

    def branch(self) -> State:
        """The same state, to be led on elsewhere: events that are applied to it leave this one as
        it is, and the other way round. What never changes is shared, and so is what was derived so
        far, so that it costs next to nothing."""
        held = {each.name: getattr(self, each.name) for each in fields(self)}
        for name, value in held.items():
            if isinstance(value, Trail | Layered | dict | SpeechIndex):
                held[name] = value.copy()
        return State(**held)

    def _reopen(self, event: StageReopened) -> None:
        """As it was when the stage had just been opened, but for what was spent."""
        stage = self.stages[event.stage, event.round]
        self.stages[event.stage, event.round] = replace(stage, closed=None)
        self.notes = self.notes.first(stage.notes_before)
        asked = set(event.turns)
        for turn in event.turns:
            self.end_votes.pop(turn.rpartition("/")[2], None)
        self.advanced.pop(event.round, None)
        self.asked_again = self.kept_by = None
        if self.verdict and self.closed and self.closed.stop_reason != "budget":
            self.asked_again = AskedAgain(event.turns, self.verdict, self.closed)
        self._take_back(event.turns)
        self._unspent = None
        self.scores = Trail(each for each in self.scores if each.turn_id not in asked)
        self.ballots = Trail(each for each in self.ballots if each.turn_id not in asked)
        self.stances = Trail(each for each in self.stances if each.turn_id not in asked)
        self.tabled = Trail(each for each in self.tabled if each.turn_id not in asked)
        self.verdict = self.closed = self.stop_requested = self.exhausted = self.paused = None

    def _take_back(self, turns: Sequence[str]) -> None:
        """These turns are to be asked anew: what came of them counts no longer, unless nothing
        comes instead."""
        anew = set(turns)
        kept = [n for n, each in enumerate(self.speeches) if each.turn_id not in anew]
        self.speeches = Trail(self.speeches[n] for n in kept)
        self.spoken_at = Trail(self.spoken_at[n] for n in kept)
        self.said = self.said.anew(self.speeches)
        self.failures = Trail(each for each in self.failures if each.turn_id not in anew)
        for turn in (self._turn(each) for each in turns):
            self.turns[turn.id] = replace(
                turn,
                speech=None,
                failure=None,
                again=turn.again + 1,
                before=len(turn.attempts),
                stands=turn.speech or turn.stands,
                answered=None,
                thought_on=(),
            )

    def _keep_answers(self, was: Turn) -> None:
        """What was answered in a turn that is asked for anew with other limits is not paid again
        for the same, nor is what came to nothing with all that a limit could give."""
        latest = was.attempts[was.before :]
        own = any(attempt.finished for attempt in latest)
        answered = was.before if own else was.answered
        lost = (each for each in latest if each.failed and each.failed.used_up == "task")
        thought_on = (*was.thought_on, *lost)
        self.turns[was.id] = replace(self.turns[was.id], answered=answered, thought_on=thought_on)

    def _turn(self, turn_id: str) -> Turn:
        held = self.turns.get(turn_id)
        if held is None:
            held = self.turns[turn_id] = Turn(turn_id)
            self.newest_round = max(self.newest_round, _round_of(turn_id))
            if not turn_id.startswith("0/"):
                self.round_turns.append(turn_id)
        return held

    def _answer(self, attempt: Attempt) -> None:
        """What came of a call takes its place."""
        number = attempt.started.attempt
        turn = self.turns[attempt.started.turn_id]
        answered = (*turn.attempts[: number - 1], attempt, *turn.attempts[number:])
        self.turns[turn.id] = replace(turn, attempts=answered)
        self._calling.pop((turn.id, number), None)

    def _attempt(self, turn_id: str, number: int) -> Attempt:
        return self.turns[turn_id].attempts[number - 1]

    def _settle_used(self, key: tuple[str, int], used: Usage) -> None:
        """What was reserved gives way to what was used; where nobody knows the cost, what the words
        come to stays reserved, because unknown is not zero."""
        reserved = self.reservations.pop(key, None)
        if reserved is not None and used.cost_usd is None:
            self.reservations[key] = budgets.kept_of(reserved, used)
        self.usage += used.model_copy(update={"calls": 0})

    def _settle_finished(self, event: AttemptFinished) -> None:
        self._settle_used((event.turn_id, event.attempt), event.usage)
        self._heard[self._attempt(event.turn_id, event.attempt).started.model] = None

    def _settle_failed(self, event: AttemptFailed) -> None:
        """A call of which its provider told what it used is counted so. Of the others those that
        may have been paid keep their reservations, and the rest give them back."""
        key = (event.turn_id, event.attempt)
        if event.cause == NOT_THERE:
            self.usage += Usage(calls=-1)  # it reached nobody
            self._missing[self._attempt(*key).started.model] = None
        if event.usage is not None:
            self._settle_used(key, event.usage)
            return
        if event.cause not in _MAYBE_PAID:
            self.reservations.pop(key, None)
            return
        if self.reservations[key].cost_usd > 0:
            self.usage += Usage(unpriced_calls=1)
        without = {"spare_tokens": 0, "spare_usd": 0.0}
        self.reservations[key] = self.reservations[key].model_copy(update=without)


_DECIDED = (
    *("stages", "notes", "ballots", "points", "merges", "stances", "end_votes", "advanced"),
    *("tabled", "scores", "seated", "ever_seated", "workflow", "choices"),
)
"""What follows from decisions, and is decided anew with other limits."""


def lost_to_limit(speech: SpeechGiven) -> bool:
    """Whether a limit cut a speech off before its declaration."""
    return {LIMITED, UNDECLARED} <= set(speech.flags) and speech.declaration is None


def _round_of(turn_id: str) -> int:
    round_ = turn_id.partition("/")[0]
    return int(round_) if round_.isdecimal() else 0


def _voters(state: State) -> tuple[Participant, ...]:
    everybody = tuple(state.ever_seated.values())
    seats = state.workflow.design.get("seats") if state.workflow else None
    if not isinstance(seats, list):
        return everybody
    designed = [seat.get("id") for seat in seats if isinstance(seat, dict)]
    return tuple(each for each in everybody if each.id in designed)


def fold(records: Iterable[StoredEvent]) -> State:
    """The state that these events, from the first one on, lead to."""
    state = State()
    for record in records:
        state.apply(record)
    return state
