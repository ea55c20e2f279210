"""Files in the user's workspace: safe places, safe names, nothing overwritten."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from ..core.errors import NotAllowed
from ..core.state import State
from ..procedures import procedure_kit


def write_outputs(state: State, workspace: Path) -> list[Path]:
    """Write the files that the discussion's procedure leaves in the workspace, and return their
    paths. NotAllowed if a link leads one of them out of it."""
    at = (state.updated_at or datetime.now(UTC)).astimezone()
    return [
        write_new(_inside(workspace, Path(file.path)), file.text)
        for file in procedure_kit(state.start.procedure).outputs(state, at)
    ]


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


def _inside(workspace: Path, path: Path) -> Path:
    """The path below the workspace, wherever links on the way to it lead."""
    root = workspace.resolve()
    folder = (root / path).parent.resolve()
    if not folder.is_relative_to(root):
        raise NotAllowed(
            f"{path.parent} leads out of the workspace.", "Replace the link by a folder of its own."
        )
    return folder / path.name
