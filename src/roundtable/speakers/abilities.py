"""What a model can be told on the wire, by its name.

No interface says it, and a model that is told what it does not take refuses the whole call. What
is wrong or missing here costs one call more: who refuses is asked again without.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, NamedTuple, get_args

from ..core.pattern import pattern
from ..core.values import Effort

EFFORTS: tuple[Effort, ...] = get_args(Effort)
Dialect = Literal["responses", "messages", "chat"]


@dataclass(frozen=True, slots=True)
class Abilities:
    """What may be sent to a model beside its prompt."""

    efforts: tuple[Effort, ...] = ()
    """Those it knows, the least first; none: it cannot be told how much to think."""
    schema: bool = True
    """Whether its provider holds an answer to a schema."""
    temperature: bool = True
    new_limit: bool = False
    """Whether the limit of tokens goes by its new name in chat completions."""
    counts: bool = True
    """Whether a stream of chat completions may be asked to end with a count of its tokens."""
    thinking: Literal["", "adaptive"] = ""
    """Whether a model of Anthropic's decides by itself how much to think, or is told a number."""
    told_effort: bool = True
    """Whether a model of Anthropic's takes the word for its effort."""

    def effort(self, wanted: Effort) -> Effort:
        """The least that it knows and that is enough, or else the most."""
        enough = [each for each in self.efforts if EFFORTS.index(each) >= EFFORTS.index(wanted)]
        return enough[0] if enough else self.efforts[-1]

    def without(self, refused: Collection[Extra]) -> Abilities:
        """The same model at a server that refuses these."""
        if not refused:
            return self
        return replace(
            self,
            efforts=() if "effort" in refused else self.efforts,
            schema=self.schema and "schema" not in refused,
            temperature=self.temperature and "temperature" not in refused,
            new_limit=self.new_limit is not ("limit" in refused),
            counts=self.counts and "count" not in refused,
        )


Extra = Literal["effort", "schema", "temperature", "limit", "count"]
"""What a server may refuse although it answers without. A limit is never left out: it goes by its
other name then."""

_BLAMED_UNNAMED: tuple[Extra, ...] = ("effort", "schema")
"""Where a refusal names nothing, the likelier culprit first. The others are known to all but a few
servers, and those say what they do not know."""
_NAMES: Mapping[Extra, re.Pattern[str]] = {
    "count": pattern(r"stream_options|include_usage"),
    "limit": pattern(r"max_(?:completion_)?tokens"),
    "temperature": pattern(r"temperature"),
    "effort": pattern(r"reasoning|thinking|effort|budget_tokens"),
    "schema": pattern(r"response_format|json_schema|output_config|text\.format|schema"),
}
_ITSELF = pattern(
    r"not[ _](?:\w+ )?(?:support|permit|allow|accept)|unsupported|unrecogni[sz]ed|unknown|"
    r"unexpected|extra|deprecated|instead|invalid (?:parameter|argument|field)"
)
"""That it is the parameter, and not how large it is."""


def culprit(sent: Collection[Extra], body: object) -> Extra | None:
    """Which of what was `sent` a server does not accept, by its refusal; None if it is none."""
    said = " ".join(_words(body)).casefold()
    for extra, names in _NAMES.items():
        if extra in sent and names.search(said) and (extra != "limit" or _ITSELF.search(said)):
            return extra
    return next((extra for extra in _BLAMED_UNNAMED if extra in sent), None)


_TELLING = frozenset([
    "error", "errors", "message", "msg", "param", "code", "type", "detail", "loc", "metadata",
    "raw",
])  # fmt: skip
"""The parts of a refusal that say what is wrong; others may repeat the prompt."""


def _words(body: object, depth: int = 0) -> Iterator[str]:
    if isinstance(body, str):
        yield body[:2_000]
    elif isinstance(body, Mapping) and depth < 6:
        for key, value in body.items():
            if key in _TELLING:
                yield from _words(value, depth + 1)
    elif isinstance(body, list) and depth < 6:
        for each in body[:20]:
            yield from _words(each, depth + 1)


@cache
def abilities(dialect: Dialect, provider: str, name: str) -> Abilities:
    """Those of a model, as this provider calls it."""
    match dialect:
        case "responses":
            return _openai(name)
        case "messages":
            return _claude(name)
        case "chat":
            return _on_chat(provider, name)


class _Reasoning(NamedTuple):
    efforts: tuple[Effort, ...] = EFFORTS
    by_itself: bool = True
    """It reasons unless it is told not to, and takes no temperature then."""


