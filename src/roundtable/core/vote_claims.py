"""What a verdict says of the vote itself: how many chose what, who did, and how sure the table is.

It decides nothing: what it finds is a flag, and a reason to have the verdict written once more. So
it is silent wherever the words allow another reading: another round, a condition, a part of the
table, a quotation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .avowal import named_next
from .confidence import Word
from .contradiction import CONDITION, polarity, without_marks
from .pattern import pattern
from .text import clip, sentences
from .values import Finding
from .vote_told import Tolerated, Voter, VoteTold
from .wording import vocabulary, worded

LONGEST_SENTENCE = 1_000
"""Characters. What is longer says nothing plainly, and would take long to read."""
MARGIN = 0.05
"""By which a stated confidence may leave the computed band: nobody rounds to the percent."""
_WORDS = {
    word: number
    for number, words in enumerate(
        (
            "zero null cero 零",
            "one eine einer ein un uno una 一",
            "two zwei dos 二 两",
            "three drei tres 三",
            "four vier cuatro 四",
            "five fünf cinco 五",
            "six sechs seis 六",
            "seven sieben siete 七",
            "eight acht ocho 八",
            "nine neun nueve 九",
            "ten zehn diez 十",
        )
    )
    for word in words.split()
}
_SPELLED = "|".join(word for word in _WORDS if word < "\u0100" or word == "fünf")
_N = rf"(?:\d{{1,2}}|{_SPELLED})"
_HAN = r"(?:\d{1,2}|[一二两三四五六七八九十])"
_PEOPLE = (
    r"(?:experts?|seats?|participants?|members?|specialists?|panel?lists?|voters?|voices?|agents?"
    r"|people|colleagues|votes?|experten|expertinnen|sitze|teilnehmer(?:innen)?|stimmen|expertos"
    r"|expertas|participantes|miembros|especialistas|votos?)"
)
_SEAT = r"(?:expert|seat|participant|member|specialist|panel?list|voter|agent|colleague)s?"
_ADVERB = (
    r"(?:(?:has|have|had|now|also|finally|clearly|then|still|explicitly|all|in the end|haben|hat"
    r"|jetzt|auch|schließlich|am ende|han|ha|ahora|también|finalmente|al final)\s+)*"
)
_VERB_TEXT = (
    r"(?<![\w-])(?:(?:vot(?:e|es|ed)|opt(?:s|ed)?|side[sd]?|stands?|stood|come|came|comes)"
    r"\s+(?:for|with|behind|down for|out for)|(?:is|are|was|were) for|vot(?:e|es|ed)"
    r"|chose|chosen?|chooses?|pick(?:s|ed)?|back(?:s|ed)?|favou?r(?:s|ed)?|support(?:s|ed)?"
    r"|prefer(?:s|red)?|select(?:s|ed)?|endorse[sd]?|said|says?|for"
    r"|(?:stimm|votier)(?:t|en|te|ten) für|(?:ist|sind|war|waren) für|wähl(?:t|en|te|ten)"
    r"|bevorzug(?:t|en|te|ten)|(?:entscheide[nt]|entschied(?:en)?) sich für|für"
    r"|vot(?:an?|ó|aron) (?:por|a favor de)|opt(?:an?|ó|aron) por|elig(?:e|en|ió|ieron)"
    r"|prefier(?:e|en)|prefiri(?:ó|eron)|apoy(?:an?|ó|aron))(?![\w-])"
)
_VERB = pattern(_VERB_TEXT, re.IGNORECASE)
_HAN_VERB = r"(?:选择了?|选了?|支持|投票给|投给|赞成)"
_VERB_OR_HAN = pattern(rf"{_VERB_TEXT}|{_HAN_VERB}", re.IGNORECASE)
_OF = pattern(
    rf"(?<![\w.,/–-])(?P<n>{_N})\s*(?:of|out of|von|de(?: los| las)?|/)\s*(?:the |all |den |our )?"
    rf"(?P<m>{_N})(?![\w.,/%–-]*\d)(?:\s+(?:of them|{_PEOPLE})(?!\w))?",
    re.IGNORECASE,
)
_ALL = pattern(
    rf"(?<!\w)(?:everyone|everybody|(?:every(?: single)?|each)(?: of the| one of the)? {_SEAT}"
    rf"|jeder|todos|todas|(?:all|both|alle|beide|ambos|las|los)"
    rf"(?:\s+(?:of|the|them|our|die|los|las))*(?:\s+(?P<n>{_N}))?(?:\s+{_PEOPLE})?)\s*$",
    re.IGNORECASE,
)
_SOME = pattern(rf"(?:^|[,;:(]|\band|\bund|\by)\s*(?P<n>{_N})(?:\s+{_PEOPLE})?\s*$", re.IGNORECASE)
_NOBODY = pattern(
    rf"(?:^|[,;:(—–])\s*(?:and |und |y )?(?:nobody|no one|none(?: of (?:them|the {_PEOPLE}))?"
    r"|niemand|keiner|nadie|ninguno)\s*$",
    re.IGNORECASE,
)
_VOTES_FOR = pattern(
    rf"(?<![\w.,/–-])(?P<n>{_N})\s+(?:votes?|stimmen|votos?)\s+(?:for|für|por|para|a favor de)\s",
    re.IGNORECASE,
)
_RECEIVED = pattern(
    rf"(?<!\w)(?:received|receives|got|gets|won|wins|erhielt|erhält|bekam|obtuvo|recibió)\s+"
    rf"(?:(?P<none>no|keine|ningún)|(?:all\s+)?(?P<n>{_N}))\s+(?:votes?|stimmen?|votos?)"
    r"(?=\s*(?:[.,;!)—–]|$|(?:and|but|while|und|aber|y|pero)\b))",
    re.IGNORECASE,
)
_TO = r"\s?(?:to|zu|a|against|gegen|contra|:|–|-|—)\s?"
_VOTES = r"(?:votes?|stimmen|votos?)"
_ALONE = r"(?<![\w.,:/–-])"
_SCORE = pattern(
    r"(?<!\w)(?:vot(?:e|ed|es)|ballot|split|carried|won|wins|decided|passed|prevail(?:s|ed)"
    r"|abstimmung|stimmen|gewinnt|votación|gana)(?!\w)[^.;:\d]{0,16}?"
    rf"{_ALONE}(?P<a>{_N}){_TO}(?P<b>{_N})(?![\w%.,:/–-]*\d)"
    r"(?=\s*(?:[^\w\s%€$]|$|(?:for|against|in|and|but|with|on|aus|für|gegen|und|a favor|en|y)\b))"
    rf"|{_ALONE}(?P<c>{_N}){_TO}(?P<d>{_N})[\s-](?:{_VOTES}|majority|ballot|mehrheit|mayoría)(?!\w)"
    rf"|{_ALONE}(?P<e>{_N})\s+{_VOTES}{_TO}(?P<f>{_N})(?!\w)",
    re.IGNORECASE,
)
_HAN_ALL = pattern(
    r"(?:全部|所有|全体)(?P<n>[一二两三四五六七八九十\d]{0,2})(?:位|名|个)?(?:专家|成员|人|席位)?"
    rf"(?:一致|全都|都|均)?{_HAN_VERB}"
)
_HAN_SOME = pattern(
    rf"(?P<n>{_HAN})(?:位|名|个|票)(?:专家|成员|人)?(?:一致|全都|都|均)?{_HAN_VERB}"
)
_HAN_SCORE = pattern(rf"(?:以|票数?|表决)\D{{0,4}}(?P<a>{_HAN})\s*(?:比|对|:|：)\s*(?P<b>{_HAN})")
_ANOTHER_TIME = pattern(
    r"\b(?:first|initial(?:ly)?|originally|opening|before|beforehand|earlier|rounds?|early|began"
    r"|begin|start(?:ed|ing)?|once|previously|would|could|might|may|until|until then|by then"
    r"|independently|alone|moved|zunächst|anfangs|zuerst|ursprünglich|vorher|davor|runden?|würden?"
    r"|könnten?|principio|inicialmente|antes|rondas?|habrían?|podrían?)\b|R\d\b|最初|起初|一开始|轮|之前|如果",
    re.IGNORECASE,
)
_FOLLOWS = pattern(
    r",\s*(?=(?:and )?(?:so|hence|therefore|thus|which is why|daher|deshalb|así que|por eso)\b)",
    re.IGNORECASE,
)
_HEDGED = pattern(
    r"\b(?:at least|at most|more than|fewer than|less than|up to|nearly|almost|about|roughly|only"
    r" after|other|another|remaining|rest of|except(?: for)?|but|besides|apart from|mindestens"
    r"|höchstens|fast|außer|al menos|casi|salvo|excepto|not|nicht|no)\W*$",
    re.IGNORECASE,
)
_QUOTED = pattern(r"“([^”]*)”|„([^“”]*)[“”]|«([^»]*)»|\"([^\"\n]*)\"|「([^」]*)」")
_CLAUSE = pattern(r"[.,;:!?—–。，；：！？\n()]|\s-\s")
_LABEL = pattern(
    r"(?:^[ \t>#*_\-•\d.)]*|(?<=[.!?])[ \t]+)(?P<label>agreement|consensus|votes?|unanimity"
    r"|dissent|confidence"
    r"|übereinstimmung|einigkeit|abstimmung|gegenstimmen|konfidenz"
    r"|zuversicht|acuerdo|consenso|votación|disenso|confianza|共识|一致意见|投票|异议|信心|置信度)"
    r"[*_]*[ \t]*(?:level)?[ \t]*[:：—–][*_ \t]*(?P<value>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_HEADED = pattern(
    r"^[ \t]*(?:#{1,6}[ \t]*[*_]*|[*_]{2})(?P<label>agreement|consensus|unanimity|votes?|dissent"
    r"|confidence|gegenstimmen|konfidenz|zuversicht|disenso|confianza|异议|信心)"
    r"[*_:：]*[ \t]*#*[ \t]*\n(?:[ \t]*\n)?[ \t*_]*(?P<value>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""A heading, and the line below it."""
