"""Why one model cannot be used where it was asked for, although its server answers.

One classification for all: the table substitutes on any of them, and notes, lists, the set-up and
doctor say which. What is wrong with the key, the account, the address or the server is none of
these: then no other model of the same server would help.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from .pattern import pattern

ModelTrouble = Literal["unknown", "no access", "retired", "not loaded", "too large", "not for chat"]

TOLD: Mapping[ModelTrouble, str] = {
    "unknown": "does not exist there",
    "no access": "is not available to this key",
    "retired": "is no longer served there",
    "not loaded": "is not loaded there",
    "too large": "does not fit into that server's memory",
    "not for chat": "is not available for chat there",
}
"""What is the matter, after `which` or `it`."""
VERBS: Mapping[ModelTrouble, str] = {
    "unknown": "does not know the model",
    "no access": "does not let this key use the model",
    "retired": "no longer serves the model",
    "not loaded": "has not loaded the model",
    "too large": "lacks the memory for the model",
    "not for chat": "does not serve the model for chat",
}
"""The same after the name of a server."""
REMEDIES: Mapping[ModelTrouble, str] = {
    "unknown": "`roundtable models` shows what it has: name one of those.",
    "no access": "Name a model that this key may use, or ask whoever runs the server for access.",
    "retired": "`roundtable models` shows what it has: name one of those.",
    "not loaded": "Load it there, or name one that is loaded.",
    "too large": "Name a smaller model, or free memory there.",
    "not for chat": "Name a chat model.",
}

_GONE = pattern(
    r"model.{0,160}(?:decommissioned|deprecated|retired|sunset|"
    r"no longer (?:available|supported|served|offered))",
    re.I,
)
_UNKNOWN = pattern(
    r"no such model|unknown model|model[ _]not[ _]found|invalid model(?: name)?\b|"
    r"not a valid model|no endpoints found|"
    r"(?:model|deployment) .{0,120}(?:not found|does not exist|is not available|not supported)",
    re.I,
)
_UNKNOWN_CODES = frozenset(["model_not_found", "deploymentnotfound"])
_NO_ACCESS = pattern(
    r"(?:no|not have|without) (?:access|permission).{0,80}\bmodels?\b|"
    r"\bmodels?\b.{0,120}(?:no|not have|without) (?:access|permission)|"
    r"model[ _]access[ _]denied|access[ _]denied.{0,80}\bmodels?\b",
    re.I,
)
_NOT_ALLOWED = pattern(
    r"not (?:allowed|permitted|authori[sz]ed|entitled|enabled).{0,80}\bmodels?\b|"
    r"\bmodels?\b.{0,120}(?:not (?:allowed|permitted|authori[sz]ed|entitled|enabled)|forbidden)",
    re.I,
)
"""Of a parameter this may be said, too: it counts with a status that says the same."""
_NOT_LOADED = pattern(
    r"no models? (?:is |are )?(?:currently )?loaded|"
    r"model.{0,120} (?:is )?not (?:currently )?loaded",
    re.I,
)
_NOT_FOR_CHAT = pattern(
    r"not a chat model|only supported in v1/|not supported in the v1/chat|"
    r"does not support (?:chat|generate)\b",
    re.I,
)
_TOO_LARGE = pattern(
    r"requires? more (?:\w+ )?(?:memory|vram|ram)\b|"
    r"(?:not enough|insufficient) (?:\w+ )?(?:memory|vram|resources).{0,80}(?:load|model)|"
    r"(?:load|model).{0,120}(?:not enough|insufficient) (?:\w+ )?(?:memory|vram|resources)",
    re.I,
)


def model_trouble(status: int, code: str, said: str) -> ModelTrouble | None:
    """Why this model, and perhaps not another, cannot be used, by the server's answer to a call;
    None if the model is not the reason."""
    told = f"{code} {said}"
    if status in (402, 429):
        return None
    if status >= 500:
        return "too large" if _TOO_LARGE.search(said) else None
    if _NOT_LOADED.search(said):
        return "not loaded"
    if _NOT_FOR_CHAT.search(said):
        return "not for chat"
    if status == 410 or _GONE.search(told):
        return "retired"
    # "It does not exist or you do not have access to it" is said of any name.
    named = "not exist" in said or "not found" in said
    if not named and (
        _NO_ACCESS.search(told) or (status in (401, 403) and _NOT_ALLOWED.search(told))
    ):
        return "no access"
    if status == 401:
        return None
    if not _UNKNOWN_CODES.isdisjoint(code.casefold().split()) or _UNKNOWN.search(said):
        return "unknown"
    return "unknown" if status == 404 and "model" in told.casefold() else None
