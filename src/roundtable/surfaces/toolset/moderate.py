"""Leading a discussion: start it, speak, end rounds, vote, seat others, tell others, end it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from ...core.confidence import LEAST_OUTCOMES
from ...core.errors import NotAllowed, UnknownName
from ...core.notifications import again, requested
from ...core.state import State
from ...core.text import clip, redact
from ...core.values import (
    HOST_WIRE_NAME,
    NEWS_KINDS,
    OUTSIDE,
    OUTSIDE_SPEAKER,
    Material,
    NewsPlan,
    Participant,
)
from ...procedures.meeting.options import DEFAULT_ROUNDS, MeetingOptions, parse_place
from ...procedures.options import help_of
from ...views.meeting_status import round_report
from ...views.outside_form import new_ids, recorded_of
from ..opening import open_request
from .base import Id, Key, Port, Web
from .operations import operation
from .read import ReadTools
from .read import conclusion as what_came_of
from .results import (
    Advanced,
    Created,
    Ended,
    Invited,
    Joined,
    Notified,
    Outcome,
    Spoken,
    Voted,
    within,
)
from .status import (
    SHORT,
    SILENT,
    SOME_POINTS,
    complete,
    deliveries,
    invitation,
    left_out,
    notifications_of,
    outbox,
    points,
    seat,
    unsendable,
    what_next,
    where,
)

Who = Annotated[str, Field(description="A profile of the table, matched exactly.")]


class SeatWish(TypedDict, total=False):
    """A participant: who it is, from where it argues, and what speaks for it."""

    # What is missing is said in words by the table that seats it, not by the schema alone.
    __pydantic_config__ = ConfigDict(  # type: ignore[misc]  # as pydantic wants it
        extra="allow", json_schema_extra={"required": ["profile", "role"]}
    )

    profile: Annotated[str, Field(description="Its name in every later call.")]
    role: str
    perspective: Annotated[str, Field(description="From where it argues.")]
    display_name: Annotated[str, Field(description="The profile, if not given.")]
    model: Annotated[
        str | None,
        Field(description="A model that the program calls for it; null: whoever calls speak."),
    ]


class ModerateTools(ReadTools):
    """What whoever coordinates, or holds a seat, can do."""

    @operation("init", "Start a discussion")
    async def create_discussion(
        self,
        topic: Annotated[str, Field(description="The question.")],
        participants: Annotated[
            list[SeatWish], Field(description="2 to 12 seats, in the order in which they speak.")
        ],
        context: Annotated[str, Field(description="Material for everybody.")] = "",
        created_by: str = "",
        max_rounds: Annotated[
            int, Field(description=help_of(MeetingOptions, "max_rounds"))
        ] = DEFAULT_ROUNDS,
        speech_order: Annotated[
            str, Field(description=help_of(MeetingOptions, "speech_order"))
        ] = "fixed",
        notifications: NewsPlan | None = None,
        output_path: Annotated[
            str | None, Field(description=help_of(MeetingOptions, "output_path"))
        ] = None,
        web: Web = None,
        web_port: Port = None,
        host: Annotated[
            str | None, Field(description="The coordinator's model; null: you coordinate.")
        ] = None,
        turn_seconds: Annotated[
            float | None, Field(description=help_of(MeetingOptions, "turn_seconds"))
        ] = None,
        choices: Annotated[
            list[str] | None, Field(description="The options, if the topic has a fixed set.")
        ] = None,
        key: Key = None,
    ) -> Created:
        """Start a discussion that you coordinate. Each participant speaks through `speak` in its
        turn, unless it has a `model`, which the program then calls for it."""
        options: dict[str, Any] = {
            "participants": [
                {**each, "model": each.get("model") or OUTSIDE} for each in participants
            ],
            "max_rounds": max_rounds,
            "speech_order": speech_order,
            "host": host or OUTSIDE,
        }
        if choices:
            options["choices"] = choices
        if output_path is not None:
            options["output_path"] = output_path
        if turn_seconds is not None:
            options["turn_seconds"] = turn_seconds
        request = open_request(
            self.app.settings,
            topic,
            surface="tools",
            procedure="meeting",
            options=options,
            context=[Material(source="context", text=context)] if context.strip() else [],
            created_by=created_by or self._created_by,
            news=notifications or self._notifications,
        )
        opened = await self._open(request, key)
        url, warnings = await self._page(opened.discussion_id, web, web_port)
        state = await self._after(opened.discussion_id)
        now = where(state)
        told = what_next(state, now)
        result = Created(
            discussion_id=state.discussion_id,
            state=state.status,
            round_complete=now.round_complete,
            next_speaker=now.next_speaker,
            topic=redact(clip(state.start.topic, SHORT)),
            procedure=state.start.procedure,
            participants=[seat(each) for each in state.participants],
            round=now.round,
            max_rounds=now.max_rounds,
            speech_order=str(state.start.options["speech_order"]),
            created_by=state.start.created_by,
            web_url=url,
            notifications=notifications_of(state),
            warnings=[*warnings, *unsendable(self.app, state)],
            hint=told if notifications_of(state) == "on" else f"{told} {SILENT}",
        )
        return within(result, self.limit)

    @operation("speak", "Speak in a discussion")
    async def speak(
        self,
        discussion_id: Id,
        participant: Annotated[
            str, Field(description="Whose speech it is; `coordinator` may speak at any time.")
        ],
        content: Annotated[str, Field(description="The speech, 200 to 500 words.")],
        declaration: Annotated[
            dict[str, Any] | None,
            Field(
                description="What a participant holds, by the form that status and read return: "
                "only what stands here is counted."
            ),
        ] = None,
        key: Key = None,
    ) -> Spoken:
        """Record a speech: a participant's in its own turn, or the coordinator's at any time. The
        answer says what was recorded, what its declaration lacks, and the ids of new points."""
        self.access.check_voice(participant)
        said = await self._service.hear(discussion_id, participant, content, declaration, key=key)
        speech = said.speech
        state = await self._after(discussion_id)
        new_points, new_conditions = new_ids(state, speech)
        now = where(state)
        over = complete(state, speech.round) if speech.round else now.round_complete
        report = round_report(state, max(1, now.round))
        return Spoken(
            discussion_id=discussion_id,
            state=state.status,
            round_complete=over,
            next_speaker=now.next_speaker,
            participant=participant,
            number=_number(state, speech.turn_id),
            turn_id=speech.turn_id,
            round=speech.round,
            current_round=now.round,
            max_rounds=now.max_rounds,
            flags=list(speech.flags),
            recorded=recorded_of(state, speech) if speech.round else "A remark from the chair.",
            problems=list(said.remarks),
            new_points=new_points,
            new_conditions=new_conditions,
            convergence_score=report.convergence_score.value,
            hint=what_next(state, now, just_completed=over and speech.round > 0),
        )

    @operation("advance", "End the open round")
    async def advance(self, discussion_id: Id, key: Key = None) -> Advanced:
        """End the open round by hand; whoever has not spoken in it is absent from it."""
        await self._service.advance(discussion_id, by=HOST_WIRE_NAME, key=key)
        state = await self._after(discussion_id)
        now = where(state)
        ended = max(state.advanced)
        return Advanced(
            discussion_id=discussion_id,
            state=state.status,
            round_complete=now.round_complete,
            next_speaker=now.next_speaker,
            ended_round=ended,
            absent=list(state.advanced[ended].absent),
            round=now.round,
            max_rounds=now.max_rounds,
            hint=what_next(state, now),
        )

    @operation("vote", "Vote on ending")
    async def vote(
        self,
        discussion_id: Id,
        participant: Who,
        in_favour: Annotated[bool, Field(description="For the end, or against it.")] = True,
        key: Key = None,
    ) -> Voted:
        """Vote on ending a discussion. It ends when all participants are for it."""
        self.access.check_voice(participant)
        await self._service.vote_to_end(discussion_id, participant, in_favour, key=key)
        state = await self._after(discussion_id)
        now = where(state)
        return Voted(
            discussion_id=discussion_id,
            state=state.status,
            round_complete=now.round_complete,
            next_speaker=now.next_speaker,
            participant=participant,
            in_favour=in_favour,
            votes_to_end=[p.id for p in state.participants if state.end_votes.get(p.id)],
            needed=len(state.participants),
            hint=what_next(state, now),
        )

    @operation("end", "End a discussion", destructive=True)
    async def end_discussion(
        self,
        discussion_id: Id,
        conclusion: Annotated[
            str, Field(description="What came of it, in a sentence or two.")
        ] = "",
        cancel: Annotated[
            bool, Field(description="End it without a conclusion; what was said is kept.")
        ] = False,
        reason: Annotated[str, Field(description="Why it is cancelled.")] = "",
        key: Key = None,
    ) -> Ended:
        """End a discussion: with your conclusion, or by cancelling it."""
        if cancel == bool(conclusion.strip()):
            raise NotAllowed(
                "An end needs either a conclusion or cancel=true, and not both.",
                "Say what came of it, or cancel it.",
            )
        if cancel:
            await self._service.stop(
                discussion_id, by=HOST_WIRE_NAME, reason=reason or "cancelled", key=key
            )
        else:
            await self._service.conclude(discussion_id, conclusion, key=key)
        state = await self._after(discussion_id)
        return within(_ended(state), self.limit)

    @operation("outcome", "Say how a decision turned out", idempotent=True)
    async def record_outcome(
        self,
        discussion_id: Id,
        outcome: Annotated[str, Field(description="good, mixed or bad.")],
        note: Annotated[str, Field(description="What came of it, in a sentence or two.")] = "",
    ) -> Outcome:
        """Say how the decision of a discussion that is over turned out in the world. A later word
        replaces it; recorded outcomes make the confidence of later verdicts fit."""
        state = await self._service.record_outcome(
            discussion_id, outcome, note=note, by=self.access.profile or HOST_WIRE_NAME
        )
        told = state.outcome
        assert told is not None, "it was recorded, or refused"
        return Outcome(
            discussion_id=discussion_id,
            state=state.status,
            outcome=told.outcome,
            note=redact(clip(told.note, SHORT)),
            hint=f"Recorded. From {LEAST_OUTCOMES} outcomes on they count in the next verdicts.",
        )

    @operation("join", "Take a seat", idempotent=True)
    async def join(
        self,
        discussion_id: Id,
        profile: Annotated[str, Field(description="The name of the new seat.")],
        role: str,
        perspective: str = "",
        display_name: str = "",
        model: Annotated[
            str | None, Field(description="A model that speaks for it; null: whoever calls speak.")
        ] = None,
        key: Key = None,
    ) -> Joined:
        """Take a seat in a discussion that is under way, as the last one to speak in a round."""
        self.access.check_voice(profile)
        place = parse_place(
            {
                "profile": profile,
                "role": role,
                "perspective": perspective,
                "display_name": display_name,
            }
        )
        newcomer = Participant(
            id=place.profile,
            name=place.display_name,
            role=place.role,
            emoji="👤",
            perspective=place.perspective,
            speakers=(OUTSIDE_SPEAKER,),
        )
        await self._service.join(
            discussion_id,
            newcomer,
            by=profile,
            model=model if model != OUTSIDE else None,
            key=key,
        )
        state = await self._after(discussion_id)
        now = where(state)
        seated = next(each for each in state.participants if each.id == profile)
        result = Joined(
            discussion_id=discussion_id,
            state=state.status,
            round_complete=now.round_complete,
            next_speaker=now.next_speaker,
            seat=seat(seated),
            participants=[seat(each) for each in state.participants],
            hint=what_next(state, now),
        )
        return within(result, self.limit)

    @operation("invite", "Invite somebody to a seat", idempotent=True)
    async def invite(
        self,
        discussion_id: Id,
        participant: Who,
        web: Annotated[bool | None, Field(description="Whether with a page to speak on.")] = None,
        web_port: Port = None,
    ) -> Invited:
        """How a person or another agent takes a seat of this table: a page to speak on, a command
        that gives an agent the tools for this seat alone, and words to tell it."""
        state = await self._state(discussion_id)
        seated = next((p for p in state.participants if p.id == participant), None)
        if seated is None:
            raise UnknownName("participant", participant, [p.id for p in state.participants])
        url, warnings = await self._page(discussion_id, web, web_port, seat=participant)
        return invitation(state, seated, url, warnings, self._seat_token(state, seated))

    @operation("notify", "Send news by hand")
    async def notify(
        self,
        discussion_id: Id,
        event: Annotated[
            str,
            Field(description=f"One of {', '.join(NEWS_KINDS)}."),
        ] = "",
        message_id: Annotated[str, Field(description="A message to send once more.")] = "",
        key: Key = None,
    ) -> Notified:
        """Send news of a discussion now: of a kind, as things stand, or a message once more. The
        answer says where each message stands."""
        if not message_id and event not in NEWS_KINDS:
            raise UnknownName("event", event, NEWS_KINDS)
        box = await outbox(self.app, discussion_id)
        wish = (
            again(box, message_id, HOST_WIRE_NAME)
            if message_id
            else requested(box, event, HOST_WIRE_NAME)
        )
        await self._service.record(discussion_id, wish, key=f"act/{key}" if key else None)
        await self.app.notifier.pump([discussion_id], patience=10.0)
        state = await self._state(discussion_id)
        box = await outbox(self.app, discussion_id)
        return within(
            Notified(
                discussion_id=discussion_id,
                state=state.status,
                event=wish.kind,
                notifications=notifications_of(state),
                deliveries=deliveries(box),
                warnings=unsendable(self.app, state),
                hint="What failed is tried again; send it once more with message_id.",
            ),
            self.limit,
        )


def _ended(state: State) -> Ended:
    now = where(state)
    report = round_report(state, max(1, now.round))
    delivered = [note.text for note in state.notes if note.code == "delivered"]
    return Ended(
        discussion_id=state.discussion_id,
        state=state.status,
        round_complete=now.round_complete,
        next_speaker=now.next_speaker,
        conclusion=clip(what_came_of(state), 1_500),
        rounds=max((speech.round for speech in state.speeches), default=0),
        speeches=len(state.speeches),
        final_convergence_score=report.convergence_score.value,
        consensus_points=points(report.consensus, most=SOME_POINTS, limit=200),
        disagreement_points=points(report.disagreement, most=SOME_POINTS, limit=200),
        further_points=left_out(report.consensus, report.disagreement),
        document=delivered[-1].removeprefix("Written: ") if delivered else None,
        stop_reason=state.closed.stop_reason if state.closed else None,
        detail=state.closed.detail if state.closed else "",
        hint="It is over. All of it: summarize, read or collect."
        if state.closed
        else "Whoever drives it closes it: look again with status.",
    )


def _number(state: State, turn_id: str) -> int:
    return next(n for n, s in enumerate(state.speeches, 1) if s.turn_id == turn_id)
