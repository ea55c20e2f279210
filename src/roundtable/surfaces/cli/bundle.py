"""`roundtable export --bundle` and `roundtable verify`: a discussion as a file to be checked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ...bootstrap import App, start
from ...core.errors import UsageError
from ...core.events import StoredEvent
from ...core.text import clip, redact
from ..bundle import Checked, check_bundle, make_bundle
from ..bundle.reading import MAX_BYTES, read_bundle, too_large
from ..bundle.signing import load_key
from ..files import write_chosen
from .app import FAILED
from .terminal import echo_error, for_screen

_MARKS = {"good": "✓", "remark": "–", "wrong": "✗"}


def export_bundle(flags: Mapping[str, Any]) -> int:
    async def read() -> tuple[App, list[StoredEvent]]:
        async with start(progress=echo_error) as app:
            return app, await app.service.records(flags["discussion_id"])

    app, records = asyncio.run(read())
    signer = load_key(app.settings.home) if flags["sign"] else None
    data = make_bundle(records, signer)
    path = Path(flags["bundle"])
    write_chosen(path, data)
    echo_error(f"Written: {path} ({len(records):,} events, {len(data):,} bytes)")
    echo_error(f"Head: {read_bundle(data).head}")
    if signer is not None:
        echo_error(f"Signed by: {signer.public_key}")
    echo_error(f"Anybody can check it: roundtable verify {path}")
    return 0


def verify_command(flags: Mapping[str, Any]) -> int:
    checked = check_bundle(_read(flags["file"]), head=flags["head"], signer=flags["signer"])
    if flags["as_json"]:
        click.echo(json.dumps(_document(checked), ensure_ascii=False, indent=2))
    else:
        topic = clip(" ".join(redact(checked.topic).split()), 100)
        click.echo(for_screen(f"{checked.discussion_id}: {topic}"))
        for finding in checked.findings:
            mark = _MARKS[finding.level]
            click.echo(for_screen(f"{mark} {finding.check}: {finding.text}"))
        click.echo(f"Head: {checked.head}")
    if checked.sound:
        if not checked.decided:
            echo_error("Its parts fit, but what it decides was not decided again here.")
        return 0
    wrong = ", ".join(dict.fromkeys(f.check for f in checked.findings if f.level == "wrong"))
    echo_error(f"Error: this bundle does not hold what it says ({wrong}).")
    return FAILED


def _read(name: str) -> bytes:
    path = Path(name)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES:
                raise too_large(path.stat().st_size)
            return data
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}.", "Give the file of a bundle."
        ) from None


def _document(checked: Checked) -> dict[str, Any]:
    return {
        "discussion_id": checked.discussion_id,
        "topic": checked.topic,
        "sound": checked.sound,
        "decided_again": checked.decided,
        "head": checked.head,
        "signed_by": checked.signed_by,
        "findings": [
            {"check": f.check, "level": f.level, "text": f.text} for f in checked.findings
        ],
    }
