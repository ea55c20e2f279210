"""One turn, performed: render, call, check, repair, retry, fall back, give up.

What to do next is decided by `core.turns.next_step`. Here it is done, and each attempt is in the
ledger before its call is made and again when its outcome is known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from ..core.budget import MORE, Granted, is_paid_by_tokens, left_out
from ..core.condensing import Cut, listed
from ..core.cut_short import CUT_IN_THOUGHT, was_cut_in_thought
from ..core.declaration import LIMITED
from ..core.effects import PromptPlan, Task, TurnPlan
from ..core.errors import SpeakerError, used_up_in_thought
from ..core.events import (
    AttemptFailed,
    AttemptFinished,
    AttemptStarted,
    BudgetExhausted,
    Event,
    NoteAdded,
    ParticipantSubstituted,
    SpeechGiven,
    StoredEvent,
    TurnFailed,
)
from ..core.fence import discussion_nonce
from ..core.state import STANDS, State, Turn
from ..core.text import listed as names_listed
from ..core.text import readable, redact
from ..core.thoughts import without_thoughts
from ..core.turns import CONDENSED as CONDENSED
from ..core.turns import (
    Accept,
    Call,
    GiveUp,
    Step,
    as_it_stands,
    kept_short,
    next_step,
    seats_held,
    without_missing,
)
from ..core.values import Effort, Prompt, Reservation, SpeakerRef
from ..listening import Listening
from ..ports import CUT, LONGEST_HEARD, Reply, Speaker, SpeakRequest
from ..prompts import Rendered
from ..prompts.asking import asked, with_answer_to_the_same
from .admission import admission, ended_by_cut, goes_on_without, still_to_come
from .in_time import NO_TIME, TOOK_LONG, seconds_for, too_late
from .journal import Journal, Keyed, Outcome
from .tools import Draft, Tools

EFFORT_UNHEEDED = "effort_unheeded"
USAGE_UNBELIEVED = "usage_unbelieved"
_BY_TOKENS = ("cost", "tokens")
"""The limits of which others may leave more than was set aside for them."""
NEARLY = 0.9
"""Of all that a task allows: whoever thinks past that would have thought past all of it."""
LONGEST_DRAFT = 400_000
"""Characters of an answer that are told while they come: nobody reads along further."""


async def take_turn(plan: TurnPlan, journal: Journal, tools: Tools) -> None:
    """Bring a turn to its speech or its failure. Safe to call again at any point of it."""
    await _Taking(plan, journal, tools).to_the_end()


async def settle_lost(journal: Journal, *turns: Turn) -> None:
    """Calls that were under way when an earlier process ended: nobody will ever hear them, but
    they may have been paid."""
    lost = [
        (
            AttemptFailed(
                turn_id=turn.id,
                attempt=number,
                cause="lost",
                message="The process ended while this call was under way.",
            ),
            _outcome_key(turn.id, number),
        )
        for turn in turns
        for number, attempt in enumerate(turn.attempts, 1)
        if attempt.in_flight
    ]
    if lost:
        await journal.record(*lost)


def _outcome_key(turn_id: str, attempt: int) -> str:
    return f"attempt/{turn_id}/{attempt}/outcome"


def _unheeded(model: str) -> NoteAdded:
    return NoteAdded(
        code=EFFORT_UNHEEDED,
        text=f"{model} has no setting for effort: it only got the room to think that goes with it.",
        remedy="Give the seat a model that has such a setting.",
    )


def _unbelieved(model: str, told: str) -> NoteAdded:
    return NoteAdded(
        code=USAGE_UNBELIEVED,
        text=f"The server of {model} reported a usage that the call cannot have had ({told}): what "
        "cannot be true is counted by the words instead.",
        remedy="See what the provider charges, and whether that server counts as it should.",
    )


def _nothing(reply: Reply) -> SpeakerError:
    if reply.finish_reason == CUT:
        return used_up_in_thought("The model", reply.usage)
    message = "The model answered with nothing."
    return SpeakerError("empty", message, "Try again.", usage=reply.usage)


class _TimeOver(SpeakerError):
    """The discussion has used up its time in the middle of a call."""

    def __init__(self) -> None:
        told = "The time that the discussion may take was over."
        super().__init__("timeout", told, "Allow more with --max-time.")


class _ShareOver(SpeakerError):
    """A call that the table can do without has used up its share of the discussion's time."""

    def __init__(self) -> None:
        told = "Its share of the time that the discussion may take was over."
        super().__init__("timeout", told, "Allow more with --max-time.")


