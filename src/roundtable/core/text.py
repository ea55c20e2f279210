"""Measuring and cutting text: words, tokens, slugs, limits, and what must never be shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from .pattern import pattern

_CJK = pattern(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_WORD = pattern(r"[^\W_]+(?:['’\-][^\W_]+)*")
_NUMBER = pattern(r"\d+(?:(?:[.,'’]|[ \u00a0\u202f](?=\d{3}(?!\d)))\d+)*")
_LONGEST_NUMBER = 40
"""Characters; more digits than that are no number that somebody reads."""
_HALF_SURROGATE = pattern("[\ud800-\udfff]")
_SENTENCE = pattern(r"(?<=[.!?。！？؟۔।])\s+|(?<=[。！？])|\n+")
_NO_LETTER = r"(?<![^\W\d_])"
_ABBREVIATED = pattern(
    rf"""{_NO_LETTER}(?:(?i:
      i\.[ ]?e | e\.[ ]?g | z\.\s?b | d\.\s?h | u\.\s?a | o\.\s?ä | p\.\s?ej | p\.\s?ex
    | approx | vs | cf | viz | ca | incl | excl | resp | esp
    | bzw | vgl | sog | evtl | ggf | inkl | zzgl | aprox | núm | pág)
    | [deiopuz] | Dr | Mr | Mrs | Ms | Prof | St | Sr | Sra | Srta | Dra | Hr | Fr
    )\.$""",
    re.VERBOSE,
)
"""What ends with a full stop and is always followed by something."""
_BEFORE_NUMBER = pattern(rf"{_NO_LETTER}(?:nos?|nr|nro|art|abs|abb|fig|vol|sec|pp?|ch)\.$", re.I)
"""The same where a number follows: “no.” can be an answer."""
_BEFORE_SMALL = pattern(rf"{_NO_LETTER}(?:etc|usw|[ap]\.\s?m|U\.\s?S|Inc|Ltd|Co|\d+)\.$")
"""What may end a sentence too: it does not where the next word is small."""
_INITIAL = pattern(
    r"(?:^|[.(“„«]\s?|\b(?:by|and|of|with|von|und|mit|de|por|y|con)\s|\b(?P<name>[A-ZÀ-Þ]\w+)\s)"
    r"[A-ZÀ-Þ]\.$"
)
_LETTERED = pattern(
    r"""(?:option|plan|variante?|opción|group|gruppe|grupo|team|phase|fase|model|modell|modelo|type
    |typ|tipo|class|part|teil|parte|point|punkt|punto|side|seite|version|versión|choice|answer)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words that are followed by a letter which is nobody's initial."""
_STARTER = pattern(
    r"""(?:a|an|and|as|at|but|for|he|how|i|if|in|it|its|no|not|of|on|or|our|she|so|that|the|then
    |there|these|they|this|those|to|we|what|when|with|yes|you
    |das|der|die|ein|eine|er|es|ich|ihr|im|ja|nein|sie|und|wenn|wir
    |el|ella|ellos|en|la|las|lo|los|por|pero|si|sí|un|una|y)""",
    re.IGNORECASE | re.VERBOSE,
)
"""With these a sentence begins, and no name."""
_LOOK_BACK = 24
"""Characters; no abbreviation with the word before it need be longer."""

CJK_CHARACTERS_PER_WORD = 1.6
"""How many CJK characters stand for one word where a length is given in words."""


def readable(text: str) -> str:
    """The text without half surrogates, which come with answers that were cut, and which cannot
    be stored as UTF-8."""
    return _HALF_SURROGATE.sub("\ufffd", text)


def count_words(text: str) -> int:
    """Words, with CJK text counted by characters through a fixed factor."""
    if text.isascii():
        return len(_WORD.findall(text))
    cjk = len(_CJK.findall(text))
    rest = _CJK.sub(" ", text)
    return len(_WORD.findall(rest)) + round(cjk / CJK_CHARACTERS_PER_WORD)


def estimate_tokens(text: str) -> int:
    """A cautious guess at a text's tokens, without a tokenizer: it errs on the high side. Bytes
    tell more than characters, since a CJK character, of three bytes, is about a token."""
    if text.isascii():
        return len(text) * 10 // 36 + 1
    return len(text.encode("utf-8", "surrogatepass")) // 3 + 1


def likely_tokens(text: str) -> float:
    """How many tokens a text most likely has, erring on neither side: for what something will cost,
    not for what it may cost at most. Four plain characters are one, and three bytes of others."""
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    other = 0 if plain == len(text) else len(text.encode("utf-8", "surrogatepass")) - plain
    return plain / 4 + other / 3


SYLLABLES = 0.6
"""Of what we count for scripts that are neither ours nor CJK: newer tokenizers take whole syllables
of them as one."""