_AGREEING = vocabulary(
    "agreement consensus vote votes unanimity übereinstimmung einigkeit abstimmung acuerdo",
    "consenso votación 共识 一致意见 投票",
)
_DISSENTING = vocabulary("dissent gegenstimmen disenso 异议")
_WHOLE = pattern(
    r"(?:unanim\w*|einstimmig\w*|einhellig\w*|unánime\w*|(?:full|complete|total)(?: agreement)?"
    r"|100\s*%|all|everyone|alle|todos|全体一致|一致)(?=\s*(?:[.,;!)]|$))",
    re.IGNORECASE,
)
_NONE = pattern(
    r"(?:none|nobody|no one|nothing|keine[rs]?|niemand|ningun[oa]|nadie|无|没有|無)"
    r"(?=\s*(?:[.;!)]|$))",
    re.IGNORECASE,
)
_PERCENT = r"(?P<p>\d{1,3})(?:\.\d+)?\s?(?:%|percent|per cent|prozent|por ciento)"
_SURE_LABEL = pattern(
    rf"\W*(?:{_PERCENT}|(?P<word>very high|high|medium|moderate|low|sehr hoch|hoch|mittel|niedrig"
    r"|gering|muy alta|alta|media|baja|高|中|低))(?=\s*(?:[.,;!()（—–]|$))",
    re.IGNORECASE,
)
_SURE = pattern(
    r"(?:^|[.;:,]\s*|\b(?:and|und|y)\s+)(?:we|the (?:table|panel|council|group|experts)|wir"
    r"|der rat|el (?:consejo|grupo))\s*(?:are|is|sind|ist|estamos|está)(?: \w+)?\s+"
    rf"(?:{_PERCENT.replace('<p>', '<q>')})\s+(?:confident|sure|certain|sicher|zuversichtlich"
    r"|segur[oa]s?)(?P<after>[^.;]{0,60})"
    r"|\b(?:(?:our|the (?:table|panel|council|group)['’]s) confidence(?: in (?:this|the)"
    r" (?:answer|verdict|decision|recommendation))?|confidence in (?:this|the)"
    r" (?:answer|verdict|decision|recommendation))\s+(?:is|stands at|is at)\s+"
    rf"(?:{_PERCENT.replace('<p>', '<r>')}|(?P<word>very high|high|medium|low)(?=\s*(?:[.,;!]|$)))",
    re.IGNORECASE,
)
_WITH_CONFIDENCE = pattern(
    r"(?:^|[.;:,]\s*)(?:we|the (?:table|panel|council|group|experts))\s+(?:recommends?|chooses?"
    rf"|chose|advise|advises)\s+(?P<what>[^.,;:]{{1,60}}?)\s+with (?:a )?{_PERCENT} confidence"
    r"(?=\s*(?:[.,;!]|$))",
    re.IGNORECASE,
)
_SURE_WORDS: Mapping[str, Word] = {
    **dict.fromkeys(("very high", "high", "sehr hoch", "hoch", "muy alta", "alta", "高"), "high"),
    **dict.fromkeys(("medium", "moderate", "mittel", "media", "中"), "medium"),
    **dict.fromkeys(("low", "niedrig", "gering", "baja", "低"), "low"),
}


