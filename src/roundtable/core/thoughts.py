"""Thoughts that a server sends as words, because nobody there took them apart from the answer.

Models mark them: between tags at the head of an answer, by the channels of the harmony format, or,
where the prompt's template has opened the tag already, by its end alone. Only what an answer begins
with is a thought: tags in the middle of a speech, in code or in quotation marks are what the speech
is about. An end alone is one on a line of its own, or one that touches the words beside it: whoever
writes about a tag sets it apart from them.
"""

from __future__ import annotations

import re

from .pattern import pattern

_TAGS = ("think", "thinking", "thought")
_OPENED = pattern(rf"\s*<({'|'.join(_TAGS)})>")
_CHANNEL = pattern(
    r"\s*(?:<\|start\|>assistant)?<\|channel\|>(analysis|commentary|final)[^<]{0,80}<\|message\|>"
)
_CHANNEL_ENDS = pattern(r"<\|end\|>|(?=<\|start\|>)|(?=<\|channel\|>)")
_LONGEST_END, _LONGEST_MARK = 16, 200
_BEGINNINGS = (*(f"<{tag}>" for tag in _TAGS), "<|start|>assistant<|channel|>", "<|channel|>")

_CLOSING = f"</(?:{'|'.join(_TAGS)})>"
_CLOSED = pattern(
    rf"^[ \t]*{_CLOSING}[ \t]*$|(?<=[\w.!?:;)…。！？]){_CLOSING}|{_CLOSING}(?=[\w#*])", re.MULTILINE
)
_ANY_OPENED = pattern(rf"<(?:{'|'.join(_TAGS)})>")
_FENCED = pattern(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_LAST_MARKS = ("<|end|>", "<|return|>")


class ThoughtsFirst:
    """Hears an answer as it comes and keeps back the thoughts at its head."""

    def __init__(self) -> None:
        self.over = False
        """Whether the answer itself has begun: nothing is kept back any more."""
        self.thought = 0
        """Characters of thoughts so far."""
        self._held = ""
        """Not decided yet."""
        self._ends: re.Pattern[str] | None = None
        """How the thought ends that is under way."""

    def hear(self, words: str) -> str:
        """What of these words belongs to the answer."""
        heard = self._held + words
        self._held = ""
        while not self.over:
            if self._ends is not None:
                end = self._ends.search(heard)
                if end is None:
                    # The mark of its end may be cut in two.
                    cut = max(0, len(heard) - _LONGEST_END)
                    self.thought += cut
                    self._held = heard[cut:]
                    return ""
                self.thought += end.start()
                heard = heard[end.end() :]
                self._ends = None
            elif tag := _OPENED.match(heard):
                self._begin(pattern(f"</{tag[1]}>"))
                heard = heard[tag.end() :]
            elif channel := _CHANNEL.match(heard):
                if channel[1] == "final":
                    self.over = True
                else:
                    self._begin(_CHANNEL_ENDS)
                heard = heard[channel.end() :]
            elif _may_begin(heard):
                self._held = heard
                return ""
            else:
                self.over = True
        return heard.lstrip() if self.thought else heard

    def end(self) -> str:
        """Nothing more comes: what was kept back and is none. A thought that nobody closed goes on
        to the end, whether it was cut off or its mark was lost: then there is no answer."""
        held, self._held = self._held, ""
        return held if self._ends is None else ""

    def _begin(self, ends: re.Pattern[str]) -> None:
        self._ends = ends
        self.thought += 1


def _may_begin(heard: str) -> bool:
    """Whether a mark of thoughts may still come of this."""
    head = heard.lstrip()
    if any(mark.startswith(head) for mark in _BEGINNINGS):
        return True
    return (
        head.startswith(_BEGINNINGS[-2:])
        and "<|message|>" not in head[:_LONGEST_MARK]
        and (len(head) < _LONGEST_MARK)
    )


def spoken(text: str) -> str:
    """An answer without the thoughts before a closing tag that nothing opened, and without the
    marks that a server left at its end."""
    text = _without_last_marks(text)
    closed = _CLOSED.search(text) if "</" in text else None
    if closed is None or _ANY_OPENED.search(text, 0, closed.start()):
        return text
    return text if _in_code(text, closed.start()) else text[closed.end() :].lstrip()


def _without_last_marks(text: str) -> str:
    """In one pass from the end: a flood of marks or of blanks takes no longer than other words."""
    kept = end = len(text)
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        if kept < len(text):
            kept = end
        mark = next((each for each in _LAST_MARKS if text.endswith(each, 0, end)), None)
        if mark is None:
            return text[:kept]
        kept = end = end - len(mark)


def _in_code(text: str, at: int) -> bool:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line.count("`") % 2 == 1 or any(f.start() < at < f.end() for f in _FENCED.finditer(text))


def without_thoughts(text: str) -> str:
    """A text without the thoughts that it begins with: what is drafted there is neither said nor
    declared."""
    first = ThoughtsFirst()
    return spoken(first.hear(text) + first.end())
