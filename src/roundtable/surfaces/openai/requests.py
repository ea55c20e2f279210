"""What clients send. Fields that are not named here are taken and have no effect."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ...core.values import Budget
from .errors import WireError, refused

_FORMS_OF_TEXT = ("text", None)
_FREE_TO_CALL = ("auto", "none", None)


class RoundtableOptions(BaseModel):
    """Our own part of a request, under `roundtable`."""

    model_config = ConfigDict(extra="forbid")

    options: dict[str, Any] = Field(default_factory=dict)
    """Of the procedure, such as `{"seats": 4}`."""
    language: str | None = None
    budget: Budget | None = None
    search: bool = True
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