def claims_against(text: str, told: VoteTold) -> list[Finding]:
    """What the words of a verdict say of the vote that the count denies."""
    found: list[Finding] = []
    for sentence in _sentences(text, told):
        found += _figures_wrong(sentence, told)
        found += _holders_wrong(sentence, told)
        found += _score_wrong(sentence, told)
        found += _sureness_wrong(sentence, told)
    found += _labels_wrong(text, told)
    found += _tables_wrong(text, told)
    return list(dict.fromkeys(found))


def _sentences(text: str, told: VoteTold) -> Iterator[str]:
    """The writer's own sentences on how it stands in the end. What somebody else said is no claim
    of the writer, but a quoted option is its name."""
    lines = (each for each in text.splitlines() if not each.lstrip().startswith(">"))
    names = {" ".join(worded(each).keys) for each in told.texts.values()}

    def bare(match: re.Match[str]) -> str:
        words = next(each for each in match.groups() if each is not None)
        known = " ".join(worded(words).keys) in names or _YES_NO.fullmatch(words.strip(" .,"))
        return words.rstrip(".,") if known else " … "

    own = _QUOTED.sub(bare, without_marks("\n".join(lines)))
    for sentence in sentences(own):
        if len(sentence) > LONGEST_SENTENCE:
            continue
        if CONDITION.search(sentence):
            continue
        # What would follow from a claim makes no condition of it.
        for part in _FOLLOWS.split(sentence):
            if _ANOTHER_TIME.search(part):
                break
            yield part