_ON_REQUEST = _Reasoning(by_itself=False)
_PRO = _Reasoning(("medium", "high"))
_FIXED = _Reasoning(("medium",))
_OPENAI: tuple[tuple[str, _Reasoning], ...] = (
    ("gpt-6-astra", _Reasoning()),
    ("gpt-6-sol", _Reasoning()),
    ("gpt-6-luna", _Reasoning()),
    ("gpt-6.1-sol", _Reasoning()),
    ("gpt-6.1-terra", _Reasoning()),
    ("gpt-5.6", _Reasoning()),
    ("gpt-5.5-pro", _PRO),
    ("gpt-5.5", _Reasoning()),
    ("gpt-5.4-pro", _PRO),
    ("gpt-5.4", _ON_REQUEST),
    ("gpt-5.3-chat", _FIXED),
    ("gpt-5.3", _ON_REQUEST),
    ("gpt-5.2-pro", _PRO),
    ("gpt-5.2-chat", _FIXED),
    ("gpt-5.2", _ON_REQUEST),
    ("gpt-5.1-codex", _Reasoning()),
    ("gpt-5.1-chat", _FIXED),
    ("gpt-5.1", _ON_REQUEST),
    ("gpt-5-chat", _Reasoning((), by_itself=False)),
    ("gpt-5-pro", _Reasoning(("high",))),
    ("gpt-5", _Reasoning()),
    ("o1", _Reasoning()),
    ("o3", _Reasoning()),
    ("o4", _Reasoning()),
)
"""By how their names begin; the first that fits counts. Others do not reason, as far as we know."""


def _openai(name: str) -> Abilities:
    reasoning = next((row for begins, row in _OPENAI if name.startswith(begins)), None)
    if reasoning is None or not reasoning.efforts:
        return Abilities()
    return Abilities(reasoning.efforts, temperature=not reasoning.by_itself, new_limit=True)


_CLAUDE_5 = (
    "claude-fable-5", "claude-mythos-5", "claude-opus-4-7", "claude-opus-4-8", "claude-opus-5",
    "claude-sonnet-5", "claude-haiku-5-5",
)  # fmt: skip
_CLAUDE_ADAPTIVE = (*_CLAUDE_5, "claude-mythos-preview", "claude-opus-4-6", "claude-sonnet-4-6")
_CLAUDE_EFFORT = (*_CLAUDE_5, "claude-opus-4-5", "claude-opus-4-6", "claude-sonnet-4-6")
_CLAUDE_SCHEMA = (
    *_CLAUDE_EFFORT, "claude-haiku-4-5", "claude-sonnet-4-5", "claude-opus-4-1",
)  # fmt: skip


def _claude(name: str) -> Abilities:
    return Abilities(
        EFFORTS,
        schema=name.startswith(_CLAUDE_SCHEMA),
        temperature=not name.startswith(_CLAUDE_5),
        thinking="adaptive" if name.startswith(_CLAUDE_ADAPTIVE) else "",
        told_effort=name.startswith(_CLAUDE_EFFORT),
    )


_EFFORT_BY_NAME = ("google", "openrouter")
"""Providers that take `reasoning_effort` for all their models in chat completions."""
_NO_SCHEMA = (
    "amazon", "bedrock", "deepseek", "groq", "meta", "meta-llama", "moonshotai", "qwen",
)  # fmt: skip
_THINK = {
    "deepseek": ("deepseek-r1", "deepseek-reasoner", "deepseek-v4-", "r1"),
    "groq": ("openai/gpt-oss", "qwen/qwen3", "qwen-qwq", "deepseek-r1", "llama-4-maverick"),
    "mistral": ("magistral",),
    "mistralai": ("magistral",),
    "moonshotai": (
        "kimi-k2.5", "kimi-k2.6", "kimi-k2.7", "kimi-k2-thinking", "kimi-k3", "kimi-thinking",
    ),
    "x-ai": (
        "grok-4.3", "grok-4.5", "grok-4.6", "grok-4.7", "grok-latest", "grok-build-latest",
        "grok-4-0709", "grok-4-fast", "grok-4-1-fast-", "grok-3",
    ),
}  # fmt: skip
"""Whose models think when they are told how much, by the vendor that routers put before a name."""


def _on_chat(provider: str, name: str) -> Abilities:
    vendor, _, model = name.rpartition("/") if name.count("/") < 2 else name.partition("/")
    can = _of_vendor(vendor, model)
    if can.efforts or provider not in _EFFORT_BY_NAME:
        return can
    return Abilities(EFFORTS, can.schema, can.temperature, can.new_limit)


def _of_vendor(vendor: str, model: str) -> Abilities:
    match vendor:
        case "":
            return _openai(model)
        case "openai":  # behind a router, which knows the limit by its old name
            can = _openai(model)
            return Abilities(can.efforts, can.schema, can.temperature)
        case "anthropic":
            return _claude(model)
        case "google":
            return _gemini(model)
        case "cohere":
            reasons = "reasoning" in model
            return Abilities(EFFORTS if reasons else (), schema=not reasons)
    thinks = model.lower().startswith(_THINK.get(vendor, ()) or ("\0",))
    held = vendor not in _NO_SCHEMA and not model.startswith("magistral")
    return Abilities(EFFORTS if thinks else (), held or "qwen3.5" in model.replace("-", ""))


def _gemini(model: str) -> Abilities:
    old = "gemini-1" in model or "gemini-2." in model
    thinks = not ("gemma" in model or "image" in model or (old and "gemini-2.5" not in model))
    return Abilities(EFFORTS if thinks else (), schema=not (old and "image" in model))
