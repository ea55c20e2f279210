"""`roundtable privacy`: what is read, passed on, stored and sent, and who decides."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ...core.text import redact
from ...search.choose import choose_search
from ...settings import Settings
from ...telemetry.watch import spans_go_to
from .here import settings_here
from .terminal import echo, print_json


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One thing that is done with data, and the user's control of it."""

    kind: Literal["read", "injected", "stored", "broadcast"]
    what: str
    control: str


def privacy_command(flags: Mapping[str, Any]) -> int:
    told = statement(settings_here(), os.environ)
    if flags["as_json"]:
        document = [asdict(each) for each in told]
        print_json(document)
        return 0
    for kind, title in _TITLES.items():
        echo(f"{title}")
        for each in told:
            if each.kind == kind:
                echo(f"  - {each.what}")
                echo(f"    You control it: {each.control}")
        echo("")
    echo("Roundtable itself never calls home: no account, no usage data, no updates.")
    return 0


_TITLES = {
    "read": "READ (what it looks at)",
    "injected": "PUT INTO PROMPTS",
    "stored": "STORED (what it keeps)",
    "broadcast": "SENT TO OTHERS",
}


def statement(settings: Settings, env: Mapping[str, str]) -> list[Behaviour]:
    """What happens with these settings."""
    choices = settings.choices
    search = choose_search(choices.search, choices.searxng_url, env)
    places = [place.name for place in choices.news.channels] if choices.news.enabled else []
    return [
        Behaviour(
            "read",
            "your question, and the files that you name with --context or --context-from; no other "
            "file of yours",
            "name fewer files",
        ),
        Behaviour(
            "read",
            f"settings in {settings.home} and in the current folder, and the variables that hold "
            "keys: only when a call is made, and they are never stored or shown",
            "roundtable config --origin lists them",
        ),
        Behaviour(
            "read",
            f"the web, by {search.name}: the question goes there"
            if search
            else "the web: not at all, no search is set up",
            '--no-search, or search = "none" in config.toml',
        ),
        Behaviour(
            "read",
            "from each provider with a key, its list of models, which is kept for a day"
            if settings.choices.model_lists
            else "lists of models: nobody is asked for one",
            "ROUNDTABLE_MODEL_LISTS=false, or model_lists = false in config.toml",
        ),
        Behaviour(
            "injected",
            "question, files, search results and what other participants said are put into the "
            "prompts of the models at the table; each vendor sees what its models are asked",
            "choose the models with --models; where all of them run on this machine, so does the "
            "host, unless your settings or --host name another, which a note says; --dry-run "
            "shows host, seats and prompts",
        ),
        Behaviour(
            "injected",
            "command-line agents get the same prompt in a folder of their own, without your keys "
            "and without your project",
            "they are used only where you name them; commands.NAME.folder lets one see a folder",
        ),
        Behaviour(
            "stored",
            f"everything that was said, with the prompts, in {redact(settings.db)}, until you "
            "delete it",
            "roundtable delete ID; roundtable purge --older-than 90d; roundtable purge",
        ),
        Behaviour(
            "stored",
            "reports and session logs as files in the current folder (memory/, data/roundtable/)",
            "--no-log writes none; they are yours to delete",
        ),
        Behaviour(
            "broadcast",
            f"news of discussions, with the topic, roles and excerpts, to {', '.join(places)}"
            if places
            else "news of discussions: to nobody, no channel is named",
            "--confidential turns all of it off for one discussion; [news] in config.toml",
        ),
        Behaviour(
            "broadcast",
            "the live page, on this machine only, behind a link that cannot be guessed; a shared "
            "link shows the whole discussion",
            "--no-web; `roundtable tokens end` withdraws a link, or all",
        ),
        Behaviour(
            "broadcast",
            f"spans of discussions (models, times, tokens, costs) to {redact(place)}"
            if (place := spans_go_to(env))
            else "spans of discussions: to nobody, no OpenTelemetry endpoint is named",
            "OTEL_SDK_DISABLED=true, or no OTEL_EXPORTER_OTLP_ENDPOINT",
        ),
    ]
