"""Contradiction: whether an answer plainly recommends an option that lost, refuses the one that
won, or claims an agreement that was not counted.

It decides nothing: what it finds is a flag, and a reason to have the answer written once more. So
it is silent wherever the words allow another reading.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .pattern import pattern
from .text import clip, sentences, without_headings
from .values import Finding
from .wording import NEGATIONS, Wording, vocabulary, worded

_OPENING = 2
"""Sentences in which an answer says what it is."""
_MOSTLY = 0.6
"""Of the words of an option, which make its name."""
_ALIKE = 5
"""Letters at the beginning by which two words may be one: Postgres and PostgreSQL."""
_SHORTEST = 4
"""Letters of a word that may be the beginning of another form of it: rent and renting."""

Answer = Literal["yes", "no"]
_FIRM = r"(?:absolutely|certainly|definitely|clearly|a (?:clear|firm|resounding|definite)"
_FIRM += r"|ein (?:klares|deutliches)|un (?:claro|rotundo)|eindeutig|definitiv|claramente)\s+"
_BARE = pattern(
    r"[\W_]*(?:(?P<yes>(?:" + _FIRM + r")?(?:yes|ja|sí|oui)|auf jeden fall|por supuesto"
    r"|是的?|对|可以|应该|應該)"
    r"|(?P<no>(?:" + _FIRM + r")?(?:no|nein|non)|nope|no way|not at all|by no means|under no"
    r" circumstances|(?:absolutely|certainly|definitely|clearly|of course) not"
    r"|auf (?:gar )?keinen fall|keinesfalls|keineswegs|(?:definitiv|sicher) nicht"
    r"|de ninguna manera|en absoluto|de ningún modo|claro que no"
    r"|不是?|不行|不应该|不應該|不可以|绝对不行?|绝不|当然不|否))"
    r"(?=[\W_]*$|[*_]*\s*[,.:;!—–，。：；！-])",
    re.IGNORECASE,
)
_STATED = pattern(
    r"\b(?:answer|verdict|antwort|urteil|respuesta|veredicto)\b[*_]*\s*(?::|is|lautet|ist|es)"
    r"\s*[:*_“\"]*\s*(?:" + _FIRM + r")?(?:(?P<yes>yes|ja|sí)|(?P<no>no|nein))\b(?!\s+\w)"
    r"|答案是(?:(?P<yes_zh>肯定)|(?P<no_zh>否定))",
    re.IGNORECASE,
)
_BOTH = pattern(r"\b(?:yes|ja|sí|no|nein)\b|是的|不是", re.IGNORECASE)
_YES = frozenset(("yes", "ja", "sí", "是的"))
_CONTRAST = pattern(
    r"\b(?:rather than|instead of|over|than|not|statt|anstatt|anstelle von|als"
    r"|en lugar de|en vez de|antes que)\b|而不是|而非",
    re.IGNORECASE,
)
"""What follows, up to the end of its clause, is what the answer does not recommend."""
_CLAUSE = pattern(
    r"[.,;:!?—–。，；：！？\n]+|\s-\s|\b(?:but|and then|sondern|aber|sino|pero)\b|而是|但",
    re.IGNORECASE,
)
CONDITION = pattern(
    r"\?|？|\b(?:if|unless|when|whether|while|although|though|whereas|despite|wenn|falls|ob|obwohl"
    r"|während|trotz|si|cuando|aunque|mientras)\b|如果|若|虽然|尽管|是否",
    re.IGNORECASE,
)
"""What makes a sentence say something else than what is so."""
_AGAINST = NEGATIONS | vocabulary(
    "reject rejects rejected avoid avoids avoided against worse weaker drop drops dropped abandon",
    "abandons lost loses lose losing fail fails failed refuse refuses refused oppose opposes",
    "opposed less unlike away leave leaves leaving left stop stops instead however contrary wrong",
    "risky tempting attractive popular minority dissent dissents some few only seat seats voter",
    "voters one two three four five six later eventually other others alternative considered",
    "discussed debated compared versus vs between either or both from replace replaces replacing",
    "ablehnen abgelehnt lehnt gegen vermeiden schlechter verlor verliert minderheit einige nur",
    "oder zwischen beide später weg aufgeben ersetzen",
    "rechaza rechazar evitar contra peor perdió pierde minoría algunos solo o u entre ambos dejar",
    "reemplazar",
)
"""Words beside which naming an option is not recommending it."""
_LEAD = vocabulary(
    "the a an we you they it our this answer decision verdict recommendation choice panel",
    "table team town city company council group majority is to be should must will ought would use",
    "choose chooses adopt adopts pick picks select take recommend recommends go with for prefer",
    "prefers vote votes decides decided on clearly therefore so then yes no build invest",
    "experts all everyone everybody favour favours favor favors agree agreed i still nevertheless",
    "nonetheless simply just please ich dennoch trotzdem yo aun así",
    "wir man sollten sollte soll müssen muss empfehlen empfiehlt die der das lautet ist antwort",
    "entscheidung nehmen wählen klar also",
    "conviene debemos debe deberíamos hay que usar elegir adoptar recomendamos recomienda la el se",
    "respuesta decisión es",
    "我 们 们 应 该 当 建 议 选 择 推 荐 采 用 使 用 要 答 案 是 结 论",
)
"""Words that may stand before what an answer recommends, and say that it does."""
_FOLLOW = vocabulary(
    "for in on at by with now this next because since until from and during across as it",
    "für im mit jetzt dieses weil ab bis und verwenden nehmen wählen einsetzen",
    "para en con por ahora este porque y desde",
    "wins won prevails gewinnt gana",
)
"""Words that may follow it: any other may begin a judgement on it."""
_PRAISE = pattern(
    r"\s*(?:is|ist|es) (?:the|die|der|das|la|el) (?:right|best|clear|better|richtige|beste|mejor)\b"
    r"|\s*should be (?:used|chosen|adopted|taken|built)\b|\s*it is\s*$|\s*comes out ahead\b"
    r"|\s*is the (?:answer|choice)\s*$",
    re.IGNORECASE,
)
_DOUBLE = vocabulary(
    "only hesitate delay forget fail wait reason doubt just merely zögern nur bloß warten",
    "solo dudar",
)
"""Words that undo a negation: do not hesitate to use it, not only this."""
_REFUSALS = vocabulary(
    "avoid against reject rejects rejected oppose opposes opposed lost loses",
    "gegen vermeiden abgelehnt ablehnen verliert contra evitar rechaza rechazar",
)
"""Words that refuse what they stand beside, as a negation does."""
_BESIDE = vocabulary(
    "shall can here was were been being at us them not used chosen adopted taken recommended right",
    "best option way done sollen wird werden worden war hier richtige beste wahl nuestra opción",
    "mejor 被 吗",
)
"""Words that may stand in a plain refusal beside what it refuses."""
_EITHER = vocabulary("or oder o u")
_LABELS = vocabulary(
    "the answer decision verdict conclusion recommendation antwort respuesta fazit"
)
_REFUSED_IT = pattern(
    r"[\W_]*(?:we|you|they|the (?:table|team|company|town|city))\s+(?:should|must|shall)"
    r"(?: not|n['’]t)(?:\s+do (?:it|so|this|that))?(?=\s*(?:[.,:;!—–]|$))"
    r"|[\W_]*wir (?:sollten|sollen|dürfen) (?:das |es )nicht(?: tun| machen)?(?=\s*(?:[.,:;!—–]|$))"
    r"|[\W_]*no (?:deberíamos|debemos)(?: hacerlo)?(?=\s*(?:[.,:;!—–]|$))",
    re.IGNORECASE,
)
_BEFORE = pattern(
    r"[\W_]*(?:(?:after|having) [^,.;]{3,60}|on balance|in short|overall|all in all|in sum|kurz"
    r"|insgesamt|nach [^,.;]{3,60} abwägung|en resumen|en conjunto)[,:]\s*",
    re.IGNORECASE,
)
"""What an answer may begin with before it says what it is."""
_ARTICLES = vocabulary("the a an our my this der die das den unser unsere el la los las nuestro")
_EMPTY = vocabulary(
    "the a an to of in on for with and or we our it is be should do does will by at as this that",
    "must der die das ein eine einen zu im in auf für mit und wir soll sollte sollten es ist",
    "el la los las un una de en por para con y se es debe debemos al del lo 的 了 我 们 在 和",
)


@dataclass(frozen=True, slots=True)
class _Clause:
    wording: Wording
    against: bool
    """Whether something in it may speak against what it names."""
    contrasted: bool
    """Whether it is what the answer sets itself against: “rather than this”."""

    @property
    def says_something(self) -> bool:
        """Whether it is more than a refusal or the beginning of one, such as “Do not”."""
        return not self.against and not frozenset(self.wording.keys) <= _LEAD | _EMPTY


def contradiction(
    answer: str, delivered: str, others: Sequence[str], question: str = ""
) -> Finding | None:
    """What is wrong if the answer's opening plainly recommends another option than the delivered
    one, or plainly refuses that one. `question` tells what a yes or a no is about."""
    opening = _opening(answer)
    if not opening or not worded(delivered).keys:
        return None
    for other in others:
        found = (
            _by_answer(opening, delivered, other)
            or _by_negation(opening, delivered, other)
            or _by_question(opening, delivered, other, question)
        )
        if found:
            return _finding(delivered, other, opening[0])
    if any(polarity(each) for each in (delivered, *others)):
        return None
    lost = _by_name(opening, delivered, others, question)
    if lost is None and not _refuses_by_name(opening, delivered, others):
        return None
    return _finding(delivered, lost, opening[0])


def speaks_for(answer: str, delivered: str, others: Sequence[str]) -> bool:
    """Whether the opening of an answer speaks for the delivered option in words of its own: with
    its yes or no, or with a word that no other option has, in a clause that says nothing against
    it. An option without such a word cannot be told from the others."""
    opening = _opening(answer)
    if not opening:
        return False
    decided = polarity(delivered)
    if decided is not None:
        said = next(
            (m for each in opening if (m := _BARE.match(each) or _STATED.search(each))), None
        )
        if said is not None:
            return ("yes" if _is_yes(said) else "no") == decided
        words = {match[0].casefold() for each in opening for match in _BOTH.finditer(each)}
        return bool(words) and all((word in _YES) is (decided == "yes") for word in words)
    contents = [_content(worded(other)) for other in others]
    ours = _content(worded(delivered))
    own = ours.difference(*contents)
    clauses = (each for said in opening for each in _clauses(said, ours.union(*contents)))
    return not own or any(
        _mentions(each, own) and not each.contrasted and not _refused(each.wording)
        for each in clauses
    )


def _is_yes(said: re.Match[str]) -> bool:
    named = said.groupdict()
    return bool(named.get("yes") or named.get("yes_zh"))


def _opening(answer: str) -> list[str]:
    """The sentences in which an answer says what it is; what it quotes is somebody else's."""
    lines = without_marks(answer).splitlines()
    own = "\n".join(line for line in lines if not line.lstrip().startswith(">"))
    said = [each for each in sentences(own) if worded(each).keys][:_OPENING]
    return [_BEFORE.sub("", said[0], count=1) or said[0], *said[1:]] if said else []


