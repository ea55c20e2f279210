"""`roundtable models`: what can speak now, what it can and costs, and what is missing for more."""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ...bootstrap import App, start
from ...core.errors import UsageError
from ...models.discovery import Asking
from ...models.entry import ModelEntry
from ...models.facts import ELSEWHERE, ModelFacts, about_list, facts_of
from ...models.found import EMBEDDED, EMBEDDED_MODEL, Found, FoundProvider, Trouble
from ...speakers.characters import CHARACTERS
from .here import tell_once
from .terminal import echo_error, echo_fitted, is_terminal, print_json

SHOWN = 12
"""Models of a provider that are shown where nobody asks for all; the rest is counted."""
_UNKNOWN = "?"
_HEADER = ("model", "window", "$ per million in / out", "vision", "thinking", "schema")

Rows = list[tuple[FoundProvider, list[ModelFacts]]]


def models_command(flags: Mapping[str, Any]) -> int:
    async def look() -> tuple[App, Found]:
        async with start(progress=echo_error) as app:
            asking: Asking = "anew" if flags["refresh"] else "when stale"
            return app, await app.discover(asking=asking)

    app, found = asyncio.run(look())
    if (trouble := app.keys.trouble) is not None:
        tell_once(trouble)
    for provider in app.registry.providers.values():
        if withheld := app.keyed.withheld(provider):
            tell_once(UsageError(withheld.told, withheld.remedy))
    words = tuple(flags["words"])
    rows = _chosen(found, words)
    scripted = {name: about for name, about in _scripted().items() if _has(name, words)}
    if flags["as_json"]:
        print_json(_document(app, found, rows))
        return 0
    able = any(models and provider.trouble is None for provider, models in rows)
    if words and not able and (why := _trouble_of(found, words)) is not None:
        raise UsageError(why.told, why.remedy)
    if words and not rows and not scripted:
        raise _nothing_has(found, words)
    if not words:
        echo_fitted(f"Default model: {_default(found)}")
        if found.default_model and found.configured_default is None:
            echo_fitted(HOST_UNNAMED)
        anybody = any(provider.trouble is None for provider, _ in rows)
        echo_fitted("\nCan be used now:" if anybody else "\nNo model can be used now.")
    _show(found, rows, everything=bool(words) or flags["show_all"])
    if words and scripted:
        _show_scripted(scripted)
    if not words:
        _show_troubles(found)
        _show_rest(app, found, everything=flags["show_all"])
    return 0


HOST_UNNAMED = (
    "You have not chosen one: this model is used when nothing fits the question better. To choose, "
    "use --models and --host, or set default_model in config.toml."
)


def _default(found: Found) -> str:
    if found.default_model:
        return found.default_model
    here = any(each.id == EMBEDDED for each in found.providers)
    return (
        f"none ({EMBEDDED_MODEL} is only for demonstrations, and only used where it is named)"
        if here
        else "none"
    )


def _show_troubles(found: Found) -> None:
    """Who is set up, and of no use now."""
    shut = [(f"{each.label} ({each.how})", each.trouble) for each in found.providers]
    told = [(name, trouble) for name, trouble in shut if trouble is not None]
    if told or found.silent:
        echo_fitted("\nSet up, but cannot be used now:")
    for name, trouble in told:
        echo_fitted(f"\n  {name}")
        echo_fitted(f"    {trouble.told} {trouble.remedy}".rstrip())
    for server in found.silent:
        echo_fitted(f"\n  {server.told} {server.remedy}".rstrip())


def _trouble_of(found: Found, words: Sequence[str]) -> Trouble | None:
    """Why those of a provider cannot be used that is asked for by its name; None if none is."""
    wanted = {word.casefold() for word in words}
    shut = ((each.id, each.label, each.trouble) for each in found.providers)
    silent = ((each.provider, "", Trouble(each.told, each.remedy)) for each in found.silent)
    for id_, label, trouble in (*shut, *silent):
        if trouble is not None and wanted & {id_, label.casefold()}:
            return trouble
    return None


