"""The five-round engine by its own name: one topic, its experts, and whether it came to an end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.errors import BadSetting, RoundtableError
from ..core.state import State
from ..views.delivered import DeliveredVerdict, delivered
from .files import write_outputs
from .python import Roundtable

MODES = ("pre-ac", "full")


class RoundTableEngine:
    """Five rounds on one topic.

    ::

        engine = RoundTableEngine(
            topic="Smart Customer Service Technical Proposal",
            agents=["Engineering Expert", "Product Expert", "Architecture Expert"],
            mode="full",
        )
        if await engine.run():
            print(engine.verdict.answer)
    """

    def __init__(
        self,
        topic: str,
        agents: Sequence[str] | None = None,
        mode: str = "full",
        *,
        output_dir: str | Path | None = None,
        table: Roundtable | None = None,
        **options: Any,
    ) -> None:
        """Without `agents` three experts are chosen for the topic. `mode` is "pre-ac", the plan
        without a single call to a model, or "full". With `output_dir` the reports are written
        there. `table` is one that is open already; without it the user's own is opened. `options`
        are those of the procedure, such as `strict_rounds=True`.
        """
        if mode not in MODES:
            raise BadSetting("RoundTableEngine", "mode", " or ".join(MODES))
        self.topic = topic
        self.agents = None if agents is None else tuple(agents)
        self.mode = mode
        self.state: State | None = None
        """The discussion as it ended; None before the run and if it could not be opened."""
        self.error: RoundtableError | None = None
        """Why the run failed, if it did not even come to an end."""
        self.files: tuple[Path, ...] = ()
        """The reports that were written."""
        self._output_dir = None if output_dir is None else Path(output_dir)
        self._table = table
        self._options = options

    @property
    def verdict(self) -> DeliveredVerdict | None:
        """As `Roundtable.ask` returns it."""
        return delivered(self.state) if self.state else None

    async def run(self) -> bool:
        """Hold the discussion. True if it came to its verdict; False, with `error` or the state's
        closing to tell why, if it did not. Nothing is invented to make up for it."""
        self.error = None
        try:
            if self._table is not None:
                await self._hold(self._table)
            else:
                async with Roundtable() as table:
                    await self._hold(table)
        except RoundtableError as error:
            self.error = error
            return False
        return self.state is not None and self.state.status == "concluded"

    async def _hold(self, table: Roundtable) -> None:
        options = dict(self._options)
        if self.agents is not None:
            options["agents"] = self.agents
        opened = await table.open(
            self.topic, procedure="five-round", depth=self.mode, created_by="engine", **options
        )
        self.state = await table.run(opened.discussion_id)
        if self._output_dir is not None:
            folder = self._output_dir
            self.files = tuple(write_outputs(self.state, folder, folder=folder))
