"""Digests: the short form in which a speech travels on, and how it is found in the speech."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...core.contracts import Contract, Violation, parse_sections
from ...core.events import SpeechGiven
from ...core.text import count_words, first_sentences

SELF_DIGEST = "SELF-DIGEST"
DERIVED = "[digest derived]"
POSITION, REASONING, RISKS = "Position", "Reasoning", "Risks and Unknowns"
CRITIQUE_OF_PEERS, UPDATED, SCORES = "Critique", "Updated Position", "AGREEMENT SCORES"
VOTE = "Vote"
ANSWER_SECTIONS = (POSITION, REASONING, RISKS, VOTE, SELF_DIGEST)
CRITIQUE_SECTIONS = (CRITIQUE_OF_PEERS, UPDATED, VOTE, SELF_DIGEST, SCORES)

DERIVED_SENTENCES, DERIVED_CHARACTERS = 5, 900
_LABEL = re.compile(r"^[\s>*_]*SELF[\s-]?DIGEST[*_\s]*[:：][*_]*", re.IGNORECASE | re.MULTILINE)
_MARKS = re.compile(r"^\s*#.*$|^\s*SCORES\s*:.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DigestContract(Contract):
    """A speech that must end in a digest. All its other sections are read where they stand, and
    missed by nobody."""

    flag: str = DERIVED

    def check(self, text: str) -> tuple[Violation, ...]:
        if self.parse(text).get(SELF_DIGEST):
            return ()
        return (Violation("digest", f"The section “## {SELF_DIGEST}” is missing or empty."),)

    def parse(self, text: str) -> dict[str, str]:
        found = parse_sections(text, self.sections)
        if not found.get(SELF_DIGEST) and (label := _LABEL.search(text)):
            # "SELF-DIGEST: …" without a heading; what follows up to a heading is the digest.
            rest = text[label.end() :]
            heading = re.search(r"^\s*#", rest, re.MULTILINE)
            body = rest[: heading.start()] if heading else rest
            if body.strip():
                found[SELF_DIGEST] = body.strip()
        return found


ANSWER_CONTRACT = DigestContract(sections=ANSWER_SECTIONS)
CRITIQUE_CONTRACT = DigestContract(sections=CRITIQUE_SECTIONS)


def digest(speech: SpeechGiven) -> str:
    """The speech's own digest; where it has none, the beginning of its position or of all of it;
    empty if nothing is left."""
    own = speech.sections.get(SELF_DIGEST, "")
    if count_words(own):
        return own
    parts = (speech.sections.get(name, "") for name in (UPDATED, POSITION))
    source = next((part for part in parts if count_words(part)), speech.text)
    derived = first_sentences(_MARKS.sub("", source), DERIVED_SENTENCES, DERIVED_CHARACTERS)
    return derived if count_words(derived) else ""
