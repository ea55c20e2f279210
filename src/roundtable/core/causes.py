"""Why a speaker did not answer, in words for people."""

from __future__ import annotations

from collections.abc import Mapping

from .errors import FailureCause

TOLD: Mapping[FailureCause, str] = {
    "timeout": "did not answer in time",
    "rate_limited": "was asked too often",
    "unavailable": "was not available",
    "cut": "broke off midway",
    "auth": "was refused: its key is not accepted, or its account has no credit",
    "not_found": "does not exist there",
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