def fewest_tokens(text: str) -> float:
    """How few tokens a text may have, by whichever tokenizer: what somebody was granted is not used
    up before that."""
    if text.isascii():
        return len(text) / 4
    cjk = len(_CJK.findall(text))
    rest = likely_tokens(text) - cjk
    plain = len(text.encode("ascii", "ignore")) / 4
    return plain + cjk + (rest - plain) * SYLLABLES


def about(number: float) -> str:
    """A number as exactly as it is known: by its first two digits."""
    digits = len(str(round(number)))
    return f"{round(number, 2 - digits) if digits > 2 else round(number):,.0f}"


def dollars(usd: float) -> str:
    """An amount in cents, and with as many places more as it needs to be told from nothing."""
    if 0 < usd < 0.00005:
        return "less than $0.0001"
    places = 2 if usd >= 0.1 or usd == 0 else 3 if usd >= 0.01 else 4
    told = f"{usd:,.{places}f}"
    return f"${told.rstrip('0') if places > 2 else told}".ljust(len("$0.00"), "0")


def clip(text: str, limit: int, ellipsis: str = "…") -> str:
    """At most `limit` characters, ellipsis included, never cutting through a grapheme, nor through
    a number: a part of one is another one."""
    if len(text) <= limit:
        return text
    cut = whole_up_to(text, _before_number(text, max(0, limit - len(ellipsis))))
    return text[:cut].rstrip() + ellipsis[:limit]


def clip_words(text: str, limit: int, ellipsis: str = "…") -> str:
    """At most `limit` characters, ellipsis included, cut between words; where the first word alone
    is longer, or the script has no spaces, as `clip` cuts."""
    if len(text) <= limit:
        return text
    cut = text.rfind(" ", 0, limit - len(ellipsis) + 1)
    cut = _before_number(text, cut) if cut > 0 else cut
    if cut * 2 < limit:
        return clip(text, limit, ellipsis)
    return text[:cut].rstrip(" ,;:.，；：、—–-(（") + ellipsis


def _before_number(text: str, cut: int) -> int:
    """The place before the number that would be cut through at `cut`; the same place where none
    would be, or where hardly anything stands before it."""
    begins = max(0, cut - _LONGEST_NUMBER)
    for found in _NUMBER.finditer(text, begins, cut + _LONGEST_NUMBER):
        if found.start() < cut < found.end():
            return found.start() if found.start() * 2 >= cut else cut
    return cut


def whole_up_to(text: str, cut: int) -> int:
    """The last place at or before `cut` where no grapheme is cut through."""
    while 0 < cut < len(text) and _joins_backwards(text, cut):
        cut -= 1
    return cut


def _joins_backwards(text: str, index: int) -> bool:
    """Whether the character at `index` belongs to the grapheme of the one before it."""
    char, before = text[index], text[index - 1]
    return (
        unicodedata.category(char).startswith("M")
        or char in "\u200c\u200d"
        or before == "\u200d"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or "\u1160" <= char <= "\u11ff"
        or (_is_flag_half(char) and _flag_halves_before(text, index) % 2 == 1)
    )


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_halves_before(text: str, index: int) -> int:
    """Flags are pairs of letters, so which two belong together is a matter of counting."""
    start = index
    while start > 0 and _is_flag_half(text[start - 1]):
        start -= 1
    return index - start


def sentences(text: str, count: int | None = None) -> list[str]:
    """The text's sentences, or the first so many of them, bare of list marks."""
    parts = (_LIST_MARK.sub("", part).strip() for part in _split(text))
    return list(islice((part for part in parts if part), count))


_LIST_MARK = pattern(r"^\s*(?:[-*•]|\d+[.)])\s+")
_LIST_NUMBER = pattern(r"(?m)^([ \t]*\d+)\.[ \t]+")


def _split(text: str) -> Iterator[str]:
    # "1. A point" must not be cut after its number.
    whole = _LIST_NUMBER.sub(r"\1) ", text)
    begins = 0
    for gap in _sentence_ends(whole):
        yield whole[begins : gap.start()]
        begins = gap.end()
    yield whole[begins:]


def _sentence_ends(text: str) -> Iterator[re.Match[str]]:
    """The gaps between sentences: a full stop of an abbreviation or an initial is no end."""
    for gap in _SENTENCE.finditer(text):
        before = text[max(0, gap.start() - _LOOK_BACK) : gap.start()]
        follows = text[gap.end() : gap.end() + _LOOK_BACK]
        if "\n" in gap[0] or not _goes_on(before, follows):
            yield gap