def _finding(delivered: str, lost: str | None, opening: str) -> Finding:
    won = clip(delivered, 80)
    message = (
        f"The answer reads like “{clip(lost, 80)}”, but what was decided is “{won}”."
        if lost is not None
        else f"The answer reads like a refusal of “{won}”, which is what was decided."
    )
    return Finding(code="contradiction", message=message, excerpt=clip(opening, 160))


def without_marks(text: str) -> str:
    """The beginning of a text without its headings and emphasis."""
    return re.sub(r"[*_`]", "", without_headings(text[:20_000]))


def polarity(option: str) -> Answer | None:
    """Whether an option is a yes or a no: by its first word, if that stands for itself."""
    match = _BARE.match(option)
    if match is None:
        return None
    return "yes" if match["yes"] else "no"


def _by_answer(opening: Sequence[str], delivered: str, other: str) -> bool:
    """Whether a yes was decided and the answer begins with a no, or the other way round."""
    ours, theirs = polarity(delivered), polarity(other)
    if ours is None or theirs is None or ours == theirs:
        return False
    said = _BARE.match(opening[0]) or _STATED.search(opening[0])
    if said is None:
        return False
    yes = _is_yes(said)
    rest = opening[0][: said.start()] + opening[0][said.end() :]
    turned = {"no", "nein", "不是"} if yes else _YES
    again = {match[0].casefold() for each in (rest, *opening[1:]) for match in _BOTH.finditer(each)}
    return yes != (ours == "yes") and not again & turned


