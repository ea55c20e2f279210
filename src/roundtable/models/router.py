"""The router: what the user's files say and what was found, joined for `route`."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import UnknownName
from .found import Found
from .routing import RoutableModel, Route, Vacancy, route
from .routing_files import RoutingFiles


class Router:
    """Gives each seat a model."""

    def __init__(self, found: Found, files: RoutingFiles, *, own: Sequence[str] = ()) -> None:
        """`own` are the models that the user's settings name for the seats."""
        self._found = found
        self._own = [found.registry.resolve(name).id for name in own]
        self._local = files.local
        self._declared = [each for each in files.declared if found.usable(each.id)]
        self._candidates = routable_models(found)

    def known(self, name: str) -> str | None:
        """The model that a name means; None where it means none: whoever seats it says so."""
        try:
            return self._found.registry.resolve(name).id
        except UnknownName:
            return None

    def route(self, vacancies: Sequence[Vacancy]) -> list[Route]:
        """A model for each seat, in order. UnknownName if a call names one that does not exist.

        A model that the call or `local_models.json` names is taken even if it cannot be used now:
        whoever seats it says so, and finds a substitute.
        """
        resolve = self._found.registry.resolve
        return route(
            [
                Vacancy(v.seat, v.role, v.needs, resolve(v.model).id if v.model else None)
                for v in vacancies
            ],
            local=self._local,
            declared=self._declared,
            own=self._own,
            found=self._candidates,
            one_model=self._found.default_model,
        )


def routable_models(found: Found) -> list[RoutableModel]:
    """The models that can be used now, in the order of discovery. A demonstration is nobody's
    first choice: it speaks when there is nothing else."""
    entries = [
        found.registry.resolve(model)
        for provider in found.by_themselves
        for model in provider.models
    ]
    return [
        RoutableModel(entry.id, entry.tags, entry.family)
        for entry in entries
        if entry.tier != "demonstration"
    ]