# --- figures -----------------------------------------------------------------------------------

_YES_NO = pattern(r"yes|no|ja|nein|sí|oui|non|是|否|赞成|反对", re.IGNORECASE)
_YES_NO_NEXT = pattern(
    r"\s*(?:(?:a|with a|for a?)\s+)?(?:(?P<yes>yes|ja|sí|oui|是|赞成)|(?P<no>no|nein|non|否|反对))"
    r"(?=\s*(?:[.,;:!—–)，。；]|$)"
    r"|\s+(?:and|but|while|to (?:it|this|that)|on this|und|aber|y|pero)\b)",
    re.IGNORECASE,
)
_AROUND = vocabulary(
    "the a answer verdict decision result vote question table is was with by at wins won chose for",
    "die das der antwort ergebnis abstimmung ist mit gewinnt la el respuesta es con por gana",
)
"""Words that may stand between an option and its figure, beside its own."""


def _option_next(rest: str, told: VoteTold) -> Tolerated | None:
    """The option with which a text goes on."""
    texts = told.texts
    if any(map(polarity, texts.values())):
        said = _YES_NO_NEXT.match(rest)
        wanted = ("yes" if said["yes"] else "no") if said else None
        alike = [each for each in told.options if polarity(each.text) == wanted]
        return alike[0] if said and len(alike) == 1 else None
    named = [each for each in told.options if named_next(rest, each.id, texts)]
    return named[0] if len(named) == 1 else None


