"""Words behind a question in quotes: parts of a list that a blank has cut off."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os.path import exists
from shlex import quote
from typing import Any

from ...core.errors import UnknownName, UsageError
from ...experts.chosen import like_a_model
from ...models.registry import Registry
from ...settings import Settings
from . import completing


def refuse_stray_words(flags: Mapping[str, Any], settings: Settings) -> None:
    """UsageError for words beside a whole question that were to belong to a list: they would be
    asked. Such is what stands right behind a list, and what is the name of something."""
    words = list(flags["question"])
    behind: Mapping[str, str] = flags.get("behind") or {}
    if len(words) < 2:
        return
    meant = _meant(settings)
    if not (_is_whole(words[0]) or _is_whole(words[-1])):
        # Of a question without quotes only what cannot be a word of it.
        cut_off = flags.get("cut_off") or ()
        listed = {
            word: behind[word]
            for word in words
            if word in cut_off or (word in behind and "/" in word and meant["models"](word))
        }
    else:
        listed = {
            word: behind.get(word) or next((o for o, is_one in meant.items() if is_one(word)), "")
            for word in words
            if not _is_whole(word)
        }
        # Before the question only, every one has to be such: it may as well begin with them.
        if not (_is_whole(words[0]) or all(listed.values())):
            return
    option = next(filter(None, listed.values()), "")
    if not option:
        return
    stray = [word for word, its in listed.items() if its == option]
    raise UsageError(
        f"{stray[0]!r} would become part of the question.",
        f"{_as_list(option, flags.get(option) or (), stray)} If it belongs to the question, put "
        "all of it in one pair of quotation marks.",
    )


def _is_whole(word: str) -> bool:
    """Whether it is more than a word: it stood in quotes."""
    return len(word.split()) > 1


def _meant(settings: Settings) -> Mapping[str, Callable[[str], bool]]:
    """What a word may be the name of, by the option that takes it."""
    registry = Registry.load(settings.models_file, settings.agents)
    experts = {name for name, _ in completing.experts()}
    models = {name for name, _ in completing.models()}
    return {
        "context": exists,
        "experts": experts.__contains__,
        "models": lambda word: word in models or like_a_model(word) or _is_model(word, registry),
    }


def _as_list(option: str, before: str | Sequence[str], words: Sequence[str]) -> str:
    """How several values are written."""
    named = [before] if isinstance(before, str) else list(before)
    named = [value for each in (*named, *words) if (value := each.strip(" ,"))]
    if option == "context":
        form = " ".join(f"--context {quote(each)}" for each in named)
        return f"Each file or folder has an option of its own: {form}."
    if option == "host":
        return f"One model leads: --host {' or --host '.join(named)}."
    return f"A list has commas and no spaces: --{option} {','.join(named)}."


def _is_model(word: str, registry: Registry) -> bool:
    provider, slash, name = word.partition("/")
    if slash:
        return bool(name) and provider in registry.providers
    try:
        registry.resolve(word)
    except UnknownName:
        return False
    return True