def _goes_on(before: str, follows: str) -> bool:
    """Whether what ends in a full stop is an abbreviation within its sentence."""
    if not before.endswith(".") or not follows:
        return False
    if _ABBREVIATED.search(before):
        return True
    if follows[0].isdigit():
        return _BEFORE_NUMBER.search(before) is not None
    if follows[0].islower():
        return _BEFORE_SMALL.search(before) is not None
    initial, word = _INITIAL.search(before), _WORD.match(follows)
    if initial is None or word is None or _STARTER.fullmatch(word[0]):
        return False
    return _LETTERED.fullmatch(initial["name"] or "") is None


_PLAIN_WORD = pattern(r"[^\W\d_]+(?:['’‑-][^\W\d_]+)*[,;:.!?…]*(?=\s|$)")
_JOINED = pattern(r"[a-z]+(?:-[a-z]+)+")


def capitalised(text: str) -> str:
    """The text with a capital at its head where a plain word stands there: a path, a flag or the
    name of something in a program, such as `a_b`, `src/x` or `cross-fetch`, is another one then."""
    word = _PLAIN_WORD.match(text)
    if word is None or not word[0].islower() or _JOINED.fullmatch(text.rstrip(" .")):
        return text
    return text[:1].upper() + text[1:]


def as_sentence(text: str) -> str:
    """The text with a full stop, unless it ends in a mark of its own."""
    return text if not text or text[-1] in ".!?…。！？" else f"{text}."


def whole_sentences(text: str, limit: int) -> str:
    """The text, or as many of its first sentences as have room in `limit` characters with a mark
    behind them that something is missing; where not even one has, it is cut between words."""
    if len(text) <= limit:
        return text
    ends = [match.start() for match in _sentence_ends(text) if match.start() + 2 <= limit]
    return f"{text[: ends[-1]].rstrip()} …" if ends else clip_words(text, limit)


def first_sentences(text: str, count: int = 2, limit: int = 400) -> str:
    """The opening sentences of a text, for where a whole speech is too long."""
    return clip_words(" ".join(sentences(text, count)), limit)


def without_headings(text: str) -> str:
    """A text without the lines that are headings; what stood above one does not go on below it."""
    return _HEADING_LINE.sub("\n", text)


_HEADING_LINE = re.compile(r"^[ \t]*#.*$", re.MULTILINE)


@lru_cache(maxsize=1024)  # of the same few names, whenever something is decided
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
    if not name or name in WINDOWS_DEVICES:
        name = f"{name or default}-{_fingerprint(text)}"
    return name


def file_slug(text: str, limit: int = 48) -> str:
    """A short name for a file that a person can read in its own script: a topic in Chinese keeps
    its characters. What is written in Latin letters is the slug."""
    marks = unicodedata.normalize("NFKD", text)
    foreign = any(char.isalpha() and not char.isascii() for char in marks)
    whole = unicodedata.normalize("NFC", text).casefold()
    # Vowel signs are marks, and part of a word in many scripts.
    kept = (c if c.isalnum() or unicodedata.category(c) in ("Mn", "Mc") else " " for c in whole)
    words = "".join(kept).split()
    name = "-".join(words)[:limit].strip("-") if foreign else ""
    while len(name.encode("utf-8", "replace")) > MAX_FILE_BYTES:
        name = name[:-1]
    return name or slug(text, limit)


MAX_FILE_BYTES = 120
"""Of a file's name in UTF-8: a date, an ending and a number come with it."""


def _fingerprint(text: str) -> str:
    """Tells topics apart whose letters do not survive in a slug, such as Chinese ones."""
    value = 0x811C9DC5
    for byte in text.encode("utf-8", "surrogatepass"):
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return f"{value:08x}"


WINDOWS_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{dev}{n}" for dev in ("com", "lpt") for n in range(1, 10))]
)

SECRETS = pattern(
    r"""
      \b(?:sk|rk|pk)-[A-Za-z0-9_\-]{12,}              # OpenAI, Anthropic, OpenRouter, DeepSeek …
    | \b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}    # Stripe
    | \b(?:xai|pplx|tvly|nvapi|glpat)-[A-Za-z0-9_\-]{16,}
    | \b(?:hf|r8|npm)_[A-Za-z0-9]{20,}
    | \bAIza[A-Za-z0-9_\-]{20,}                       # Google
    | \bgsk_[A-Za-z0-9]{16,}
    | \brtk_[A-Za-z0-9_\-]{20,}                       # our own
    | \b(?:ghp|gho|ghs|ghu)_[A-Za-z0-9]{20,}
    | \bgithub_pat_[A-Za-z0-9_]{20,}
    | \bxox[abeprs]-[A-Za-z0-9\-]{10,}
    | \b[0-9]{8,10}:[A-Za-z0-9_\-]{35}\b             # Telegram bots
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | (?<![A-Za-z0-9_\-])eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}   # JWT
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----[\s\S]*?   # a clipped text may lack the end
      (?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    | (?<=://)[^\s/:@]*:[^\s/]+(?=@)                   # user:password in an address
    """,
    re.VERBOSE,
)
ASSIGNED_SECRET = pattern(
    r"""(?i)(
      \b(?:bearer|basic)\s+(?=[A-Za-z_\-.~+/]*[0-9])     # a digit tells a token from a word
    | (?:(?:api|access|private|secret)[_-]?key|passw(?:or)?d|secret|token)["']?\s*[=:]\s*["']?
    )[A-Za-z0-9_\-.~+/]{12,}=*""",
    re.VERBOSE,
)

