"""The skill: instructions for a host agent, put where it finds them, checked, and published.

It has the Agent Skills form (a folder with a SKILL.md), with what OpenClaw and Hermes read besides.
The user's own configuration lives in ROUNDTABLE_HOME and is never touched.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args

from ..core.errors import BadSetting, NotAllowed, RoundtableError, UsageError
from ..core.text import redact
from ..settings import of_set_up

NAME = "roundtable"
SKILL_MD = "SKILL.md"
EXAMPLE = "config.example.json"
FILES = (SKILL_MD, EXAMPLE, *(f"references/{name}.md" for name in ("mcp", "lead", "seat")))
"""What the skill consists of."""

HostAgent = Literal["claude-code", "openclaw", "hermes"]
HOST_AGENTS: tuple[HostAgent, ...] = get_args(HostAgent)

_FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST = {"name": 64, "description": 1024, "compatibility": 500}
_SHORT_DESCRIPTION = 160
"""What OpenClaw shows of a description."""
_LINK = re.compile(r"`(references/[\w./-]+|config\.[\w.]+)`")
_PRIVATE = (
    ("a home folder", re.compile(r"(?:/home/|/Users/|[A-Z]:\\Users\\)[^\s/\\`\"'<>]+")),
    ("the id of a discussion", re.compile(r"\brt_[0-9a-f]{8}\b")),
)


@dataclass(frozen=True, slots=True)
class Placed:
    """What an installation did in one folder."""

    folder: Path
    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    kept: tuple[str, ...]
    """Files of the user's own that were left as they are."""


def shipped_skill() -> Path:
    """Where the skill of this installation is."""
    package = Path(str(files("roundtable")))
    # Built, it lies inside the package; in a checkout, beside the sources.
    for folder in (package / "skills" / NAME, package.parents[1] / "skills" / NAME):
        if (folder / SKILL_MD).is_file():
            return folder
    raise RoundtableError(
        "This installation has no skill in it.",
        "Install Roundtable again: pip install roundtable-council",
    )


