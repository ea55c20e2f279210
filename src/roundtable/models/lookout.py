"""The lookout: who can speak now, for a whole process.

It holds what does not change (the registry, the settings about models) and what is learnt
meanwhile: what endpoints say they have, and which names turned out to mean nothing there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

from ..core.agents import CommandAgent
from ..core.model_trouble import ModelTrouble
from .discovery import EVERYBODY, Asking, discover, known_before
from .found import Found
from .lists import ModelLists
from .registry import Registry


class Lookout:
    """Looks around, and remembers what it saw last."""

    def __init__(
        self,
        registry: Registry,
        env: Mapping[str, str],
        lists: ModelLists,
        *,
        default_model: str | None,
        local_servers: bool,
        ask: bool,
        agents: Mapping[str, CommandAgent],
        naming: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """`ask`: whether endpoints may be asked for their lists; `local_servers`: whether those of
        this machine are looked for; `naming`: tells where a `default_model` stands that is none."""
        self.registry = registry
        self._env = env
        self._lists = lists
        self._default_model = default_model
        self._local_servers = local_servers
        self._ask = ask
        self._agents = agents
        self._naming = naming
        self._known: Registry | None = None

    async def look(self, *, probe: bool = True, asking: Asking = "when stale") -> Found:
        """What can speak now. Without `probe` no server of this machine is looked for."""
        with self._naming():
            found = await discover(
                self.registry,
                self._env,
                default_model=self._default_model,
                probe=probe and self._local_servers,
                agents=self._agents,
                lists=self._lists,
                # Whoever wants all to be asked now means it.
                asking=asking if self._ask or asking in EVERYBODY else "never",
            )
        self._known = found.registry
        return found

    def cost(
        self, model_id: str, input_tokens: int, output_tokens: int, cached_tokens: int = 0
    ) -> float | None:
        """US dollars for one call at the addresses that are in use; None if nobody knows."""
        if self._known is None:  # whoever drives what others opened calls without having looked
            self._known = known_before(self.registry, self._env, self._lists)
        return self._known.cost(model_id, input_tokens, output_tokens, cached_tokens)

    def why_unusable(self, provider_id: str, name: str) -> ModelTrouble | None:
        """Why a model cannot be used at an endpoint, if it said so lately."""
        return self._lists.unusable(self.registry.providers[provider_id], self._env).get(name)

    def unusable(self) -> frozenset[str]:
        """The ids of all models that turned out lately to be of no use where they were asked for.
        Whoever asks everybody for their lists anew makes that forgotten."""
        return frozenset(
            f"{provider.id}/{name}"
            for provider in self.registry.providers.values()
            for name in self._lists.unusable(provider, self._env)
        )

    def note_unusable(self, provider_id: str, name: str, trouble: ModelTrouble) -> None:
        """A model cannot be used at an endpoint: it is not asked for it again, nor is anybody
        seated on it."""
        self._lists.note_unusable(self.registry.providers[provider_id], self._env, name, trouble)