def _by_negation(opening: Sequence[str], delivered: str, other: str) -> bool:
    """Whether the options are one sentence with and without a negation, and the answer is the
    other one."""
    if polarity(delivered) or polarity(other):
        return False
    ours, theirs = worded(delivered), worded(other)
    negated = _negations(ours)
    if _content(ours) != _content(theirs) or {negated, _negations(theirs)} != {0, 1}:
        return False
    first = opening[0]
    said = worded(first)
    if not _content(ours) <= frozenset(said.keys) or CONDITION.search(first):
        return False
    count = _negations(said)
    if negated:
        return count == 0 and not any(key in _AGAINST for key in said.keys)
    return count == 1 and _governs(said, _content(ours))


def _by_question(opening: Sequence[str], delivered: str, other: str, question: str) -> bool:
    """Whether a yes was decided and the answer refuses what the question asks, or a no was and it
    recommends that. A question with a negation in it has no plain yes."""
    ours, theirs = polarity(delivered), polarity(other)
    if ours is None or theirs is None or ours == theirs or _BARE.match(opening[0]):
        return False
    if any(_BOTH.search(each) for each in opening) or CONDITION.search(opening[0]):
        return False
    if ours == "yes" and _REFUSED_IT.match(opening[0]):
        return True
    asked = worded(question)
    content = _content(asked) - _LEAD - _BESIDE
    if not content or _negations(asked):
        return False
    first = _first_clause(opening)
    if first is None:
        return False
    if ours == "yes":
        # Whoever is not to move is not to move anywhere.
        spoken = frozenset(w for w in content if any(_alike(key, w) for key in first.keys))
        return bool(spoken) and _refuses(first, spoken)
    return _plain(first, content) and not _refused(first)


