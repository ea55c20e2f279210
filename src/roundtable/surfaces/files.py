"""Files in the user's workspace: safe places, safe names, nothing overwritten."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from ..core.errors import NotAllowed
from ..core.state import State
from ..private import opener_at, private_opener
from ..procedures import procedure_spec

WORKS = "deliverables"
"""Where works lie whose procedure leaves no document."""
STANDARD = "-"
"""Standard output, where the name of a file is wanted."""


class WorkspaceFiles:
    """Implements the Delivery port: a discussion's files in the folder in which it is held."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace

    async def leave(self, state: State) -> list[str]:
        # A long report takes a moment to write: others are heard meanwhile.
        return await asyncio.to_thread(self._leave, state.branch())

    def _leave(self, state: State) -> list[str]:
        root = self._workspace.resolve()
        return [
            path.relative_to(root).as_posix() for path in write_outputs(state, root, again=True)
        ]


def write_outputs(
    state: State, workspace: Path, *, again: bool = False, folder: Path | None = None
) -> list[Path]:
    """Write the files that the discussion's procedure leaves in the workspace, and return their
    paths. NotAllowed if a link leads one of them out of it. With `again`, a file that says the
    same already is left as it is: the process may have ended right after writing it. With
    `folder`, which the user chose, all of them go there and nowhere else."""
    from ..views.deliverables import deliverable_files

    at = (state.updated_at or datetime.now(UTC)).astimezone()
    made = procedure_spec(state.start.procedure).outputs(state, at)
    # Works lie beside the document of their discussion, in a folder of its name.
    beside = Path(made[0].path).with_suffix("") if made else Path(WORKS, state.discussion_id)
    return [
        write_new(
            _inside(workspace, Path(file.path))
            if folder is None
            else folder / Path(file.path).name,
            file.text,
            again=again,
        )
        for file in (*made, *deliverable_files(state, beside.as_posix()))
    ]


def write_deliverables(state: State, folder: Path) -> list[Path]:
    """Write the works of a discussion into a folder that the user chose."""
    from ..views.deliverables import deliverable_files

    files = deliverable_files(state, "")
    return [write_new(folder / Path(file.path).name, file.text, again=True) for file in files]


def write_new(path: Path, text: str, *, again: bool = False) -> Path:
    """Write a file that does not exist yet; a taken name gets a number."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for number in range(1, 1000):
        candidate = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
        try:
            with open(candidate, "x", encoding="utf-8", newline="", opener=opener_at(path)) as file:
                file.write(text)
        except FileExistsError:
            if again and _says(candidate, text):
                return candidate
            continue
        return candidate
    raise NotAllowed(f"Too many files are called {path.name}.", "Move some of them away.")


def write_chosen(path: Path, data: bytes) -> None:
    """Write the file that the user named; it is theirs alone, because it holds a whole discussion.
    NotAllowed if it exists or cannot be written, or if its folder does not exist: that is a slip
    more often than a wish."""
    if not path.parent.exists():
        raise NotAllowed(
            f"The folder {path.parent} does not exist.", "Make it first, or choose another place."
        )
    try:
        with open(path, "xb", opener=private_opener) as file:
            file.write(data)
    except OSError as error:
        if path.exists():
            raise NotAllowed(f"{path} exists already.", "Choose another name.") from None
        raise NotAllowed(
            f"{path} cannot be written: {error.strerror}.", "Choose another place."
        ) from None


def _says(path: Path, text: str) -> bool:
    with suppress(OSError, UnicodeError):
        return path.read_bytes() == text.encode("utf-8")
    return False


def _inside(workspace: Path, path: Path) -> Path:
    """The path below the workspace, wherever links on the way to it lead."""
    root = workspace.resolve()
    folder = (root / path).parent.resolve()
    if not folder.is_relative_to(root):
        raise NotAllowed(
            f"{path.parent} leads out of the workspace.", "Replace the link by a folder of its own."
        )
    return folder / path.name
