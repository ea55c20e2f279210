"""Texts as eyes and models read them: other letters that look alike are alike, and what nobody sees
is not there. For recognising only; nobody's text is ever replaced by it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

_DASHES = "−⁃─━╌╍┄┅┈┉ーｰ一ㅡˉ¯"
_OPENING, _CLOSING = "【〔❲⟦⁅〚⦋［", "】〕❳⟧⁆〛⦌］"
_LETTERS = str.maketrans(
    "АВСЕНІЈКМОРЅТХҮԌԚԜЗавсеһіјкморѕтхуԁԍԛԝүпгΑΒΕΖΗΙΚΜΝΟΡΤΥΧαβεικνορτυχωϲϳ"
    "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢꓐꓑꓓꓔꓖꓗꓚꓜꓝꓞꓟꓠꓡꓢꓣꓤꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ",
    "ABCEHIJKMOPSTXYGQW3abcehijkmopstxydgqwynrABEZHIKMNOPTYXabeiknoptuxwcj"
    "ABCDEFGHIJKLMNOPQRSTUVWYZBPDTGKCZFJMNLSRRVHWXYAEIOU",
)
_RINGED = {0x1F150: 26, 0x1F170: 26, 0x1F1E6: 26}
"""Rows of the alphabet that Unicode does not call compatible."""
_FILLERS = "\u115f\u1160\u3164\uffa0\u2800"


class _Alike(dict[int, str]):
    """What each character looks like, found when it is first met."""

    def __missing__(self, code: int) -> str:
        found = self[code] = _look(chr(code))
        return found


_ALIKE = _Alike()


def alike(text: str) -> str:
    """How the text looks, in plain letters where there are such."""
    return text if text.isascii() else text.translate(_ALIKE)


def replace_alike(
    pattern: re.Pattern[str], instead: Callable[[re.Match[str]], str], text: str
) -> str:
    """The text with everything replaced that looks like the pattern. `instead` gets the match in
    the looks. All else stays as it is, to the character."""
    looks = alike(text)
    if looks == text:
        return pattern.sub(instead, text)
    matches = list(pattern.finditer(looks))
    if not matches:
        return text
    places = [n for n, char in enumerate(text) for _ in alike(char)]
    parts: list[str] = []
    end = 0
    for match in matches:
        if match.start() == match.end():
            continue
        parts += [text[end : places[match.start()]], instead(match)]
        last = places[match.end() - 1] + 1
        # What nobody sees behind it goes with it: it would hang on to what comes instead.
        follows = places[match.end()] if match.end() < len(places) else len(text)
        end = max(last, follows)
    return "".join([*parts, text[end:]])


def _look(char: str) -> str:
    if char in _DASHES or unicodedata.category(char) == "Pd":
        return "-"
    if char in _OPENING:
        return "["
    if char in _CLOSING:
        return "]"
    for first, count in _RINGED.items():
        if first <= ord(char) < first + count:
            return chr(ord("A") + ord(char) - first)
    apart = unicodedata.normalize("NFKD", char).translate(_LETTERS)
    return "".join(each for each in apart if not _unseen(each))


def _unseen(char: str) -> bool:
    return char in _FILLERS or unicodedata.category(char) in ("Cf", "Mn", "Me")