def _option_before(text: str, told: VoteTold) -> Tolerated | None:
    """The option that is all that stands in the last clause of a text."""
    clauses = [each for each in _CLAUSE.split(text) if worded(each).keys]
    last = clauses[-1].strip() if clauses else ""
    if any(map(polarity, told.texts.values())):
        return _option_next(f"{last}.", told)
    known = frozenset(key for each in told.options for key in worded(each.text).keys)
    keys = [key for key in worded(last).keys if key in known or key not in _AROUND]
    if not keys or not known.issuperset(keys):
        return None
    return _option_next(f"{' '.join(keys)}.", told)


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _WORDS[word.casefold()]


def _figures_wrong(sentence: str, told: VoteTold) -> Iterator[Finding]:
    for verb in _VERB.finditer(sentence):
        before, option = sentence[: verb.start()], _option_next(sentence[verb.end() :], told)
        if option is None:
            continue
        subject = re.sub(rf"\s*{_ADVERB}$", "", before + " ", flags=re.IGNORECASE)
        yield from _subject_wrong(subject, option, told, sentence)
    for match in _OF.finditer(sentence):
        rest = sentence[match.end() :]
        ends = not re.match(r"\s*[\w“„«]", rest)
        option = _option_before(sentence[: match.start()], told) if ends else None
        if option is not None and not _HEDGED.search(sentence[: match.start()]):
            yield from _share_wrong(match, option, told, sentence)
    for match in _VOTES_FOR.finditer(sentence):
        option = _option_next(sentence[match.end() :], told)
        hedged = _HEDGED.search(sentence[: match.start()])
        if option is not None and not hedged and _number(match["n"]) not in option.figures:
            yield _wrong_figure(_number(match["n"]), option, told, sentence)
    for match in _RECEIVED.finditer(sentence):
        option = _option_before(sentence[: match.start()], told)
        number = 0 if match["none"] else _number(match["n"])
        # More votes than seats are those of somebody else.
        if option is not None and number <= told.seated and number not in option.figures:
            yield _wrong_figure(number, option, told, sentence)
    for pattern_ in (_HAN_ALL, _HAN_SOME):
        for match in pattern_.finditer(sentence):
            option = _option_next(sentence[match.end() :], told)
            if option is None or re.search(r"[不没未无除另其]\S{0,3}$", sentence[: match.start()]):
                continue
            number = _number(match["n"]) if match["n"] else told.seated
            if not match["n"] and _all_for(option, told):
                continue
            if number > max(option.figures):
                yield _wrong_figure(number, option, told, sentence)


def _subject_wrong(
    subject: str, option: Tolerated, told: VoteTold, sentence: str
) -> Iterator[Finding]:
    share = next((m for m in _OF.finditer(subject) if not subject[m.end() :].strip()), None)
    if share is not None:
        if not _HEDGED.search(subject[: share.start()]):
            yield from _share_wrong(share, option, told, sentence)
    elif everybody := _ALL.search(subject):
        before = subject[: everybody.start()]
        number = _number(everybody["n"]) if everybody["n"] else told.seated
        if _HEDGED.search(before) or (not everybody["n"] and _all_for(option, told)):
            return
        if everybody[0].split()[0].casefold() in ("both", "beide", "ambos"):
            number = 2
        elif everybody[0].split()[0].casefold() in ("las", "los") and not everybody["n"]:
            return
        # Fewer may be a part of the table that was named before.
        if number > max(option.figures) and number in (told.seated, told.voted):
            yield _wrong_figure(number, option, told, sentence)
    elif _NOBODY.search(subject):
        if min(option.figures) > 0:
            yield _wrong_figure(0, option, told, sentence)
    elif (some := _SOME.search(subject)) and _number(some["n"]) > 1:
        # One of them, or two, may be some of those who did.
        number = _number(some["n"])
        if max(option.figures) < number <= told.seated:
            yield _wrong_figure(number, option, told, sentence)


def _all_for(option: Tolerated, told: VoteTold) -> bool:
    """Whether all who voted may be said to be for it."""
    return max(option.figures) >= told.voted


def _share_wrong(
    share: re.Match[str], option: Tolerated, told: VoteTold, sentence: str
) -> Iterator[Finding]:
    number, whole = _number(share["n"]), _number(share["m"])
    if whole in (told.seated, told.voted) and number <= whole and number not in option.figures:
        yield _wrong_figure(number, option, told, sentence)