def _refuses_by_name(opening: Sequence[str], delivered: str, others: Sequence[str]) -> bool:
    """Whether the answer refuses the delivered option by its name and never speaks for it."""
    wording = worded(delivered)
    content = _content(wording)
    own = content - frozenset().union(*(_content(worded(other)) for other in others))
    first = _first_clause(opening)
    if not own or first is None or _negations(wording) or CONDITION.search(opening[0]):
        return False
    if any(key in _REFUSALS for key in wording.keys):
        return False
    later = [opening[0].partition(first.text)[2], *opening[1:]]
    clauses = [clause for each in later for clause in _clauses(each, content)]
    if any(_mentions(clause, own) and not clause.against for clause in clauses):
        return False
    return _refuses(first, content)


def _first_clause(opening: Sequence[str]) -> Wording | None:
    found = (worded(piece) for piece in _CLAUSE.split(opening[0]))
    return next((each for each in found if not frozenset(each.keys) <= _LABELS), None)


def _refuses(clause: Wording, content: frozenset[str]) -> bool:
    """Whether a clause is what the words name with one refusal, and nothing else: anything more
    could say when, how or according to whom."""
    return _refused(clause) == 1 and _plain(clause, content)


def _refused(clause: Wording) -> int:
    return _negations(clause) + sum(key in _REFUSALS for key in clause.keys)


