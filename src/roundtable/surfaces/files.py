"""Files in the user's workspace: safe places, safe names, nothing overwritten."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from ..core.errors import NotAllowed
from ..core.state import State
from ..core.text import slug
from ..views.council import session_log

SESSION_LOGS = Path("memory/roundtable")
"""The only place for session logs, whatever a configuration says."""


def write_session_log(state: State, workspace: Path) -> Path:
    """Write the session log of a council and return its path. NotAllowed if a link leads the
    folder out of the workspace."""
    folder = _inside(workspace, SESSION_LOGS)
    closed_at = (state.updated_at or state.opened_at or datetime.now().astimezone()).astimezone()
    name = f"{closed_at.strftime('%Y-%m-%d-%H-%M')}-{slug(state.start.topic)}.md"
    return write_new(folder / name, session_log(state, closed_at))


def write_new(path: Path, text: str) -> Path:
    """Write a file that does not exist yet; a taken name gets a number."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for number in range(1, 1000):
        candidate = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
        try:
            with candidate.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            continue
        return candidate
    raise NotAllowed(f"Too many files are called {path.name}.", "Move some of them away.")


def _inside(workspace: Path, folder: Path) -> Path:
    """The folder below the workspace, made where it is missing, wherever its links lead."""
    root = workspace.resolve()
    target = (root / folder).resolve()
    if not target.is_relative_to(root):
        raise NotAllowed(
            f"{folder} leads out of the workspace.", "Replace the link by a folder of its own."
        )
    target.mkdir(parents=True, exist_ok=True)
    return target