class _Taking:
    def __init__(self, plan: TurnPlan, journal: Journal, tools: Tools) -> None:
        self._asked_for = plan
        self._known: tuple[int, TurnPlan] | None = None
        self.journal = journal
        self.tools = tools
        self.began = tools.clock.monotonic()
        self._looked_again = False
        self._counts_on: bool | None = None
        """Whether what was answered before a limit was raised counts, once that is known."""
        self.postponed = False
        """Whether its call waits for what others leave of the budget."""
        self.share: float | None = None
        """Seconds that its call may take, where the table can do without it."""

    @property
    def plan(self) -> TurnPlan:
        """What was asked for, on speakers that exist as far as this discussion has learnt, and with
        no more patience than they have shown to deserve: others learn it at the same time."""
        state = self.journal.state
        if self._known is None or self._known[0] != state.seq:
            self._known = (state.seq, kept_short(self._existing(state), state))
        return self._known[1]

    def _existing(self, state: State) -> TurnPlan:
        missing = state.missing_models
        if not missing:
            return self._asked_for
        held, host = seats_held(state, self.journal.choosing), state.start.host.id
        return without_missing(self._asked_for, missing, state.heard_speakers, held, host)

    def _next_step(self, turn: Turn | None) -> Step:
        """Nothing is awaited between looking at what others choose and choosing."""
        self._known = None
        step = next_step(self.plan, turn, self.time_left)
        if isinstance(step, Call):
            self.journal.choosing[self.plan.participant.id] = step.speaker.model
            self._known = None
        return step

    @property
    def turn(self) -> Turn | None:
        return self._counted(self.journal.state)

    def _counted(self, state: State) -> Turn | None:
        """The turn as far as it has come; with what it was answered before a limit was raised,
        where it is asked the same again."""
        turn = state.turn(self.plan.turn_id)
        if turn is None or turn.over or turn.answered is None:
            return turn
        if self._counts_on is None:
            again = with_answer_to_the_same(self.plan, turn, state.start.pace)
            self._counts_on = again.before < turn.before
        return replace(turn, before=turn.answered) if self._counts_on else turn

    @property
    def time_left(self) -> float | None:
        slowest = max(self._limits(each)[0] for each in self.plan.participant.speakers)
        deadline = self.plan.policy.deadline_for(slowest)
        return None if deadline is None else deadline - self.tools.clock.monotonic() + self.began

    def _limits(self, speaker: SpeakerRef) -> tuple[float, float, Effort | None]:
        """Seconds until its first word and between two, and how much it shall think."""
        policy = self.plan.policy
        pace = policy.pace(self.journal.state.start.pace, speaker)
        return pace.first_word or policy.timeout, pace.silence or policy.timeout, pace.effort

    async def to_the_end(self) -> None:
        if self.turn is not None:
            await settle_lost(self.journal, self.turn)
        while (turn := self.turn) is None or not turn.over:
            match self._next_step(turn):
                case Call() as call:
                    await self._wait(call)
                    if not await self._call(call):
                        return
                case GiveUp(cause="not_found") if await self._others_are_there():
                    continue
                case Accept() | GiveUp() as outcome:
                    await self.journal.record(*self._over(outcome))

    async def _others_are_there(self) -> bool:
        """Whether the endpoint has models by now that nobody knew of: a server may have been
        started anew with another one. They are asked once each, like any spare one."""
        if self._looked_again:
            return False
        self._looked_again = True
        seat = self._asked_for.participant
        known = {ref.model for ref in seat.speakers}
        found = await self.tools.spares(seat.speaker.model)
        new = tuple(ref for ref in found if ref.model not in known)
        if new:
            chain = seat.model_copy(update={"speakers": (*seat.speakers, *new)})
            self._asked_for, self._known = replace(self._asked_for, participant=chain), None
        return bool(new)

    async def _wait(self, call: Call) -> None:
        if call.wait > 0:
            # A server's Retry-After is a lower bound: jitter may only lengthen it.
            wait = call.wait * max(1.0, self.tools.ids.jitter())
            left = self.time_left
            # Nor may it eat up the time in which the call is to be made.
            await self.tools.clock.sleep(wait if left is None or wait < left else call.wait)

    async def _call(self, call: Call) -> bool:
        """Make one attempt; False when the discussion no longer wants it."""
        clock = self.tools.clock
        queued = clock.monotonic()
        async with self.tools.speakers.admitted(call.speaker.model) as speaker:
            # Waiting for others' calls is not this turn's time, nor is the attempt begun.
            self.began += clock.monotonic() - queued
            return await self._attempt(call, speaker)

    async def _attempt(self, call: Call, speaker: Speaker) -> bool:
        clock = self.tools.clock
        begun = clock.monotonic()
        rendered = self._prompt(call)
        try:
            await self._open_attempt(call, rendered)
            if not self._in_flight(call):
                return False
            # Nor is waiting for a database that was away.
            self.began += clock.monotonic() - begun
            begun = clock.monotonic()
            reply = await self._speak(call, speaker, rendered.prompt)
        except SpeakerError as error:
            used_up = self._used_up(call) if error.used_up else None
            failure = self._failure(call.attempt, error, clock.monotonic() - begun, used_up)
            rest: tuple[Outcome, ...] = ()
            if isinstance(error, _TimeOver):
                rest = self._out_of_time(call, failure[0])
            elif isinstance(error, _ShareOver):
                rest = self._done_without(self.turn, TOOK_LONG)
            await self.journal.record(failure, *rest)
        except asyncio.CancelledError:
            if self._in_flight(call):
                gone = SpeakerError("cancelled", "The call was cancelled.")
                await self.journal.record(
                    self._failure(call.attempt, gone, clock.monotonic() - begun)
                )
            raise
        else:
            await self._take_in(call, reply, clock.monotonic() - begun)
            self.began = clock.monotonic()  # it is not late who has answered
        return True

    async def _open_attempt(self, call: Call, rendered: Rendered) -> None:
        """Journal that a call begins, or that it is refused. Where only what others have set aside
        is in its way, or would cut it short, it waits: they may leave more than was thought."""
        clock, waited_from = self.tools.clock, self.tools.clock.monotonic()
        while True:
            settled = self.journal.settled
            self.postponed = False
            await self.journal.record_checked(lambda state: self._opening(state, call, rendered))
            if not self.postponed:
                break
            await settled.wait()
        self.began += clock.monotonic() - waited_from

    def _in_flight(self, call: Call) -> bool:
        """Whether the ledger holds this attempt's beginning and not yet its end."""
        attempts = self.turn.attempts if self.turn else []
        return len(attempts) == call.attempt and attempts[-1].in_flight

    def _max_tokens(self, call: Call) -> int:
        declares = call.purpose == "declare"
        asked_for = self.journal.state.start.pace
        return self.plan.most_tokens(call.speaker, asked_for, declares=declares)

    def _granted(self, call: Call) -> int:
        """What was set aside for it, which may be less than the task allows."""
        return max(1, self._reserved(call).output_tokens)

    def _set_aside(self, call: Call) -> Reservation | None:
        counts = is_paid_by_tokens(self.journal.state.budget)
        return self._reserved(call) if counts else None

    def _reserved(self, call: Call) -> Reservation:
        turn = self.turn
        assert turn is not None, "a call is journalled before it is made"
        return turn.attempts[call.attempt - 1].started.reserved

    def _prompt(self, call: Call) -> Rendered:
        room = self.plan.prompt_room(call.speaker, self.journal.state.start.pace)
        nonce = self._nonce(self.plan.task_for(call.speaker).prompt)
        return asked(self.plan, call, nonce=nonce, room=room)

    def _nonce(self, plan: PromptPlan) -> str:
        state = self.journal.state
        if plan.repeats:
            return discussion_nonce(state.discussion_id, state.start.seed)
        return self.tools.ids.nonce()

    def _opening(self, state: State, call: Call, rendered: Rendered) -> Sequence[Keyed]:
        """The events that open an attempt, or that refuse it: asked for by the newest state."""
        plan, turn = self.plan, self._counted(state)
        if state.closed or state.stop_requested or (turn and turn.over):
            return ()
        if state.paused and turn is None:  # whoever speaks finishes, but nobody begins
            return ()
        if self._in_flight(call):  # it was stored, though the database could not say so any more
            return ()
        granted = admission(
            state,
            self.journal.spending(),
            plan,
            call,
            rendered.prompt,
            self._max_tokens(call),
            about_to=self.journal.about_to,
            lengths=self.tools.lengths,
            dearest=self.tools.dearest_price,
        )
        others = bool(state.in_flight) or bool(self.journal.about_to)
        waits = granted.short if isinstance(granted, Granted) else granted.limit in _BY_TOKENS
        if others and waits:
            self.postponed = True
            return ()
        lengths = self.tools.lengths
        if isinstance(granted, Granted) and too_late(state, self.journal.spending(), plan, lengths):
            granted = self._no_time_left(f", {MORE}")
        self.share = seconds_for(state, self.journal.spending(), plan, call, lengths)
        if isinstance(granted, Granted) and self.share == 0:
            return self._done_without(turn, NO_TIME)
        if not isinstance(granted, Granted):
            why = f"The budget does not allow it: {granted.detail}."
            if was_cut_in_thought(turn):
                why = f"{CUT_IN_THOUGHT}: {granted.detail}."
            if plan.policy.dispensable:
                why = left_out(state.budget, granted.limit)
            give_up = GiveUp("budget", why, "")
            # An answer that was to be mended is paid: it is used as it stands.
            outcome = self._outcome(as_it_stands(plan, turn) or give_up)
            if granted.limit != "time" and self._left_out(state, call):
                return outcome
            return ((self._ended_by(state, granted), None), *outcome)
        events: list[Keyed] = []
        if call.replaces is not None:
            events.append((self._substitution(call, call.replaces), None))
        if rendered.cuts and (note := self._condensed_note(call, rendered.cuts)) not in state.notes:
            events.append((note, None))
        started = AttemptStarted(
            turn_id=plan.turn_id,
            attempt=call.attempt,
            stage=plan.stage,
            round=plan.round,
            participant=plan.participant.id,
            model=call.speaker.model,
            purpose=call.purpose,
            label=plan.label,
            prompt=rendered.prompt,
            reserved=granted.reserved,
        )
        events.append((started, f"attempt/{plan.turn_id}/{call.attempt}/started"))
        return events

    def _done_without(self, turn: Turn | None, why: str) -> tuple[Outcome, ...]:
        """What follows where the time of a call is needed for others: the discussion goes on
        without it, or with what was answered before."""
        give_up = GiveUp("budget", f"The budget does not allow it: {why}.", "")
        return self._over(as_it_stands(self.plan, turn) or give_up)

    def _left_out(self, state: State, call: Call) -> bool:
        return goes_on_without(
            state,
            self.journal.spending(),
            self.plan,
            call,
            about_to=self.journal.about_to,
            lengths=self.tools.lengths,
            dearest=self.tools.dearest_price,
        )

    def _ended_by(self, state: State, spent: BudgetExhausted) -> BudgetExhausted:
        """With what else it would have taken: that is told where somebody may raise the limit."""
        if state.exhausted is not None:
            return spent
        to_come = still_to_come(state, self.tools.lengths, self.tools.dearest_price)
        return spent.model_copy(update={"to_come": to_come})

    async def _speak(self, call: Call, speaker: Speaker, prompt: Prompt) -> Reply:
        plan = self.plan
        task = plan.task_for(call.speaker)
        left = self.time_left
        first_word, silence, effort = self._limits(call.speaker)
        timeout = first_word if left is None else min(first_word, left)
        discussion_id = self.journal.state.discussion_id

        told = 0

        def on_words(words: str) -> None:
            nonlocal told
            told += len(words)
            if words and told <= LONGEST_DRAFT:
                self.tools.on_draft(
                    Draft(discussion_id, plan.turn_id, plan.participant.id, call.attempt, words)
                )

        request = SpeakRequest(
            model=call.speaker.model,
            system=prompt.system,
            user=prompt.user,
            max_tokens=self._granted(call),
            timeout=timeout,
            silence=silence,
            effort=effort,
            idempotency_key=f"{discussion_id}/{plan.turn_id}/{call.attempt}",
            shape=() if call.purpose == "declare" else task.shape,
            form=task.form,
            schema=self._schema(task, call),
            repeated=prompt.repeated,
            set_aside=self._set_aside(call),
        )
        listening = Listening.to(request, on_words)
        allowed, share = asyncio.timeout(self._seconds_allowed()), asyncio.timeout(self.share)
        try:
            async with allowed, share, listening:
                reply = await speaker.speak(request, listening.heard)
        except TimeoutError:
            if share.expired():
                raise _ShareOver from None
            if allowed.expired():
                raise _TimeOver from None
            raise SpeakerError(
                "timeout",
                f"{call.speaker.model} {listening.told}.",
                "Try again, allow more time (--first-word, --silence), or take a faster model.",
            ) from None
        if not without_thoughts(reply.text).strip():
            raise _nothing(reply)
        if len(reply.text) > LONGEST_HEARD:
            text = reply.text[:LONGEST_HEARD]
            reply = replace(reply, text=text, finish_reason=CUT)
        return replace(reply, text=readable(reply.text))

    def _seconds_allowed(self) -> float | None:
        """What is left of the time that the whole discussion may take."""
        most = self.journal.state.budget.max_seconds
        return None if most is None else max(0.0, most - self.journal.spending().seconds)

    def _no_time_left(self, why: str = "") -> BudgetExhausted:
        state = self.journal.state
        most = state.budget.max_seconds or 0.0
        passed = self.journal.spending().seconds if why else most
        return BudgetExhausted(
            limit="time",
            detail=f"{passed:.0f} of {most:.0f} seconds passed{why}",
            origin=state.limits_from.get("max_seconds", ""),
        )

    def _out_of_time(self, call: Call, cut: Event) -> tuple[Outcome, ...]:
        """What follows when a call was cut off because there is no time for any: its turn is over,
        with what was answered before. How long it had taken tells how long the rest may take."""
        over = self._ended_by(self._with(cut), self._no_time_left())
        give_up = GiveUp("budget", f"The budget does not allow it: {over.detail}.", "")
        outcome = as_it_stands(self.plan, self.turn) or give_up
        key = f"time/{self.plan.turn_id}/{call.attempt}"
        return ((over, key), *self._outcome(outcome))

    def _with(self, outcome: Event) -> State:
        """The discussion with the outcome of this call, which is about to be stored."""
        led = self.journal.state.branch()
        led.apply(StoredEvent(led.discussion_id, led.seq + 1, self.tools.clock.now(), outcome))
        return led

    def _schema(self, task: Task, call: Call) -> Mapping[str, Any] | None:
        """What a call for a declaration or another block alone is held to, where the speaker's
        provider can."""
        alone = task.form is not None and (task.form.alone or call.purpose == "declare")
        return task.form.schema() if task.form and alone else task.schema

    async def _take_in(self, call: Call, reply: Reply, seconds: float) -> None:
        """Store the answer and, if it is its turn's last, the speech that it becomes: one commit
        holds both. Nothing is awaited between its arrival and this."""
        finished = AttemptFinished(
            turn_id=self.plan.turn_id,
            attempt=call.attempt,
            text=reply.text,
            usage=reply.usage,
            served_by=reply.served_by,
            finish_reason=reply.finish_reason,
            seconds=round(seconds, 3),
        )
        events: list[Outcome] = [(finished, _outcome_key(self.plan.turn_id, call.attempt))]
        if "effort" in reply.unheeded:
            events.append(
                (_unheeded(call.speaker.model), f"{EFFORT_UNHEEDED}/{call.speaker.model}")
            )
        if reply.unbelieved:
            model = call.speaker.model
            events.append((_unbelieved(model, reply.unbelieved), f"{USAGE_UNBELIEVED}/{model}"))
        turn = self.turn
        if turn is not None and not turn.over:
            answered = replace(turn.attempts[-1], finished=finished)
            step = next_step(self.plan, replace(turn, attempts=(*turn.attempts[:-1], answered)))
            if isinstance(step, Accept):
                events.extend(self._over(step, finished))
        await self.journal.record(*events)

    def _over(
        self, outcome: Accept | GiveUp, finished: AttemptFinished | None = None
    ) -> tuple[Outcome, ...]:
        """How the turn ends, and that a limit ended the discussion where it cut its last word: what
        is cut is no verdict, and a higher limit brings one. `finished` is an answer that is stored
        with it."""
        state, ending = self.journal.state, self._outcome(outcome)
        speech = ending[0][0]
        if not isinstance(speech, SpeechGiven) or LIMITED not in speech.flags:
            return ending
        if self.plan.policy.dispensable:
            return ending
        spent = ended_by_cut(state, self.journal.spending(), speech, self.tools.lengths)
        if spent is None:
            return ending
        made = len(self.turn.attempts) if self.turn else 0
        over = self._ended_by(self._with(finished) if finished else state, spent)
        return ((over, f"cut/{self.plan.turn_id}/{made}"), *ending)

    def _outcome(self, outcome: Accept | GiveUp) -> tuple[Outcome, ...]:
        plan = self.plan
        key = self.journal.state.outcome_key(plan.turn_id)
        turn = self.turn
        if isinstance(outcome, GiveUp) and turn is not None and turn.stands is not None:
            return (self._kept(turn.stands, outcome), (turn.stands, key))
        if isinstance(outcome, GiveUp):
            failure = TurnFailed(
                turn_id=plan.turn_id,
                stage=plan.stage,
                round=plan.round,
                participant=plan.participant.id,
                cause=outcome.cause,
                message=redact(readable(outcome.message)),
                remedy=outcome.remedy,
            )
            return ((failure, key),)
        flags = outcome.flags
        if outcome.limited and is_paid_by_tokens(self.journal.state.budget):
            flags = (*flags, LIMITED)
        condensed = any(note.code == self._condensed_code for note in self.journal.state.notes)
        speech = SpeechGiven(
            turn_id=plan.turn_id,
            stage=plan.stage,
            round=plan.round,
            participant=plan.participant.id,
            model=outcome.model,
            text=outcome.text,
            sections=outcome.sections,
            flags=(*flags, CONDENSED) if condensed else flags,
            after_round=plan.after_round,
            declaration=outcome.declaration,
            independent=plan.independent,
            deliverables=outcome.deliverables,
        )
        return ((speech, key),)

    def _kept(self, speech: SpeechGiven, instead: GiveUp) -> Outcome:
        """What the reader should know where an earlier answer stands for one that was not to be
        had."""
        state, turn = self.journal.state, self.turn
        since = turn.attempts[turn.before - 1].at if turn and turn.before else None
        spoken = zip(state.speeches, state.spoken_at, strict=True)
        later = [each for each, at in spoken if each.round > 0 and since and at > since]
        names = list(dict.fromkeys(state.name_of(each.participant) for each in later))
        unread = f" It was given before {names_listed(names)} had spoken." if names else ""
        note = NoteAdded(
            code=f"{STANDS}/{speech.turn_id}",
            text=f"What the {state.name_of(speech.participant)} had said before stands, because "
            f"no new answer came: {instead.message}{unread}",
            remedy=instead.remedy,
        )
        return note, f"{STANDS}/{state.outcome_key(speech.turn_id)}"

    def _used_up(self, call: Call) -> Literal["limit", "task"]:
        """What ended the thoughts of a call that took all its tokens: a limit only where a higher
        one would have left it considerably more."""
        return "limit" if self._granted(call) < NEARLY * self._max_tokens(call) else "task"

    def _failure(
        self,
        attempt: int,
        error: SpeakerError,
        seconds: float,
        used_up: Literal["limit", "task"] | None = None,
    ) -> Outcome:
        failed = AttemptFailed(
            turn_id=self.plan.turn_id,
            attempt=attempt,
            cause=error.cause,
            message=redact(readable(error.message)),
            remedy=error.remedy,
            retry_after=error.retry_after,
            seconds=round(seconds, 3),
            trouble=error.trouble,
            usage=error.usage,
            used_up=used_up,
        )
        return failed, _outcome_key(self.plan.turn_id, attempt)

    def _substitution(self, call: Call, failed: AttemptFailed) -> ParticipantSubstituted:
        turn = self.turn
        assert turn is not None, "only a turn with a failed attempt has a substitute"
        return ParticipantSubstituted(
            participant=self.plan.participant.id,
            turn_id=self.plan.turn_id,
            from_model=turn.attempts[-1].started.model,
            to_model=call.speaker.model,
            cause=failed.cause,
            remedy=failed.remedy,
            trouble=failed.trouble,
        )

    @property
    def _condensed_code(self) -> str:
        return f"condensed/{self.plan.turn_id}"

    def _condensed_note(self, call: Call, cuts: Sequence[Cut]) -> NoteAdded:
        what = "A repair" if call.repair else "The prompt"
        return NoteAdded(
            code=self._condensed_code,
            text=f"{what} of turn {self.plan.turn_id} was condensed: it did not fit the "
            f"{call.speaker.context_window:,} tokens of {call.speaker.model}. Shown of it: "
            f"{listed(cuts)}.",
            remedy="Give this seat a model with a larger window, or shorten the material.",
        )
