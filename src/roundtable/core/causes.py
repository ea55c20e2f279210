"""Why a speaker did not answer, in words for people."""

from __future__ import annotations

from collections.abc import Mapping

from . import model_trouble
from .errors import FailureCause
from .model_trouble import ModelTrouble

TOLD: Mapping[FailureCause, str] = {
    "timeout": "did not answer in time",
    "rate_limited": "was asked too often",
    "unavailable": "was not available",
    "cut": "broke off midway",
    "auth": "was refused: its key is not accepted, or its account has no credit",
    "not_found": "cannot be used there",
    "refused": "refused to answer",
    "bad_request": "did not accept the request",
    "too_long": "cannot take in so much",
    "empty": "answered without a word",
    "garbled": "gave an answer that makes no sense",
    "cancelled": "was interrupted",
    "lost": "was interrupted",
    "budget": "would have cost more than is allowed",
    "absent": "did not come",
}
"""What a model did, after its name and `which`."""


def reason(cause: FailureCause, trouble: ModelTrouble | None = None) -> str:
    """The same, with what is wrong with the model where that is known."""
    return model_trouble.TOLD[trouble] if trouble else TOLD[cause]