def _wrong_figure(number: int, option: Tolerated, told: VoteTold, sentence: str) -> Finding:
    name = clip(option.text.rstrip(" .。"), 80)
    message = f"The writer says that {number} chose “{name}”; counted: "
    message += f"{option.votes} of {told.seated}."
    return Finding(code="false_count", message=message, excerpt=clip(sentence, 160))


def _score_wrong(sentence: str, told: VoteTold) -> Iterator[Finding]:
    for each in (_SCORE, _HAN_SCORE):
        for match in each.finditer(sentence):
            one, two = (_number(each) for each in match.groups() if each)
            if not 0 < one + two <= told.seated or max(one, two) < 2:
                continue
            if {(one, two), (two, one)} & told.pairs:
                continue
            message = f"The writer says that the vote was {one} to {two}; counted: {told.reason}"
            yield Finding(code="false_count", message=message, excerpt=clip(sentence, 160))


# --- holders -----------------------------------------------------------------------------------

_BEFORE_NAMES = pattern(
    r"(?:^|[,;:.(—–])\s*(?:(?:and|but|while|whereas|that|because|since|where|so|then|both|the|also"
    r"|und|aber|dass|während|weil|y|pero|que|mientras)\s+)*$",
    re.IGNORECASE,
)


def _holders_wrong(sentence: str, told: VoteTold) -> Iterator[Finding]:
    """Seats that are said to have chosen what they never chose."""
    known = {each.name: each for each in told.voters if each.final}
    if not any(name in sentence for name in known):
        return
    name = "|".join(re.escape(each) for each in sorted(known, key=len, reverse=True))
    joint = r"(?:\s*,\s*(?:(?:and|und|y)\s+)?|\s*(?:&|、|和)\s*|\s+(?:and|und|y)\s+)(?:the\s+)?"
    listed = re.compile(rf"(?<!\w)(?:{name})(?:{joint}(?:{name}))*(?!\w)\s*$")
    for verb in _VERB_OR_HAN.finditer(sentence):
        subject = re.sub(rf"\s*{_ADVERB}$", "", sentence[: verb.start()] + " ", flags=re.IGNORECASE)
        names = listed.search(subject.rstrip("都均 "))
        if names is None or not _BEFORE_NAMES.search(subject[: names.start()]):
            continue
        option = _option_next(sentence[verb.end() :], told)
        if option is None:
            continue
        for who in re.findall(name, names[0]):
            if option.id not in known[who].held:
                yield _wrong_holder(known[who], option, sentence)


def _wrong_holder(voter: Voter, option: Tolerated, sentence: str) -> Finding:
    message = f"The writer says that {voter.name} chose "
    message += f"“{clip(option.text.rstrip(' .。'), 80)}”; it voted for "
    message += f"“{clip(voter.final.rstrip(' .。'), 80)}”."
    return Finding(code="false_holder", message=message, excerpt=clip(sentence, 160))


# --- confidence, and labels of the program's kind ----------------------------------------------


def _sureness_wrong(sentence: str, told: VoteTold) -> Iterator[Finding]:
    for match in _SURE.finditer(sentence):
        groups = match.groupdict()
        after = (groups["after"] or "").strip()
        # That it is sure of something else says nothing of the answer.
        if after.startswith(("that", "dass", "de que", "about", "in ")):
            continue
        percent = groups["q"] or groups["r"]
        yield from _sure_wrong(percent, groups["word"], told, sentence)
    for match in _WITH_CONFIDENCE.finditer(sentence):
        if match["what"].casefold() in ("it", "this") or _option_next(f"{match['what']}.", told):
            yield from _sure_wrong(match["p"], None, told, sentence)


def _sure_wrong(
    percent: str | None, word: str | None, told: VoteTold, sentence: str
) -> Iterator[Finding]:
    if percent is not None:
        stated = int(percent) / 100
        if told.low is not None and told.high is not None:
            wrong = not told.low - MARGIN <= stated <= told.high + MARGIN
        else:
            wrong = stated > 0.5
        said = f"{percent} %"
    else:
        said = _SURE_WORDS[(word or "").casefold()]
        wrong = said != told.word and said == "high"
    if not wrong:
        return
    band = f" ({told.low:.0%} to {told.high:.0%})" if told.low is not None and told.high else ""
    message = f"The writer states a confidence of {said}; computed: {told.word}{band}."
    yield Finding(code="false_confidence", message=message, excerpt=clip(sentence, 160))