REDACTED = "[redacted]"
_PARTS_OF_SECRETS = {
    "-": ("sk-", "rk-", "pk-", "xai-", "pplx-", "tvly-", "nvapi-", "glpat-", "-----BEGIN "),
    "_": (
        *("sk_", "rk_", "pk_", "hf_", "r8_", "npm_", "rtk_"),
        *("ghp_", "gho_", "ghs_", "ghu_", "github_pat_"),
    ),
    "": ("AIza", "xox", "AKIA", "ASIA", "eyJ"),
}
"""Each secret by its shape has one of these, or digits before a colon, or is part of an address;
by the sign that all of a group have."""
_KEY_BLOCK = "-----BEGIN "
_LINES_OF_ASSIGNMENT = 2
"""After a word before a secret: one with the sign of the assignment, one with the secret."""
_DIGITS_AND_COLON = pattern(r"[0-9]{8}:")
_WORDS_BEFORE_SECRETS = (
    *("bearer", "basic", "key", "passw", "secret", "token"),
    *("bas\u0131c", "basi\u0307c"),  # the other letters i that a pattern without case takes for one
)


def redact(text: str) -> str:
    """The text without anything that looks like a credential. Stored events keep their words;
    logs, reports, errors and notifications go through here."""
    # Most texts have nothing of the kind, and a look for a few letters is soon done.
    if _may_have_secret(text):
        text = SECRETS.sub(REDACTED, text) if _KEY_BLOCK in text else _by_line(text)
    if _has_any(text.casefold(), _WORDS_BEFORE_SECRETS):
        text = "".join(map(_without_assigned, _assigning(text)))
    return text


def _by_line(text: str) -> str:
    """Without secrets of a known shape, none of which but a block goes over the end of a line."""
    lines = text.split("\n")
    return "\n".join(SECRETS.sub(REDACTED, e) if _may_have_secret(e) else e for e in lines)


def _without_assigned(passage: str) -> str:
    if not _has_any(passage.casefold(), _WORDS_BEFORE_SECRETS):
        return passage
    return ASSIGNED_SECRET.sub(rf"\1{REDACTED}", passage)


def _assigning(text: str) -> Iterator[str]:
    """The text in passages, none of which parts a secret from the word before it: blanks between
    the two, and around the sign of an assignment, may be ends of lines."""
    passage: list[str] = []
    awaited = 0
    for line in text.splitlines(keepends=True) if "\n" in text else [text]:
        suspect = _has_any(line.casefold(), _WORDS_BEFORE_SECRETS)
        if passage and not awaited:
            yield "".join(passage)
            passage = []
        passage.append(line)
        if suspect:
            awaited = _LINES_OF_ASSIGNMENT
        elif awaited and line.strip():
            awaited -= 1
    yield "".join(passage)


def _may_have_secret(text: str) -> bool:
    for sign, parts in _PARTS_OF_SECRETS.items():
        if sign in text and _has_any(text, parts):
            return True
    if ":" not in text:
        return False
    return ("://" in text and "@" in text) or _DIGITS_AND_COLON.search(text) is not None


def _has_any(text: str, parts: tuple[str, ...]) -> bool:
    for part in parts:  # noqa: SIM110 - every text that leaves comes here, and `any` takes twice
        if part in text:
            return True
    return False


def same_words(one: str, two: str) -> bool:
    """Whether two texts say the same to the letter: only case, blanks and a full stop may differ.
    A sign, a unit or a symbol is part of what is said."""
    return worded(one) == worded(two)


def worded(text: str) -> str:
    """What a text says to the letter, but for case, blanks and its full stop."""
    return " ".join(text.split()).casefold().rstrip(".。!！ ")


def counted(count: int, noun: str) -> str:
    """So many of something: “1 turn”, “3 turns”, “no turns”."""
    return f"1 {noun}" if count == 1 else f"{f'{count:,}' if count else 'no'} {noun}s"


def all_of(count: int) -> str:
    """The beginning of a sentence on all of them: “Both”, “All 3”."""
    return "Both" if count == 2 else f"All {count}"


def listed(names: Sequence[str]) -> str:
    """Names as one says them: “Ann, Bob and Cid”."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