def _of_which_nobody_told(found: Found, words: Sequence[str]) -> str:
    """Where an ability was asked for: of how many models nobody said whether they have it."""
    fields = {"vision": "vision", "thinking": "thinking", "schema": "structured"}
    asked = [fields[word.casefold()] for word in words if word.casefold() in fields]
    if len(asked) < len(words):
        return ""
    facts = [each for provider in found.providers for each in facts_of(found, provider)]
    unknown = [each.id for each in facts if all(getattr(each, f) is None for f in asked)]
    if not unknown:
        return ""
    named = ", ".join(unknown[:5]) + (" …" if len(unknown) > 5 else "")
    return f"Not known of {len(unknown)}: {named}"


def _has(text: str, words: Sequence[str]) -> bool:
    return all(word.casefold() in text.casefold() for word in words)


def _nothing_has(found: Found, words: Sequence[str]) -> UsageError:
    """Nothing that can be used has the words. What is known, and cannot be used now, is named with
    what it waits for."""
    if len(words) == 1 and (named := _named(found, words[0])) is not None:
        in_full = words[0].casefold() == named.id.casefold()
        told = f"{named.id} is a model" if in_full else f"{words[0]} stands for {named.id}, a model"
        trouble = found.why_not(named.id)
        return UsageError(f"{told} that {trouble.told}.", trouble.remedy)
    asked = " and ".join(map(repr, words))
    told = f"No model that can be used now is known to have {asked}."
    # Of many that have the words, the first few show how to go on.
    known = [each for each in found.registry.models.values() if _has(each.id, words)]
    if known:
        some = ", ".join(each.id for each in known[:5]) + (" …" if len(known) > 5 else ".")
        remedy = f"Known, but not usable now: {some} {found.why_not(known[0].id).remedy}"
        return UsageError(told, remedy.rstrip())
    everything = "roundtable models --all, without a word, shows all of them."
    return UsageError(told, _of_which_nobody_told(found, words) or everything)


def _named(found: Found, word: str) -> ModelEntry | None:
    """The model of the registry that a word names, by an alias or in full."""
    for each in found.registry.models.values():
        if word.casefold() in (each.id.casefold(), *(alias.casefold() for alias in each.aliases)):
            return each
    return None


def _chosen(found: Found, words: Sequence[str]) -> Rows:
    """The models that have all the words: in their name, their provider's, or what they can."""
    rows: Rows = []
    for provider in found.providers:
        models = facts_of(found, provider)
        if words:
            models = [each for each in models if _has(_about(found, provider, each), words)]
        if models or not words:
            rows.append((provider, models))
    return rows


def _about(found: Found, provider: FoundProvider, model: ModelFacts) -> str:
    known = found.registry.models.get(model.id)
    aliases = known.aliases if known is not None else ()
    can = [
        name
        for name, able in (
            ("vision", model.vision),
            ("thinking", model.thinking),
            ("schema structured", model.structured),
        )
        if able
    ]
    return " ".join((model.id, *aliases, model.family, provider.label, *can))


def _show(found: Found, rows: Rows, *, everything: bool) -> None:
    now, marked = time.time(), False
    rows = [(provider, models) for provider, models in rows if provider.trouble is None]
    for provider, models in rows:
        echo_fitted(f"\n  {provider.label} ({provider.how})")
        if about := about_list(provider, now):
            echo_fitted(f"    {about}")
        shown = models if everything else models[:SHOWN]
        if shown and provider.id not in ("local", "cmd"):
            elsewhere = {m.id for m in shown if found.passed_on(found.registry.resolve(m.id))}
            _table([_HEADER, *(_cells(each, marked=each.id in elsewhere) for each in shown)])
            marked = marked or bool(elsewhere)
        elif shown:
            echo_fitted(f"    {', '.join(each.id for each in shown)}")
        else:
            echo_fitted(f"    Any model by its full id: {provider.id}/NAME")
        if (more := len(models) - len(shown)) > 0:
            example = f"roundtable models {provider.id} WORD"
            echo_fitted(f"    and {more} more; --all shows all of them, {example} some of them")
    shown_any = any(models for provider, models in rows if provider.id not in ("local", "cmd"))
    if shown_any:
        echo_fitted(
            f"\n  {_UNKNOWN} means unknown. schema: the provider can enforce a JSON schema."
        )
    if marked:
        echo_fitted(f"  {ELSEWHERE}: the server on this machine passes it on to another one.")


