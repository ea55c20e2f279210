"""Keys that do not open the door: whose they are by their shape, and why they are refused.

Vendors begin their keys with letters of their own. Only a beginning is looked at, and nothing of a
key is ever returned.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from .pattern import pattern

KeyTrouble = Literal["wrong", "expired", "no credit", "forbidden"]
"""Forbidden: it is let in, but not to this."""

_EXPIRED = pattern(r"expired|has been (?:revoked|disabled)|no longer (?:valid|active)", re.I)
_NO_CREDIT = pattern(
    r"insufficient[ _](?:quota|credit|balance|funds)|credit balance|exceeded your current quota|"
    r"no credits?\b|billing|payment required|out of credits?",
    re.I,
)
_WAIT = pattern(r"retry[ _-]?(?:in|after|delay)|per[ _-]?(?:second|minute)", re.I)
"""Google speaks of quota and billing also where calls came too fast, and says how long to wait."""
_BAD_KEY = pattern(
    r"api[ _-]?key.{0,20}(?:not valid|invalid|incorrect|expired)|"
    r"(?:invalid|incorrect) api[ _-]?key",
    re.I,
)
_WORDS = pattern(r"[^\W\d_]{3}")
_OF_KEYS = pattern(r"\bkeys?\b|api[ _-]?key|token|credential|authenti|unauthori[sz]ed", re.I)


def key_trouble(status: int, said: str) -> KeyTrouble | None:
    """Why a server does not let a key in, by its answer; None if the key is not the reason."""
    if status == 402 or (status in (400, 401, 403, 429) and _NO_CREDIT.search(said)):
        return None if status == 429 and _WAIT.search(said) else "no credit"
    if status == 403 and _WORDS.search(said) and not _OF_KEYS.search(said):
        return "forbidden"
    if status in (401, 403) or (status == 400 and _BAD_KEY.search(said)):  # Google says 400
        return "expired" if _EXPIRED.search(said) else "wrong"
    return None


class KeyVendor(NamedTuple):
    """Who gives out keys that begin like this."""

    provider: str
    """The provider's id in the registry; empty if it has none there."""
    label: str


_BEGINNINGS: tuple[tuple[str, KeyVendor], ...] = (
    ("sk-ant-", KeyVendor("anthropic", "Anthropic")),
    ("sk-or-", KeyVendor("openrouter", "OpenRouter")),
    ("sk-proj-", KeyVendor("openai", "OpenAI")),
    ("sk-svcacct-", KeyVendor("openai", "OpenAI")),
    ("AIza", KeyVendor("google", "Google")),
    ("xai-", KeyVendor("xai", "xAI")),
    ("gsk_", KeyVendor("", "Groq")),
    ("hf_", KeyVendor("", "Hugging Face")),
    ("pplx-", KeyVendor("", "Perplexity")),
    ("nvapi-", KeyVendor("", "NVIDIA")),
    ("r8_", KeyVendor("", "Replicate")),
    ("ghp_", KeyVendor("", "GitHub")),
    ("github_pat_", KeyVendor("", "GitHub")),
)


LEAST_KEY = 12
"""Characters that any key has."""
_COMMON = "sk-"
"""Many give out keys that begin like this."""


def shown_key(kind: str, variable: str | None, key: str) -> dict[str, str]:
    """The header in which a server of this kind is shown a key; none without one.

    Anthropic takes two kinds of credential and refuses each in the other's place: a key goes as
    `x-api-key`, and a token, which comes from a log-in or from a gateway, as a bearer's. The
    variable says which of the two its value is, and a token of a log-in says so itself."""
    if not key:
        return {}
    token = (variable or "").endswith("_AUTH_TOKEN") or key.startswith(_LOG_IN)
    if kind == "anthropic" and not token:
        return {"x-api-key": key}
    return {"authorization": f"Bearer {key}"}


_LOG_IN = "sk-ant-oat"


def vendor_of_key(key: str) -> KeyVendor | None:
    """Whose key it looks like; None if many give out keys of this shape."""
    return next((vendor for begins, vendor in _BEGINNINGS if key.startswith(begins)), None)


def may_be_key(text: str) -> bool:
    """Whether it could hold a key of any shape: then no error repeats it."""
    return any(len(word) >= LEAST_KEY for word in text.split())


def looks_like_key(text: str) -> bool:
    """Whether it is a key, as far as its shape tells."""
    known = text.startswith(_COMMON) or vendor_of_key(text) is not None
    return known and len(text) >= LEAST_KEY and len(text.split()) == 1


def of_another_vendor(key: str, provider: str) -> KeyVendor | None:
    """Whose key it is, if it is plainly not one of this provider's."""
    vendor = vendor_of_key(key)
    return vendor if vendor is not None and vendor.provider != provider else None
