"""The block that ends a speech: where it stands, and the JSON in it.

Only a block of the speech itself counts, and JSON is read as it is written: what cannot be
misunderstood is mended, anything else is broken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any

from .pattern import pattern
from .text import clip
from .thoughts import without_thoughts

LABEL = "declaration"
"""What the fenced block at the end of a speech is labelled with."""
MAX_DEPTH = 12
_FENCE = pattern(r"^ {0,3}(?P<mark>`{3,}|~{3,})[ \t]*(?P<label>[^`\n]*?)[ \t]*$")


def split_blocks(text: str, label: str = LABEL) -> tuple[str, list[str]]:
    """The text without its blocks of this label, and what stands in them.

    Only blocks that stand in the text itself count: one within another block of code, in a block
    quote or indented is somebody's example or quotation.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    kept, blocks, unclosed = _scan(lines, label)
    if unclosed is not None and not blocks:
        # A forgotten mark must not swallow a declaration that stands further down. Once is enough:
        # a text of nothing but forgotten marks is not read line by line again and again.
        further, found, _ = _scan(lines[unclosed + 1 :], label)
        if found:
            kept, blocks = [*lines[: unclosed + 1], *further], found
    return "\n".join(kept).strip(), blocks


def _scan(lines: Sequence[str], label: str) -> tuple[list[str], list[str], int | None]:
    """The lines without the blocks of this label, the blocks, and where another block begins that
    nobody closes, if one does."""
    kept: list[str] = []
    blocks: list[str] = []
    body: list[str] = []
    mark, declared, opened = "", False, 0
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if not mark:
            if fence is None:
                kept.append(line)
                continue
            mark, declared = fence["mark"], fence["label"].casefold() == label
            body, opened = [], number
            if not declared:
                kept.append(line)
        elif fence and fence["mark"].startswith(mark) and not fence["label"]:
            if declared:
                blocks.append("\n".join(body).strip())
            else:
                kept.append(line)
            mark = ""
        elif declared:
            body.append(line)
        else:
            kept.append(line)
    if mark and declared:
        # The end was cut off: what there is may be whole all the same.
        blocks.append("\n".join(body).strip())
    return kept, blocks, opened if mark and not declared else None


_PLAIN = ("", "json", "jsonc", "json5")
"""What models write over a declaration that they label otherwise than they were asked to."""


def only_object(text: str) -> str:
    """The object in an answer that was asked for nothing else: bare, or in the one block that ends
    it, without a label or labelled as JSON. Empty if there is none: what stands under any other
    label is quoted from somewhere."""
    bare = text.replace("\r\n", "\n").strip()
    fences = [each for line in bare.split("\n") if (each := _FENCE.match(line))]
    if len(fences) == 2 and bare.endswith(fences[1][0]):
        opening, closing = fences
        if opening["mark"] == closing["mark"] and opening["label"].casefold() in _PLAIN:
            bare = bare.partition(f"{opening[0]}\n")[2].removesuffix(closing[0]).strip()
    return bare if bare.startswith("{") else ""


_MAY_BEGIN = pattern(r"^ {0,3}(?:`{1,2}|~{1,2}|`{3,}[^`]*|~{3,}.*)$")


def spoken_so_far(text: str, labels: Collection[str]) -> str:
    """What may be read of a text that is still being written: without its blocks of these labels,
    begun ones included, and without a last line that may yet begin one. Stricter than
    `split_blocks`: what may be a declaration is not shown, even where it turns out to be a
    quotation. A text that begins with a brace is a declaration and nothing else."""
    text = without_thoughts(text)
    if text.lstrip()[:1] == "{":
        return ""
    lines = text.replace("\r\n", "\n").split("\n")
    kept: list[str] = []
    mark, outer, hidden = "", "", False
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        begins = not mark or (not hidden and fence is not None and fence["label"])
        if begins and number == len(lines) - 1 and _MAY_BEGIN.match(line):
            kept.append("")  # so that what was shown only ever grows
            break
        if fence is None:
            pass
        elif fence["label"].casefold() in labels and not hidden:
            mark, outer, hidden = fence["mark"], mark, True
            kept.append("")
        elif not mark:
            mark = fence["mark"]
        elif fence["mark"].startswith(mark) and not fence["label"]:
            if hidden:
                mark, outer, hidden = outer, "", False
                continue
            mark = ""
        if not hidden:
            kept.append(line)
    return "\n".join(kept)


class BrokenJson(ValueError):
    """No JSON object, and why."""


def parse_json(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A JSON object, with comments and trailing commas taken out and line ends in texts allowed.

    Raises ValueError with what is wrong, a key that comes twice and a list without end included.
    """
    mended: list[str] = []
    try:
        found = _loads(text)
    except BrokenJson as broken:
        bare = _without_comments(text)
        if bare == text:
            raise
        try:
            found = _loads(bare)
        except BrokenJson:
            raise broken from None
        mended.append("comments or trailing commas were taken out")
    if not isinstance(found, dict):
        raise BrokenJson("it is no object in braces.")
    return found, tuple(mended)


def _loads(text: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found and found[key] != value:
                raise BrokenJson(f"the key “{clip(key, 40)}” comes twice.")
            found[key] = value
        return found

    def no_number(name: str) -> Any:
        raise BrokenJson(f"{name} is no number.")

    try:
        found = json.loads(text, strict=False, object_pairs_hook=once, parse_constant=no_number)
    except RecursionError:
        raise BrokenJson("it is nested too deeply.") from None
    except json.JSONDecodeError as error:
        raise BrokenJson(f"{error.msg} in line {error.lineno}.") from None
    except ValueError as error:
        raise BrokenJson(clip(str(error), 120)) from None
    if _depth(found) > MAX_DEPTH:
        raise BrokenJson("it is nested too deeply.")
    return found


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        boxes = [each for each in level if isinstance(each, (dict, list))]
        level = [x for box in boxes for x in (box.values() if isinstance(box, dict) else box)]
    return depth


_TOKEN = pattern(
    r'"(?:[^"\\]|\\.)*"|(?P<comment>//[^\n]*|/\*.*?\*/|(?<=[\s,{\[])\#[^\n]*)|(?P<comma>,)(?=\s*[}\]])',
    re.DOTALL,
)


def _without_comments(text: str) -> str:
    bare = _TOKEN.sub(lambda m: " " if m["comment"] else m[0], text)
    return _TOKEN.sub(lambda m: "" if m["comma"] else m[0], bare)
