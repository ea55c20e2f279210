"""Measuring and cutting text: words, tokens, slugs, limits, and what must never be shown."""

from __future__ import annotations

import re
import unicodedata

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n+")

CJK_CHARACTERS_PER_WORD = 1.6
"""How many CJK characters stand for one word where a length is given in words."""


def count_words(text: str) -> int:
    """Words, with CJK text counted by characters through a fixed factor."""
    cjk = len(_CJK.findall(text))
    rest = _CJK.sub(" ", text)
    return len(_WORD.findall(rest)) + round(cjk / CJK_CHARACTERS_PER_WORD)


def estimate_tokens(text: str) -> int:
    """A cautious guess at a text's tokens, without a tokenizer: it errs on the high side."""
    if text.isascii():
        return len(text) * 10 // 36 + 1
    wide = sum(1 for char in text if ord(char) > 0x2E7F)
    return (len(text) - wide) * 10 // 30 + wide + 1


def clip(text: str, limit: int, ellipsis: str = "…") -> str:
    """At most `limit` characters, ellipsis included, never cutting through a grapheme."""
    if len(text) <= limit:
        return text
    cut = max(0, limit - len(ellipsis))
    while cut > 0 and _joins_backwards(text[cut], text[cut - 1]):
        cut -= 1
    return text[:cut].rstrip() + ellipsis


def _joins_backwards(char: str, before: str) -> bool:
    """Whether `char` belongs to the grapheme that `before` is part of."""
    return (
        unicodedata.combining(char) != 0
        or char in "\u200d\ufe0f\ufe0e"
        or before == "\u200d"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or ("\U0001f1e6" <= char <= "\U0001f1ff" and "\U0001f1e6" <= before <= "\U0001f1ff")
    )


def condense(text: str, limit: int) -> str:
    """Keep the beginning and the end of a text that is too long, and say what is missing."""
    if len(text) <= limit:
        return text
    notice = f"\n[… {len(text) - limit:,} characters left out to fit the model …]\n"
    keep = max(0, limit - len(notice))
    head = keep * 2 // 3
    return text[:head] + notice + (text[-(keep - head) :] if keep > head else "")


def sentences(text: str) -> list[str]:
    """The text's sentences, bare of list marks."""
    parts = (re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", part).strip() for part in _split(text))
    return [part for part in parts if part]


def _split(text: str) -> list[str]:
    # "1. A point" must not be cut after its number.
    return _SENTENCE.split(re.sub(r"(?m)^(\s*\d+)\.\s+", r"\1) ", text))


def first_sentences(text: str, count: int = 2, limit: int = 400) -> str:
    """The opening sentences of a text, for where a whole speech is too long."""
    return clip(" ".join(sentences(text)[:count]), limit)


def slug(text: str, limit: int = 48, default: str = "topic") -> str:
    """A short kebab-case name that is safe as a file name on every platform."""
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", folded.lower())
    name = ""
    for word in words:
        longer = f"{name}-{word}" if name else word[:limit]
        if len(longer) > limit:
            break
        name = longer
    if not name or name in _WINDOWS_DEVICES:
        name = f"{name or default}-{_fingerprint(text)}"
    return name


def _fingerprint(text: str) -> str:
    """Tells topics apart whose letters do not survive in a slug, such as Chinese ones."""
    value = 0x811C9DC5
    for byte in text.encode("utf-8", "surrogatepass"):
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return f"{value:08x}"


_WINDOWS_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{dev}{n}" for dev in ("com", "lpt") for n in range(1, 10))]
)

_SECRETS = re.compile(
    r"""
      \b(?:sk|rk|pk)-[A-Za-z0-9_\-]{12,}              # OpenAI, Anthropic, OpenRouter, DeepSeek …
    | \bxai-[A-Za-z0-9]{16,}
    | \bAIza[A-Za-z0-9_\-]{20,}                       # Google
    | \bgsk_[A-Za-z0-9]{16,}
    | \b(?:ghp|gho|ghs|ghu)_[A-Za-z0-9]{20,}
    | \bgithub_pat_[A-Za-z0-9_]{20,}
    | \bxox[abprs]-[A-Za-z0-9\-]{10,}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | \beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}   # JWT
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----[\s\S]*?-----END[ ][A-Z ]*PRIVATE[ ]KEY-----
    | (?<=://)[^\s/:@]+:[^\s/@]+(?=@)                 # user:password in an address
    """,
    re.VERBOSE,
)
_ASSIGNED_SECRET = re.compile(
    r"(?i)\b((?:authorization:\s*)?bearer\s+|(?:api[_-]?key|password|secret|token)\s*[=:]\s*[\"']?)"
    r"([A-Za-z0-9_\-.~+/]{12,}=*)"
)

REDACTED = "[redacted]"


def redact(text: str) -> str:
    """The text without anything that looks like a credential. Stored events keep their words;
    logs, reports, errors and notifications go through here."""
    return _ASSIGNED_SECRET.sub(rf"\1{REDACTED}", _SECRETS.sub(REDACTED, text))