def _labels_wrong(text: str, told: VoteTold) -> Iterator[Finding]:
    """“Agreement: unanimous”, “Dissent: none”, “Confidence: 95 %” on a line of their own, or as a
    heading with the value below it."""
    text = text[:20_000]
    labels = [(each, False) for each in _LABEL.finditer(text)]
    for match, headed in (*labels, *((each, True) for each in _HEADED.finditer(text))):
        label, value = match["label"].casefold(), match["value"].strip("*_ ")
        if headed and label in _AGREEING and not _WHOLE.fullmatch(value.rstrip(".! ")):
            continue  # prose, which may go on with what they agree on
        excerpt = " ".join(match[0].replace("*", "").split()).lstrip("#>-• ")
        if label in _AGREEING and _WHOLE.match(value) and not told.voters_agree:
            message = f"The writer claims that all agree, but the count is: {told.reason}"
            yield Finding(code="false_agreement", message=message, excerpt=clip(excerpt, 160))
        elif label in _DISSENTING and _NONE.match(value) and told.dissenting:
            message = (
                f"The writer says that nobody dissents; counted: {', '.join(told.dissenting)}."
            )
            yield Finding(code="false_agreement", message=message, excerpt=clip(excerpt, 160))
        elif label not in _AGREEING | _DISSENTING and (sure := _SURE_LABEL.match(value)):
            yield from _sure_wrong(sure["p"], sure["word"], told, excerpt)


# --- tables ------------------------------------------------------------------------------------

_CELLS = pattern(r"^[ \t]*\|(?P<cells>.+)\|[ \t]*$")
_RULE = pattern(r"[\s|:-]+")
_FIGURES = vocabulary("votes stimmen votos")
_CHOICES = vocabulary("vote choice stimme voto wahl")
_IN_CELL = pattern(
    rf"(?P<n>\d{{1,2}})(?:\s*(?:of|/|von|de)\s*\d{{1,2}})?(?:\s+{_VOTES})?", re.IGNORECASE
)


def _tables_wrong(text: str, told: VoteTold) -> Iterator[Finding]:
    """Rows of a table of votes: an option with its figure, a seat with its choice. Only a column
    that is called so, and a cell that is nothing else, is read."""
    before, header = "", [""]
    for line in text[:20_000].splitlines():
        match = _CELLS.match(line)
        if match is None:
            header = [""]
            before = line if line.strip() else before
            continue
        cells = [each.strip(' \t*_`“”"') for each in match["cells"].split("|")]
        if header == [""]:
            header = cells
            if _ANOTHER_TIME.search(before) or CONDITION.search(before):
                header = ["another time"]
        elif not _RULE.fullmatch(line) and len(cells) == len(header):
            yield from _row_wrong(header, cells, told)


def _row_wrong(header: list[str], cells: list[str], told: VoteTold) -> Iterator[Finding]:
    excerpt = clip(" | ".join(cells), 160)
    option = _option_in(cells[0], told)
    voter = next((each for each in told.voters if each.final and each.name == cells[0]), None)
    for title, cell in zip(header[1:], cells[1:], strict=True):
        figure = _IN_CELL.fullmatch(cell)
        if option is not None and title.casefold() in _FIGURES and figure:
            number = int(figure["n"])
            if number <= told.seated and number not in option.figures:
                yield _wrong_figure(number, option, told, excerpt)
        elif voter is not None and title.casefold() in _CHOICES:
            chosen = _option_in(cell, told)
            if chosen is not None and chosen.id not in voter.held:
                yield _wrong_holder(voter, chosen, excerpt)


def _option_in(cell: str, told: VoteTold) -> Tolerated | None:
    """The option that is all that a cell says."""
    keys = worded(cell).keys
    same = [each for each in told.options if keys and worded(each.text).keys == keys]
    if not same and _YES_NO.fullmatch(cell):
        same = [each for each in told.options if polarity(each.text) == polarity(cell)]
    return same[0] if len(same) == 1 else None
