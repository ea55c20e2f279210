"""`roundtable models`: what can speak now, and what is missing for more."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ...bootstrap import App, start
from ...models.discovery import Found
from ...speakers.characters import CHARACTERS
from .terminal import echo, echo_error, print_json

SHOWN = 8
"""Models listed per provider; the rest is counted."""


def models_command(flags: Mapping[str, Any]) -> int:
    async def look() -> tuple[App, Found]:
        async with start(progress=echo_error) as app:
            return app, await app.discover()

    app, found = asyncio.run(look())
    if flags["as_json"]:
        print_json(_document(app, found))
        return 0
    echo(f"Default model: {found.default_model}")
    echo("\nCan be used now:")
    for provider in found.providers:
        more = len(provider.models) - SHOWN
        names = ", ".join(provider.models[:SHOWN]) + (f" and {more} more" if more > 0 else "")
        echo(f"  {provider.label} ({provider.how})")
        echo(f"    {names or 'any model by its full id'}")
    servers = _silent_servers(app, found)
    if found.missing or servers:
        echo("\nFor more:")
        for missing in found.missing:
            echo(f"  {missing.label}: {missing.get or f'set {missing.variable}.'}")
        for server in servers:
            echo(f"  {server['label']}: {server['get']}")
    echo("\nTo rehearse without a model (words from a script, and every way to fail):")
    for name, about in CHARACTERS.items():
        echo(f"  scripted/{name}: {about}")
    aliases = [
        f"{alias} → {entry.id}" for entry in app.registry.models.values() for alias in entry.aliases
    ]
    echo("\nAliases:")
    for alias in aliases:
        echo(f"  {alias}")
    echo(f"\nAdd your own in {app.settings.home / 'models.toml'}.")
    return 0


def _document(app: App, found: Found) -> dict[str, Any]:
    return {
        "default_model": found.default_model,
        "found": [
            {"provider": p.id, "label": p.label, "how": p.how, "models": list(p.models)}
            for p in found.providers
        ],
        "missing": [
            {"provider": m.id, "label": m.label, "variable": m.variable, "get": m.get}
            for m in found.missing
        ],
        "local_servers_missing": _silent_servers(app, found),
        "scripted": {f"scripted/{name}": about for name, about in CHARACTERS.items()},
        "aliases": {
            alias: entry.id for entry in app.registry.models.values() for alias in entry.aliases
        },
    }


def _silent_servers(app: App, found: Found) -> list[dict[str, str]]:
    """Servers of this machine that could speak, but did not answer."""
    here = {provider.id for provider in found.providers}
    return [
        {"provider": p.id, "label": p.label, "get": p.get or "start it on this machine."}
        for p in app.registry.providers.values()
        if p.probe is not None and p.id not in here
    ]
