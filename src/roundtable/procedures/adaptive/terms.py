"""The terms of a run: what was settled when the table was set, and is stored with the opening."""

from __future__ import annotations

from pydantic import Field

from ...core.events import NoteAdded
from ...core.state import State
from ...core.values import Participant, Value
from .bench import BenchModel
from .design import Design
from .modes import TaskMode
from .panels import Timeouts
from .recommendation import Workflow

PRIOR = "PRIOR ROUNDTABLE CONTEXT"
"""How the source of a material begins that is the synthesis of an earlier roundtable."""
NO_THREAD = "none"


class Terms(Value):
    """Read back from the options of the opening."""

    task_mode: TaskMode
    quick: bool = False
    check_synthesis: bool = False
    search: bool = True
    meta: bool = False
    """Whether a meta-panel designs the workflow."""
    forced: Workflow | None = None
    session: str = ""
    thread_id: str = NO_THREAD
    max_panel: int = 4
    timeouts: Timeouts = Timeouts()
    costs: dict[str, tuple[float, float]] = Field(default_factory=dict)
    default: Design
    """What is done where no meta-panel decides."""
    default_notes: tuple[NoteAdded, ...] = ()
    """What is to be said about the default panel, should it sit although a meta-panel was asked."""
    bench: tuple[BenchModel, ...] = ()
    analysts: tuple[Participant, ...] = ()
    synthesis: str = ""

    @classmethod
    def of(cls, state: State) -> Terms:
        return cls.model_validate(state.start.options)
