"""Leading a discussion: start it, speak, end rounds, vote, end it."""

from __future__ import annotations

from typing import Annotated, Any, Required

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from ...core.errors import NotAllowed
from ...core.events import SpeechGiven
from ...core.state import State
from ...core.text import clip, redact
from ...core.values import HOST_WIRE_NAME, OUTSIDE, ActionItem, Material
from ...engine.chairs_word import ChairsWord
from ...procedures.meeting.options import DEFAULT_ROUNDS
from ...views.meeting import refused_conditions
from ...views.meeting_status import SUMMARY, round_report
from ...views.outside_form import new_ids, recorded_of
from ..opening import open_request
from .asked import condition, listed_points
from .base import Id, Key, News, Port, Web
from .history import number_of, rows
from .operations import operation
from .read import ReadTools
from .results import Advanced, Created, Ended, Spoken, Voted, within
from .rules import rules_told
from .seats import Who
from .status import (
    SHORT,
    SILENT,
    Where,
    complete,
    notifications_of,
    seat,
    unsendable,
    what_next,
    where,
)
from .summary import conclusion as came_of


class ActionWish(TypedDict, total=False):
    """What is to be done."""

    what: Required[str]
    owner: str
    due: str


class SeatWish(TypedDict, total=False):
    """A participant: who it is, from where it argues, and what speaks for it."""

    # What is missing is said in words by the table that seats it, not by the schema alone.
    __pydantic_config__ = ConfigDict(  # type: ignore[misc]  # as pydantic wants it
        extra="allow", json_schema_extra={"required": ["profile", "role"]}
    )

    profile: Annotated[str, Field(description="Its name in every call.")]
    role: str
    perspective: str
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
        topic: str,
        participants: Annotated[
            list[SeatWish], Field(description="2 to 12, in the order in which they speak.")
        ],
        context: Annotated[str, Field(description="Material for everybody.")] = "",
        created_by: str = "",
        max_rounds: Annotated[int, Field(description="1 to 10")] = DEFAULT_ROUNDS,
        speech_order: Annotated[
            str, Field(description="fixed, or parallel: unheard by each other")
        ] = "fixed",
        notifications: News = None,
        output_path: Annotated[
            str | None, Field(description="Of the conclusion: a .md file in the workspace.")
        ] = None,
        web: Web = None,
        web_port: Port = None,
        host: Annotated[str | None, Field(description="A model that coordinates for you.")] = None,
        turn_seconds: Annotated[
            float | None, Field(description="How long a turn is waited for.")
        ] = None,
        choices: Annotated[
            list[str] | None, Field(description="The options, if there is a fixed set.")
        ] = None,
        early_end: Annotated[
            bool, Field(description="End once all declare the same answer.")
        ] = False,
        rounds_wait: Annotated[
            bool, Field(description="Each further round waits for your summary.")
        ] = False,
        conclusion_seconds: Annotated[
            float | None, Field(description="How long your end is waited for; 3600.")
        ] = None,
        key: Key = None,
    ) -> Created:
        """Start a discussion that you coordinate. Each participant speaks through `speak` in its
        turn, unless it has a `model`. After the last round it waits for your `end`."""
        options: dict[str, Any] = {
            "participants": [
                {**each, "model": each.get("model") or OUTSIDE} for each in participants
            ],
            "max_rounds": max_rounds,
            "speech_order": speech_order,
            "host": host or OUTSIDE,
        }
        given = {
            "choices": choices or None,
            "output_path": output_path,
            "turn_seconds": turn_seconds,
            "conclusion_seconds": conclusion_seconds,
            "early_end": early_end or (None if host else False),
            "rounds_wait": rounds_wait or None,
        }
        options.update({name: value for name, value in given.items() if value is not None})
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
        told = what_next(state, now, HOST_WIRE_NAME)
        result = Created(
            discussion_id=state.discussion_id,
            state=now.state,
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
            rules=rules_told(state),
            warnings=[*warnings, *unsendable(self.app, state)],
            hint=told if notifications_of(state) == "on" else f"{told} {SILENT}",
        )
        return within(result, self.limit)

    @operation("speak", "Speak in a discussion")
    async def speak(
        self,
        discussion_id: Id,
        participant: Annotated[str, Field(description="You, or coordinator at any time.")],
        content: Annotated[
            str, Field(description="200 to 500 words; empty to add to your declaration.")
        ] = "",
        declaration: Annotated[
            dict[str, Any] | None,
            Field(
                description="What you hold, by the form of read; only this is counted: {position, "
                "votes: [{on, before, choice}], new_points: [text], stances: [{id, stance: "
                "agree|partly|disagree|unsure|amend|withdraw, text}], conditions, confidence, "
                "adopted, actions, for_the_record, abstain, end}."
            ),
        ] = None,
        key: Key = None,
    ) -> Spoken:
        """Speak in your turn, or as coordinator. The answer says what was recorded, what your
        declaration lacks and the ids of your new points. While the round is open, a declaration
        without content adds to yours or corrects it."""
        self.access.check_voice(participant)
        said = await self._service.hear(discussion_id, participant, content, declaration, key=key)
        speech = said.speech
        state = await self._after(discussion_id)
        new_points, new_conditions, amended = new_ids(state, speech)
        now = where(state)
        over = complete(state, speech.round) if speech.round else now.round_complete
        report = round_report(state, max(1, now.round))
        return Spoken(
            discussion_id=discussion_id,
            state=now.state,
            round_complete=over,
            next_speaker=now.next_speaker,
            participant=participant,
            number=number_of(state, speech),
            turn_id=speech.turn_id,
            round=speech.round,
            current_round=now.round,
            max_rounds=now.max_rounds,
            flags=list(speech.flags),
            recorded=recorded_of(state, speech) if speech.round else _chairs_word(speech, now),
            problems=list(said.remarks),
            new_points=new_points,
            new_conditions=new_conditions,
            amended=amended,
            convergence_score=report.convergence_score.value,
            hint=what_next(state, now, participant),
        )

    @operation("advance", "End the open round")
    async def advance(self, discussion_id: Id, key: Key = None) -> Advanced:
        """End the open round; whoever has not spoken in it is absent."""
        await self._service.advance(discussion_id, by=HOST_WIRE_NAME, key=key)
        state = await self._after(discussion_id)
        now = where(state)
        ended = max(state.advanced, default=0)
        return Advanced(
            discussion_id=discussion_id,
            state=now.state,
            round_complete=now.round_complete,
            next_speaker=now.next_speaker,
            ended_round=ended or now.round - 1,
            absent=list(state.advanced[ended].absent) if ended else [],
            round=now.round,
            max_rounds=now.max_rounds,
            hint=what_next(state, now, HOST_WIRE_NAME),
        )

    @operation("vote", "Vote on ending")
    async def vote(
        self,
        discussion_id: Id,
        participant: Who,
        in_favour: bool = True,
        key: Key = None,
    ) -> Voted:
        """Vote on ending the rounds. They end when all are for it."""
        self.access.check_voice(participant)
        await self._service.vote_to_end(discussion_id, participant, in_favour, key=key)
        state = await self._after(discussion_id)
        now = where(state)
        return Voted(
            discussion_id=discussion_id,
            state=now.state,
            round_complete=now.round_complete,
            next_speaker=now.next_speaker,
            participant=participant,
            in_favour=in_favour,
            votes_to_end=[p.id for p in state.participants if state.end_votes.get(p.id)],
            needed=len(state.participants),
            hint=what_next(state, now, participant),
        )

    @operation("end", "End a discussion", destructive=True)
    async def end_discussion(
        self,
        discussion_id: Id,
        conclusion: Annotated[str, Field(description="In a sentence or two.")] = "",
        recommendation: Annotated[str, Field(description="What to do.")] = "",
        consensus: list[str] | None = None,
        disagreements: list[str] | None = None,
        action_items: Annotated[list[ActionWish] | None, Field()] = None,
        dissent: Annotated[
            list[str] | None, Field(description="Who holds what against it, and why.")
        ] = None,
        cancel: Annotated[bool, Field(description="End without a conclusion.")] = False,
        reason: str = "",
        key: Key = None,
    ) -> Ended:
        """End a discussion with your conclusion, at any time; or cancel it."""
        word = ChairsWord(
            conclusion.strip(),
            recommendation,
            tuple(consensus or ()),
            tuple(disagreements or ()),
            tuple(dissent or ()),
            tuple(
                ActionItem(text=each["what"], owner=each.get("owner", ""), due=each.get("due", ""))
                for each in action_items or ()
            ),
        )
        if cancel == bool(word.conclusion or word.recommendation.strip()):
            raise NotAllowed(
                "An end needs either a conclusion or cancel=true, and not both.",
                "Say what came of it, or cancel it.",
            )
        if cancel:
            await self._service.stop(
                discussion_id, by=HOST_WIRE_NAME, reason=reason or "cancelled", key=key
            )
        else:
            await self._service.conclude(discussion_id, word, key=key)
        state = await self._after(discussion_id)
        return within(_ended(state), self.limit // 5)


def _chairs_word(speech: SpeechGiven, now: Where) -> str:
    """What became of a word of the coordinator: a summary that was waited for opens a round."""
    opens = speech.stage.startswith(SUMMARY) and now.state == "running"
    return f"Recorded; round {now.round} is open." if opens else "A remark from the chair."


def _ended(state: State) -> Ended:
    now = where(state)
    report = round_report(state, max(1, now.round))
    delivered = [note.text for note in state.notes if note.code == "delivered"]
    return Ended(
        discussion_id=state.discussion_id,
        state=now.state,
        round_complete=now.round_complete,
        next_speaker=now.next_speaker,
        conclusion=clip(came_of(state), 600),
        rounds=state.said.last_round,
        speeches=len(rows(state)),
        final_convergence_score=report.convergence_score.value,
        consensus_points=listed_points(state, [each.id for each in report.consensus]),
        disagreement_points=[
            *listed_points(state, [each.id for each in report.disagreement]),
            *map(condition, refused_conditions(state)),
        ],
        further_points=0,
        document=delivered[-1].removeprefix("Written: ") if delivered else None,
        stop_reason=state.closed.stop_reason if state.closed else None,
        detail=state.closed.detail if state.closed else "",
        hint="It is over. All of it: summarize, read or collect."
        if state.closed
        else "Whoever drives it closes it: look again with status.",
    )
