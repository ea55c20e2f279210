"""Avowals: what a speech says in plain words beside its declaration, where the two are at odds.

Nothing is decided by it. The declaration counts, the speech is flagged, and its seat is asked once
whether it meant what it declared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .contracts import parse_sections
from .contradiction import contradiction, named_in
from .declaration import Decision, Declaration
from .declaration_form import Form, seems_refused
from .pattern import pattern
from .text import sentences
from .wording import vocabulary, worded

DIFFERS = "[words and declaration differ]"
REFUSES = "[refusal beside a declaration]"
"""On a speech whose words decline to answer, and which declares all the same."""

_POSITIONS = ("Answer", "Updated Position", "Position", "Findings", "Analysis", "Perspective")
"""The sections in which a speech says what it stands for."""
_ADVERB = r"(?:still|now|again|therefore|clearly|also|would|will|must|hereby|firmly|only|strongly)"
_VOTES = pattern(
    rf"\bI(?:['’](?:d|ll|m))?(?: {_ADVERB}){{0,3}} (?:(?:opt|go|am|stand) (?:for|with|to"
    r"|in favou?r of)|vote(?: for| to)?|choose|pick|take|back|support|favou?r|recommend)\b"
    r"|\bI['’]m (?:for|in favou?r of)\b"
    r"|\bmy (?:vote|choice|pick)(?: still)? (?:is|stays with|goes to|remains)(?: for)?\b"
    r"|\bich (?:\w+ )?(?:(?:stimme|bin|votiere)(?: (?:weiterhin|klar|jetzt))? (?:für|mit)"
    r"|wähle|nehme|empfehle)\b|\bmeine (?:stimme|wahl) (?:ist|gilt|geht an|bleibt)\b"
    r"|\b(?:yo )?(?:voto|opto|elijo|escojo|apoyo|recomiendo|me quedo)(?: (?:por|con))?\b"
    r"|我(?:仍|还是|会|坚决)?(?:投票给|投给|选择|选|支持|推荐)",
    re.IGNORECASE,
)
"""What stands before an option that somebody says it votes for."""
_OPPOSES = pattern(
    rf"\bI(?: {_ADVERB}){{0,3}} (?:oppose|reject|vote against|am against)\b"
    r"|^\W*(?:do not|don['’]t|never|avoid)(?: (?:take|use|choose|adopt|pick|go with|go for))?\b"
    r"|\bich (?:\w+ )?(?:bin gegen|stimme gegen|lehne)\b|^\W*(?:auf keinen fall|niemals)\b"
    r"|\b(?:me opongo a|rechazo|voto (?:en )?contra(?: de)?)\b|^\W*(?:no|nunca) (?:usen?|tomen?)\b"
    r"|我(?:仍|坚决)?(?:反对|不支持)|^\W*(?:不要|绝不|别)(?:用|选|采用)",
    re.IGNORECASE,
)
"""What stands before an option that somebody says it is against."""
_CONDITION = pattern(
    r"\?|？|\b(?:if|unless|whether|were|wenn|falls|würde|si)\b|如果|若|是否", re.IGNORECASE
)
_QUOTED = pattern(r"“[^”]*”|„[^“”]*[“”]|«[^»]*»|\"[^\"\n]*\"|「[^」]*」")
_CLAUSE = pattern(r"[.,;:!?—–。，；：！？\n(]|\s-\s")
_LEAD = vocabulary("the a an to option our den die das der el la los las 的")
"""Words that may stand before an option beside its own."""
_FOLLOW = vocabulary(
    "for in on at by with now this next because since until from and but over here as under not",
    "against than rather instead again too while whereas für im mit jetzt weil ab und aber gegen",
    "statt hier gestimmt",
    "para en con por ahora porque y pero contra aquí 因 而 但 在",
)
"""Words that may follow it: any other could make something else of it."""
_DECLINES = pattern(
    r"\b(?:can(?:no|['’])t|cannot|can not|unable|not able|won['’]t|will not|decline|refuse)\b"
    r"|\bnicht\b|\bno puedo\b|\bme niego\b|不能|无法|不便",
    re.IGNORECASE,
)


def odds(prose: str, declared: Declaration | None, form: Form) -> list[str]:
    """The flags of a speech whose words are at odds with what it declares."""
    if declared is None or declared.abstain is not None:
        return []
    flags = [REFUSES] if refuses(prose) else []
    at_odds = bool(form.decisions) and differs(prose, declared, form.decisions[0])
    return [*flags, *([DIFFERS] if at_odds else [])]


def refuses(prose: str) -> bool:
    """Whether the words under all headings come to a refusal."""
    lines = (line for line in prose.splitlines() if not line.lstrip().startswith("#"))
    words = "\n".join(lines).strip()
    return seems_refused(words) and any(map(_DECLINES.search, sentences(words)[:2]))


def differs(prose: str, declared: Declaration, decision: Decision) -> bool:
    """Whether the words, or the position that stands in the declaration itself, plainly say another
    option than the vote."""
    vote = declared.vote(decision.id)
    chosen = decision.option(vote.choice) if vote else None
    if chosen is None:
        return False
    options = {each.id: each.text for each in decision.options}
    others = [text for own, text in options.items() if own != chosen.id]
    bodies = parse_sections(prose, _POSITIONS).values() or (prose,)
    if any(contradiction(each, chosen.text, others) for each in bodies):
        return True
    position = declared.position
    if contradiction(position, chosen.text, others, decision.question):
        return True
    named = named_in(position, options)
    return (bool(named) and chosen.id not in named) or _says_another(prose, chosen.id, options)


def _says_another(prose: str, chosen: str, options: Mapping[str, str]) -> bool:
    """Whether somebody says in the first person that it votes for another option, or is against the
    one that it chose, and nowhere that it votes for that one."""
    lines = (line for line in prose.splitlines() if not line.lstrip().startswith(("#", ">")))
    own = re.sub(r"[*_`]", "", _QUOTED.sub(" ", "\n".join(lines)))
    said = [each for each in sentences(own) if not _CONDITION.search(each)]
    votes = {option for option in options if _follows(_VOTES, said, option, options)}
    against = _follows(_OPPOSES, said, chosen, options) or _answers_otherwise(said, chosen, options)
    return chosen not in votes and (bool(votes) or against)


def _answers_otherwise(said: Sequence[str], chosen: str, options: Mapping[str, str]) -> bool:
    """Whether somebody who chose a yes says “I vote no”, or the other way round."""
    others = [text for own, text in options.items() if own != chosen]
    rests = (s[match.end() :].lstrip() for s in said for match in _VOTES.finditer(s))
    return any(contradiction(rest, options[chosen], others) for rest in rests)


def _follows(
    verb: re.Pattern[str], said: Sequence[str], option: str, options: Mapping[str, str]
) -> bool:
    """Whether in one of these sentences nothing but this option follows such a verb."""
    rests = (sentence[match.end() :] for sentence in said for match in verb.finditer(sentence))
    return any(named_next(rest, option, options) for rest in rests)


def named_next(rest: str, option: str, options: Mapping[str, str]) -> bool:
    """Whether a text goes on with this option, and with nothing that makes something else of it."""
    words = frozenset(worded(options[option]).keys)
    keys = worded(_CLAUSE.split(rest.lstrip(), maxsplit=1)[0]).keys
    length = next((n for n, key in enumerate(keys) if key not in words | _LEAD), len(keys))
    if length < len(keys) and keys[length] not in _FOLLOW:
        return False
    return option in named_in(" ".join(keys[:length]), options)