def _table(rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    room = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else sum(widths) * 2
    if sum(widths) + 2 * len(widths) + 2 > room:
        for name, window, price, *can in rows[1:]:
            able = (f"{what} {yes}" for what, yes in zip(_HEADER[3:], can, strict=True))
            echo_fitted(f"    {name}")
            echo_fitted(f"      {window} tokens, $ {price}, {', '.join(able)}")
        return
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        echo_fitted(f"    {'  '.join(cells)}".rstrip())


def _cells(model: ModelFacts, *, marked: bool) -> tuple[str, ...]:
    return (
        f"{model.id} {ELSEWHERE}" if marked else model.id,
        _tokens(model.context_window),
        _price(model.usd_per_million_in, model.usd_per_million_out),
        *(_yes(able) for able in (model.vision, model.thinking, model.structured)),
    )


def _tokens(count: int | None) -> str:
    if count is None:
        return _UNKNOWN
    if count >= 1_000_000:
        return f"{count / 1_000_000:.3g}M"
    return f"{count / 1000:.0f}k" if count >= 1000 else str(count)


def _price(per_in: float | None, per_out: float | None) -> str:
    if per_in is None or per_out is None:
        return _UNKNOWN
    return "free" if per_in == per_out == 0 else f"{per_in:.4g} / {per_out:.4g}"


def _yes(able: bool | None) -> str:
    return _UNKNOWN if able is None else "yes" if able else "no"


def _scripted() -> dict[str, str]:
    return {f"scripted/{name}": about for name, about in CHARACTERS.items()}


def _show_scripted(scripted: Mapping[str, str]) -> None:
    echo_fitted("\nTo rehearse without a model (scripted words, and every way to fail):")
    for name, about in scripted.items():
        echo_fitted(f"  {name}: {about}")


def _show_rest(app: App, found: Found, *, everything: bool) -> None:
    servers = _silent_servers(app, found)
    if found.missing or servers:
        echo_fitted("\nTo use more models:")
        for missing in found.missing:
            echo_fitted(f"  {missing.label}: {missing.get or f'set {missing.variable}.'}")
        for server in servers:
            echo_fitted(f"  {server['label']}: {server['get']}")
    _show_scripted(_scripted())
    aliases = _aliases(app)
    shown = {a: model for a, model in aliases.items() if everything or found.usable(model)}
    echo_fitted("\nAliases:")
    for alias, model in shown.items():
        echo_fitted(f"  {alias} → {model}")
    if more := len(aliases) - len(shown):
        echo_fitted(f"  and {more} more for models that cannot be used now; --all shows them")
    echo_fitted(f"\nAdd your own in {app.settings.home / 'models.toml'}.")


def _document(app: App, found: Found, rows: Rows) -> dict[str, Any]:
    now = time.time()
    return {
        "default_model": found.default_model,
        "found": [
            {
                "provider": p.id,
                "label": p.label,
                "how": p.how,
                "models": [each.id for each in models],
                "listed": p.listed,
                "told": about_list(p, now),
                "trouble": p.trouble._asdict() if p.trouble else None,
                "facts": [asdict(each) for each in models],
            }
            for p, models in rows
        ],
        "silent": [
            {"provider": each.provider, "told": each.told, "remedy": each.remedy}
            for each in found.silent
        ],
        "missing": [
            {"provider": m.id, "label": m.label, "variable": m.variable, "get": m.get}
            for m in found.missing
        ],
        "local_servers_missing": _silent_servers(app, found),
        "scripted": _scripted(),
        "aliases": _aliases(app),
    }


def _aliases(app: App) -> dict[str, str]:
    return {alias: entry.id for entry in app.registry.models.values() for alias in entry.aliases}


def _silent_servers(app: App, found: Found) -> list[dict[str, str]]:
    """Servers of this machine that could speak, but did not answer."""
    here = {each.id for each in found.providers} | {each.provider for each in found.silent}
    return [
        {"provider": p.id, "label": p.label, "get": p.get or "start it on this machine."}
        for p in app.registry.providers.values()
        if p.probe is not None and p.id not in here
    ]
