"""What a chat client asks: the last user message is the topic, all before it is context. Fields
that are not named here are taken and have no effect."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ...core.state import State
from ...core.text import clip
from ...core.values import Material
from ...procedures import procedure_spec
from ...procedures.opening import MAX_TOPIC
from ...settings import OnSecrets
from ...version import __version__
from ...views.deliverables import with_works
from ...views.outgoing import outgoing
from ...views.prior import handed_on
from ..limits import LimitValues
from ..opening import OptionValues
from .wire import WireError, refused

_FORMS_OF_TEXT = ("text", None)
_FREE_TO_CALL = ("auto", "none", None)


class RoundtableOptions(BaseModel):
    """Our own part of a request, under `roundtable`."""

    model_config = ConfigDict(extra="forbid")

    options: OptionValues = Field(default_factory=dict)
    language: str | None = None
    budget: LimitValues | None = None
    search: bool = True
    secrets: OnSecrets | None = None
    """Likely secrets: refuse them, take them out, or send them; None is what the user set."""
    progress: Literal["reasoning", "text", "none"] = "reasoning"
    """Where a client sees what goes on: as reasoning, as text before the verdict, or nowhere."""
    on_disconnect: Literal["go_on", "stop"] = "go_on"
    """What becomes of the discussion when the client goes away."""


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")


class ChatMessage(Loose):
    role: str
    content: str | list[Any] | None = None


class StreamOptions(Loose):
    include_usage: bool | None = None


class Asking(Loose):
    """What both kinds of request have in common."""

    model: str
    stream: bool | None = None
    metadata: dict[str, str] | None = None
    tool_choice: Any = None
    roundtable: RoundtableOptions = Field(default_factory=RoundtableOptions)

    def check(self) -> None:
        """WireError for what would be a lie if it were ignored."""
        choice = self.tool_choice
        if choice not in _FREE_TO_CALL:
            raise refused("The table calls no tools.", "Leave tool_choice at auto.", "tool_choice")


class ChatRequest(Asking):
    messages: list[ChatMessage]
    stream_options: StreamOptions | None = None
    n: int | None = None
    stop: str | list[str] | None = None
    logprobs: bool | None = None
    response_format: dict[str, Any] | None = None
    modalities: list[str] | None = None

    def check(self) -> None:
        super().check()
        if not self.messages:
            raise WireError(400, "messages is empty. Ask a question.", param="messages")
        if self.n not in (None, 1):
            raise refused("One table gives one verdict.", "Leave n at 1.", "n")
        if self.stop:
            raise refused("A verdict is not cut at words.", "Leave stop out.", "stop")
        if self.logprobs:
            raise refused("A table has no log probabilities.", "Leave logprobs out.", "logprobs")
        if (self.response_format or {}).get("type") not in _FORMS_OF_TEXT:
            raise refused(
                "The verdict is Markdown and no JSON.", "Leave response_format out.",
                "response_format",
            )  # fmt: skip
        if set(self.modalities or ["text"]) - {"text"}:
            raise refused("The table answers in text only.", "Leave modalities out.", "modalities")


class ResponseRequest(Asking):
    input: str | list[dict[str, Any]]
    instructions: str | None = None
    previous_response_id: str | None = None
    background: bool | None = None
    text: dict[str, Any] | None = None
    conversation: Any = None

    def check(self) -> None:
        super().check()
        form = (self.text or {}).get("format")
        if (form.get("type") if isinstance(form, dict) else form) not in _FORMS_OF_TEXT:
            raise refused("The verdict is Markdown and no JSON.", "Leave text.format out.", "text")
        if self.conversation is not None:
            raise refused(
                "Conversations are not kept here.", "Use previous_response_id, or send all turns.",
                "conversation",
            )  # fmt: skip


_SYSTEM = ("system", "developer")
_SPOKEN = {"user": "User", "assistant": "Assistant", "tool": "A tool", "function": "A tool"}
_TEXTS = ("text", "input_text", "output_text")
_SIGNED = re.compile(r"`(rt_[0-9a-f]{8})`\s*\Z")
"""How our own answers end, so that they are known again."""
_ONLY_TEXT = "Describe it in words, or put what it says into the message."

FindVerdict = Callable[[str], Awaitable[State | None]]
"""The discussion of an id, if it is in this ledger and has a verdict."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the conversation, as plain text."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is put to the table."""

    topic: str
    context: tuple[Material, ...]
    follows: str = ""
    """The discussion whose verdict this goes on from: the newest of ours in the conversation."""


def delivered(state: State) -> str:
    """The verdict as the client gets it, with a mark by which it is known again."""
    words = procedure_spec(state.start.procedure).deliver(state, __version__)
    return f"{with_works(outgoing(words).strip(), state)}\n\n`{state.discussion_id}`"


async def read_turns(turns: Sequence[Turn], find: FindVerdict) -> Prompt:
    """The topic and its context. Our own earlier verdicts are taken from the ledger, whatever the
    client made of them, and the newest of them is what the question follows; everything else is
    what the client says it is, and carries that as its source."""
    place = max((n for n, turn in enumerate(turns) if turn.role == "user"), default=None)
    if place is None:
        raise WireError(400, "There is no user message. Ask a question in one.", param="messages")
    topic = turns[place].text
    if not topic.strip():
        raise WireError(400, "The last user message is empty. Ask a question.", param="messages")
    if len(topic) > MAX_TOPIC:
        raise WireError(
            400,
            f"The last user message has {len(topic):,} characters; a question has at most "
            f"{MAX_TOPIC:,}. Put the material into a message before it.",
            code="context_length_exceeded",
            param="messages",
        )
    context: list[Material] = []
    talk: list[str] = []
    ours: list[State] = []
    systems = 0
    for turn in (*turns[:place], *turns[place + 1 :]):
        if turn.role in _SYSTEM:
            systems += 1
            source = f"{turn.role} message {systems} of the chat client"
            context.append(Material(source=source, text=turn.text))
            continue
        earlier = await _ours(turn, find)
        if earlier is not None:
            ours.append(earlier)
            talk.append(f"{_SPOKEN[turn.role]}: (the verdict of {earlier.discussion_id})")
        elif turn.text.strip():
            talk.append(f"{_SPOKEN[turn.role]}: {turn.text}")
    if talk:
        source = "earlier turns of the conversation, as the chat client sent them"
        context.append(Material(source=source, text="\n\n".join(talk)))
    follows = ours[-1].discussion_id if ours else ""
    known = {each.discussion_id: each for each in ours if each.discussion_id != follows}
    prior = [material for each in known.values() for material in handed_on(each)]
    return Prompt(topic, (*prior, *context), follows)


async def _ours(turn: Turn, find: FindVerdict) -> State | None:
    signed = _SIGNED.search(turn.text) if turn.role == "assistant" else None
    return await find(signed[1]) if signed else None


def chat_turns(messages: Iterable[Any]) -> list[Turn]:
    """The messages of a chat completion."""
    turns = []
    for number, message in enumerate(messages):
        param = f"messages.{number}"
        if message.role not in (*_SYSTEM, *_SPOKEN):
            raise WireError(
                400,
                f"{message.role!r} is no role. Use system, developer, user, assistant or tool.",
                param=f"{param}.role",
            )
        turns.append(Turn(message.role, _text(message.content, f"{param}.content")))
    return turns


def response_turns(instructions: str | None, given: str | Sequence[Any]) -> list[Turn]:
    """The input of a response."""
    turns = [Turn("system", instructions)] if instructions else []
    if isinstance(given, str):
        return [*turns, Turn("user", given)]
    for number, item in enumerate(given):
        param = f"input.{number}"
        match item.get("type", "message"):
            case "message":
                role = item.get("role")
                if role not in (*_SYSTEM, "user", "assistant"):
                    raise WireError(400, f"{role!r} is no role.", param=f"{param}.role")
                turns.append(Turn(str(role), _text(item.get("content"), f"{param}.content")))
            case "function_call_output":
                turns.append(Turn("tool", _text(item.get("output"), f"{param}.output")))
            case "reasoning" | "function_call":
                pass  # progress of an earlier answer, or a call whose result follows
            case other:
                raise refused(
                    f"Items of the type {clip(str(other), 60)!r} cannot be put to a table.",
                    "Send messages.",
                    param,
                )
    return turns


def _text(content: Any, param: str) -> str:
    """The text of a message's content, whole or in parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise WireError(400, "The content must be text or a list of text parts.", param=param)
    texts = []
    for number, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        place = f"{param}.{number}"
        if isinstance(part, str):
            texts.append(part)
        elif kind in _TEXTS and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind == "refusal" and isinstance(part.get("refusal"), str):
            texts.append(part["refusal"])
        elif isinstance(kind, str) and any(w in kind for w in ("image", "audio", "file", "video")):
            raise refused(f"The table reads text only, no {clip(kind, 40)}.", _ONLY_TEXT, place)
        else:
            raise WireError(400, "This is no text part.", param=place)
    return "\n".join(texts)