def _plain(clause: Wording, content: frozenset[str]) -> bool:
    known = _LEAD | _EMPTY | _BESIDE | _REFUSALS
    return (
        all(any(_alike(key, word) for key in clause.keys) for word in content)
        and not any(key in _EITHER for key in clause.keys)
        and all(
            key in known or clause.negates(index) or any(_alike(key, word) for word in content)
            for index, key in enumerate(clause.keys)
        )
    )


def _alike(key: str, word: str) -> bool:
    return key == word or (len(word) >= _ALIKE and key[:_ALIKE] == word[:_ALIKE])


def _negations(wording: Wording) -> int:
    return sum(map(wording.negates, range(len(wording.keys))))


def _governs(wording: Wording, content: frozenset[str]) -> bool:
    """Whether the one negation stands right before what the option is about."""
    at = next(i for i in range(len(wording.keys)) if wording.negates(i))
    following = wording.keys[at + 1 : at + 4]
    return any(key in content for key in following) and not any(
        key in _DOUBLE for key in wording.keys
    )


def _content(wording: Wording) -> frozenset[str]:
    return frozenset(
        key
        for index, key in enumerate(wording.keys)
        if key not in _EMPTY and not wording.negates(index)
    )


def _by_name(
    opening: Sequence[str], delivered: str, others: Sequence[str], question: str
) -> str | None:
    """The losing option that the opening recommends by name without naming the delivered one,
    except to refuse it."""
    ours = _content(worded(delivered))
    contents = {other: _content(worded(other)) for other in others}
    own = ours - frozenset().union(*contents.values())
    if not own or any(CONDITION.search(each) for each in opening):
        return None
    every = frozenset().union(ours, *contents.values())
    asked = _content(worded(question)) | _ARTICLES
    clauses = [clause for each in opening for clause in _clauses(each, every)]
    if any(_mentions(clause, own) and not clause.against for clause in clauses):
        return None
    for other, content in contents.items():
        rest = ours.union(*(words for name, words in contents.items() if name != other))
        first = next((clause for clause in clauses if clause.says_something), None)
        if first and content - rest and _recommends(first, content, content - rest, asked):
            return other
    return None


def _clauses(sentence: str, named: frozenset[str]) -> list[_Clause]:
    """The clauses of a sentence. A word of an option says nothing against it."""
    found: list[_Clause] = []
    at = 0
    for end in [*(match.span() for match in _CLAUSE.finditer(sentence)), (len(sentence),) * 2]:
        piece = sentence[at : end[0]]
        parts = [*_CONTRAST.finditer(piece)]
        cut = parts[0].start() if parts else len(piece)
        for text, refused in ((piece[:cut], False), (piece[cut:], True)):
            wording = worded(text)
            if wording.keys:
                against = refused or any(key in _AGAINST - named for key in wording.keys)
                against = against or _negations(wording) > 0
                found.append(_Clause(wording, against, refused))
        at = end[1]
    return found


def _mentions(clause: _Clause, words: frozenset[str]) -> bool:
    """Whether a clause has one of the words, or one that begins like it."""
    return any(
        _alike(key, word) or (len(word) >= _SHORTEST and key.startswith(word))
        for key in clause.wording.keys
        for word in words
    )