def skills_folder(agent: HostAgent, env: Mapping[str, str]) -> Path:
    """Where a host agent of this user looks for skills."""
    home = Path(env["HOME"]) if env.get("HOME") else Path.home()
    match agent:
        case "claude-code":
            return Path(env.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "skills"
        case "openclaw":
            return Path(env.get("OPENCLAW_STATE_DIR") or home / ".openclaw") / "skills"
        case "hermes":
            return Path(env.get("HERMES_HOME") or home / ".hermes") / "skills"


def agents_here(env: Mapping[str, str]) -> tuple[HostAgent, ...]:
    """The host agents whose own folder exists."""
    return tuple(each for each in HOST_AGENTS if skills_folder(each, env).parent.is_dir())


def install(into: Path) -> Placed:
    """Put the skill into the folder `into`/roundtable, over an earlier version if there is one.

    Whatever else lies there stays. A file of ours that was changed by hand is kept beside the new
    one, as NAME.old.
    """
    source, target = shipped_skill(), into / NAME
    _refuse_strangers(target)
    written, unchanged = [], []
    try:
        for name in FILES:
            new, place = (source / name).read_bytes(), target / name
            old = place.read_bytes() if place.is_file() else None
            if old == new:
                unchanged.append(name)
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            if old is not None:
                _put(place.with_name(f"{place.name}.old"), old)
            _put(place, new)
            written.append(name)
        kept = [
            path.relative_to(target).as_posix()
            for path in sorted(target.rglob("*"))
            if path.is_file() and path.relative_to(target).as_posix() not in FILES
        ]
    except OSError as error:
        raise NotAllowed(
            f"The skill cannot be written to {target}: {error.strerror}.",
            "Make the folder writable, or choose another one with --to.",
        ) from None
    return Placed(target, tuple(written), tuple(unchanged), tuple(kept))


def _refuse_strangers(target: Path) -> None:
    skill = target / SKILL_MD
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise NotAllowed(f"{target} is not a folder of its own.", "Move it away first.")
    if skill.exists():
        front, _ = _front_matter(skill.read_text("utf-8", "replace"))
        if front.get("name") != NAME:
            raise NotAllowed(
                f"{skill} is another skill.", "Move it away, or choose another folder with --to."
            )


def _put(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def problems(folder: Path) -> list[str]:
    """What is wrong with a skill's folder, each with what was expected. Empty: nothing."""
    skill = folder / SKILL_MD
    if not skill.is_file():
        return [f"{skill} does not exist."]
    text = skill.read_text("utf-8", "replace")
    try:
        front, body = _front_matter(text)
    except UsageError as error:
        return [error.message]
    found = [*_wrong_fields(front, folder.name), *_wrong_files(folder, body)]
    for name, content in contents(folder).items():
        found += [f"{name}: {each}" for each in private_things(content.decode("utf-8", "replace"))]
    return found


def _wrong_fields(front: Mapping[str, Any], folder: str) -> list[str]:
    found = [f"SKILL.md: unknown field {key!r}." for key in front if key not in _FIELDS]
    for key, limit in _LONGEST.items():
        value = front.get(key, "" if key == "compatibility" else None)
        if not isinstance(value, str) or (key != "compatibility" and not value.strip()):
            found.append(f"SKILL.md: {key}: expected a text.")
        elif len(value) > limit:
            found.append(f"SKILL.md: {key}: expected at most {limit} characters.")
    name = front.get("name")
    if isinstance(name, str) and not _NAME.fullmatch(name):
        found.append("SKILL.md: name: expected small letters and digits, with single hyphens.")
    if isinstance(name, str) and name != folder:
        found.append(f"SKILL.md: name: expected the folder's name, {folder!r}.")
    description = front.get("description")
    if isinstance(description, str) and len(description) > _SHORT_DESCRIPTION:
        found.append(f"SKILL.md: description: expected at most {_SHORT_DESCRIPTION} characters.")
    metadata = front.get("metadata")
    tables = metadata if isinstance(metadata, Mapping) else {}
    return found + [
        f"SKILL.md: metadata.{reader}: expected a table for {reader}."
        for reader in ("openclaw", "hermes")
        if not isinstance(tables.get(reader), Mapping)
    ]


def _wrong_files(folder: Path, body: str) -> list[str]:
    found = [] if body.strip() else ["SKILL.md: expected instructions after the front matter."]
    missing = [name for name in _LINK.findall(body) if not (folder / name).is_file()]
    found += [f"{name} is named in SKILL.md and does not exist." for name in missing]
    example = folder / EXAMPLE
    try:
        of_set_up(json.loads(example.read_text("utf-8")), EXAMPLE)
    except FileNotFoundError:
        found.append(f"{EXAMPLE} does not exist.")
    except (OSError, ValueError) as error:
        found.append(f"{EXAMPLE}: expected valid JSON ({error}).")
    except UsageError as error:
        found.append(error.message)
    return found


def contents(folder: Path) -> dict[str, bytes]:
    """What would be published: every file of the skill that is ours."""
    return {name: (folder / name).read_bytes() for name in FILES if (folder / name).is_file()}


def fingerprint(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def private_things(text: str) -> list[str]:
    """What must not leave the machine: paths of a home, ids, anything like a credential."""
    found = [f"{what}: {match[0]}" for what, words in _PRIVATE for match in words.finditer(text)]
    if redact(text) != text:
        found.append("something that looks like a credential")
    return found


def _front_matter(text: str) -> tuple[Mapping[str, Any], str]:
    """The fields and the instructions. BadSetting if there are no fields."""
    import yaml

    _, opening, rest = text.partition("---\n")
    head, closing, body = rest.partition("\n---\n")
    try:
        front = yaml.safe_load(head) if opening and closing and text.startswith("---\n") else None
    except yaml.YAMLError as error:
        raise BadSetting(SKILL_MD, "the front matter", f"valid YAML ({error})") from None
    if not isinstance(front, dict):
        raise BadSetting(SKILL_MD, "the front matter", "YAML between two lines of ---")
    return front, body
