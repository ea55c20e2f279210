"""`roundtable export --bundle` and `roundtable verify`: a discussion as a file to be checked."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...bundle import BundleUnknown, Checked, check_bundle, make_bundle
from ...bundle.reading import MAX_BYTES, read_bundle, too_large
from ...bundle.signing import load_key, own_public_key
from ...core.errors import UsageError
from ...core.text import clip, redact
from ...examples import find_example, is_example
from ..files import STANDARD, write_chosen
from .exits import FAILED, UNVERIFIED
from .here import settings_here
from .terminal import echo, echo_error, is_terminal, pipe_bytes, print_json
from .with_app import with_app

_MARKS = {"good": "✓", "remark": "–", "unverified": "?", "wrong": "✗"}
_KEY = re.compile(r"[0-9a-fA-F]{64}")


def export_bundle(flags: Mapping[str, Any]) -> int:
    if flags["output"] is not None:
        raise UsageError("--output and --bundle name two files.", "Export one after the other.")
    here = flags["bundle"] == STANDARD
    if here and is_terminal(sys.stdout):
        raise UsageError("A bundle is for a file or a pipe, not for a terminal.", "Name a file.")
    records = with_app(lambda app: app.service.records(flags["discussion_id"]))
    signer = load_key(settings_here(tell=False).home) if flags["sign"] else None
    data = make_bundle(records, signer)
    path = Path(flags["bundle"])
    if here:
        pipe_bytes(data)
    else:
        write_chosen(path, data)
        echo_error(f"Written: {path} ({len(records):,} events, {len(data):,} bytes)")
    echo_error(f"Head: {read_bundle(data).head}")
    if signer is not None:
        echo_error(f"Signed by: {signer.public_key}")
    if not here:
        echo_error(f"Anybody can check it: roundtable verify {path}")
    return 0


def verify_command(flags: Mapping[str, Any]) -> int:
    named = flags["file"]
    data = find_example(named).bundle() if is_example(named) else _read(named)
    settings = settings_here(tell=False)
    signers = settings.choices.signers
    known = {key.lower(): name for name, key in signers.items()}
    if own := own_public_key(settings.home):
        known.setdefault(own, "your own key")
    signer = _signer(flags["signer"], signers)
    try:
        checked = check_bundle(data, head=flags["head"], signer=signer, known=known)
    except BundleUnknown as unknown:
        echo_error(f"This bundle cannot be verified here: {unknown.message}")
        echo_error(unknown.remedy)
        return UNVERIFIED
    if flags["as_json"]:
        print_json(_document(checked))
    else:
        topic = clip(" ".join(redact(checked.topic).split()), 100)
        echo(f"{checked.discussion_id}: {topic}")
        for finding in checked.findings:
            mark = _MARKS[finding.level]
            echo(f"{mark} {finding.check}: {finding.text}")
        echo(f"Head: {checked.head}")
    if checked.sound:
        return 0
    told = dict.fromkeys(f.check for f in checked.findings if f.level == checked.outcome)
    if checked.outcome == "wrong":
        echo_error(f"Error: this bundle does not hold what it says ({', '.join(told)}).")
        return FAILED
    echo_error(f"This bundle cannot be verified here ({', '.join(told)}): nothing in it is wrong,")
    echo_error("but nobody can tell from it that everything is right.")
    return UNVERIFIED


def _signer(given: str | None, signers: Mapping[str, str]) -> str | None:
    """The public key that is meant."""
    if given is None or _KEY.fullmatch(given.strip()):
        return given
    if given in signers:
        return signers[given]
    names = ", ".join(signers) or "none"
    raise UsageError(
        f"{clip(given, 80)!r} is neither a public key (64 hexadecimal digits) nor a signer.",
        f"Signers in your config.toml, [signers]: {names}.",
    )


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
        "outcome": checked.outcome,
        "sound": checked.sound,
        "decided_again": checked.decided,
        "head": checked.head,
        "signed_by": checked.signed_by,
        "signer": checked.whose or None,
        "signer_expected": checked.expected,
        "findings": [
            {"check": f.check, "level": f.level, "text": f.text} for f in checked.findings
        ],
    }