def _recommends(
    clause: _Clause, content: frozenset[str], special: frozenset[str], asked: frozenset[str]
) -> bool:
    """Whether a clause is the option, led in by nothing but words that recommend it, and followed
    by nothing that could be a judgement on it. What the question speaks of judges nothing: to buy
    the office is to buy."""
    wording = clause.wording
    named = [index for index, key in enumerate(wording.keys) if key in content]
    if not special <= frozenset(wording.keys) or len(named) < _MOSTLY * len(content):
        return False
    first, last = named[0], named[-1]
    if any(key not in _LEAD for key in wording.keys[:first]):
        return False
    after = next((key for key in wording.keys[last + 1 :] if key not in asked - _FOLLOW), "")
    return not after or after in _FOLLOW or bool(_PRAISE.match(wording.text[wording.ends[last] :]))


# --- agreement that was not counted ------------------------------------------------------------

_ALL = (
    r"(?:all|every|each|everyone|everybody|both|alle|jeder|beide|sämtliche|todos|todas|ambos|cada)"
)
_UNANIMOUS = pattern(
    rf"\bunanim\w*|\beinstimmig\w*|\beinhellig\w*|\bunánime\w*|\bunanimidad\b"
    rf"|\b{_ALL}\b(?:\W+\w+){{0,4}}?\W+(?:agree[sd]?|concur\w*|said so|say so|einig|zustimmen"
    rf"|stimmen zu|übereinstimmen|de acuerdo|coinciden|concuerdan)\b"
    r"|\b(?:nobody|no one|none(?: of \w+)?) (?:dissent\w*|disagree\w*|object\w*|oppose\w*)"
    r"|\b(?:no|without(?: any)?) (?:dissent|disagreement|objections?)\b"
    r"|\bniemand (?:widerspricht|ist dagegen|war dagegen)|\bohne (?:gegenstimmen?|widerspruch)\b"
    r"|\bnadie (?:disiente|discrepa|se opone)|\bsin (?:disenso|disidencia|oposición)\b"
    r"|一致(?:同意|认为|赞成|通过|决定|选择|支持)|(?:所有|全部|全体)[^，。；]{0,8}(?:同意|赞成|支持)"
    r"|(?:没有人|无人)(?:反对|异议)",
    re.IGNORECASE,
)
_CONSENSUS = pattern(
    r"\bconsensus\b|\bkonsens\b|\bconsenso\b|共识"
    r"|\b(?:table|panel|council|group|experts) (?:has |have )?(?:chose|chosen|decided on|settled on"
    r"|agreed on|agrees? on)\b(?!\s+(?:none|nothing|neither|no (?:answer|option|position|side))\b)",
    re.IGNORECASE,
)
_SHORT_OF = vocabulary(
    "lack lacks lacking short far fail fails failed partial near almost rough instead rather",
    "missing before until toward towards fehlt fehlender fast beinahe statt falta casi lejos",
    "缺 尚 难",
)
_COMPLEMENT = pattern(
    r"^\s*:|^\s*(?:upon|on|about|that|with|over|in|to|points?|dass|darüber|darin|über|in|en|sobre|que|认为)\b"
    r"|^\s*(?:[，,:：]?\s*(?:that|dass|que))\b",
    re.IGNORECASE,
)
_ABOUT = pattern(
    r"\b(?:on|about|that|over|regarding|concerning|as to|only (?:in|for)|dass|darüber|über"
    r"|hinsichtlich|bezüglich|sobre|que|en cuanto a)\b|认为",
    re.IGNORECASE,
)
"""What leads on to what an agreement is about, wherever it stands after it."""
_THE_VOTE = vocabulary(
    "question answer verdict decision recommendation choice vote votes result outcome conclusion",
    "option winner frage antwort entscheidung empfehlung ergebnis abstimmung pregunta",
    "respuesta decisión recomendación 问 答 决",
)
_IT = vocabulary("it this es das esto ello")
_AT_FIRST = pattern(
    r"\b(?:at first|initially|originally|at the (?:start|outset|beginning)|to begin with"
    r"|zunächst|anfangs|zuerst|ursprünglich|al principio|inicialmente)\b|最初|起初|一开始",
    re.IGNORECASE,
)
_RECOMMENDS = vocabulary(
    "should must best right answer choice use choose adopt sollte sollten beste richtige nehmen",
    "debe debemos mejor usar elegir 应 选 用",
)


def agreement_claimed(
    text: str, options: Sequence[str], question: str = "", *, loosely: bool = True
) -> str:
    """The sentence in which a text claims that all hold one answer; empty if none does. That all
    share a point is no such claim. `loosely`: a consensus or a choice of the table counts too."""
    told = (*options, question) if any(map(polarity, options)) else options
    named = frozenset().union(*(_content(worded(each)) for each in told))
    for sentence in sentences(without_marks(text)):
        if CONDITION.search(sentence) or _AT_FIRST.search(sentence):
            continue
        if any(_claims(piece, named, loosely=loosely) for piece in _pieces(sentence)):
            return clip(sentence, 160)
    return ""


def _pieces(sentence: str) -> list[str]:
    return [each for each in re.split(r"[.;!。；！\n]+|\b(?:but|aber|pero)\b|但", sentence) if each]


def _claims(piece: str, named: frozenset[str], *, loosely: bool) -> bool:
    for claimed in (_UNANIMOUS, _CONSENSUS) if loosely else (_UNANIMOUS,):
        for match in claimed.finditer(piece):
            before = worded(piece[: match.start()])
            if _negations(before) or any(key in _SHORT_OF for key in before.keys):
                continue
            if _negations(worded(match[0])) and claimed is _CONSENSUS:
                continue
            rest = piece[match.end() :]
            if match[0].casefold().startswith(_WORDS_FOR_ALL):
                if _of_something_else(rest, named):
                    continue
                return True
            if not _COMPLEMENT.match(rest):
                return True
            after = worded(rest)
            if not _negations(after) and any(
                _alike(key, word) for key in after.keys for word in named
            ):
                that = re.match(r"\W*(?:that|dass|que|认为)\b", rest, re.IGNORECASE)
                if not that or any(key in _RECOMMENDS for key in after.keys):
                    return True
    return False


_WORDS_FOR_ALL = ("unanim", "einstimmig", "einhellig", "unánim")


def _of_something_else(rest: str, named: frozenset[str]) -> bool:
    """Whether an agreement of all goes on with what it is about, and that is not the vote."""
    about = _ABOUT.search(rest)
    if about is None or any(
        _alike(k, w) for k in worded(rest[: about.start()]).keys for w in named
    ):
        return False
    keys = worded(rest[about.end() :]).keys
    if not keys or any(key in _THE_VOTE for key in keys):
        return False
    if any(_alike(key, word) for key in keys for word in named):
        return False
    # “That it should be done” is what the table was asked.
    recommended = len(keys) == 1 or any(key in _RECOMMENDS for key in keys)
    return not (recommended and any(key in _IT for key in keys))


# --- which option is meant ---------------------------------------------------------------------


def named_in(text: str, options: Mapping[str, str]) -> frozenset[str]:
    """The options that a text speaks for by name: with most of the words that no other option has,
    in a clause that says nothing against it and under no condition. A plain yes or no has no
    name."""
    contents = {own: _content(worded(words)) for own, words in options.items()}
    if any(map(polarity, options.values())):
        return frozenset()
    every = frozenset().union(*contents.values())
    clauses = [
        clause.wording
        for sentence in sentences(without_marks(text))
        if not CONDITION.search(sentence)
        for clause in _clauses(sentence, every)
        if not clause.against
    ]
    found = set()
    for own, content in contents.items():
        special = content.difference(*(words for each, words in contents.items() if each != own))
        for clause in clauses if special else ():
            named = sum(any(_alike(key, word) for key in clause.keys) for word in special)
            if named >= _MOSTLY * len(special):
                found.add(own)
    return frozenset(found)
