"""What was found: who can speak now, in order of preference, and who stands in for whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..core import model_trouble
from ..core.addresses import address_parts, is_this_machine
from ..core.errors import NoModel
from ..core.model_trouble import ModelTrouble
from .endpoint import Endpoint
from .endpoint_list import REFUSED, UNFIT, EndpointList
from .entry import ModelEntry
from .provider import Provider
from .registry import Registry

EMBEDDED = "local"
EMBEDDED_MODEL = f"{EMBEDDED}/smollm2-135m"


class Trouble(NamedTuple):
    """Why nothing of a provider speaks by itself, and what to do."""

    told: str
    remedy: str


@dataclass(frozen=True, slots=True)
class FoundProvider:
    """A provider that is set up: there is a way to it."""

    id: str
    label: str
    how: str
    """The setting, the variable or the address that makes it usable; never a key."""
    models: tuple[str, ...]
    """Full ids, the preferred ones first: what it says it has, else what the registry lists."""
    only_these: bool
    """Whether it has no other models than these."""
    by_name: bool = False
    """Speaks only where it is named: it is nobody's default, substitute or routed model."""
    listed: bool = False
    """Whether the models are its own list."""
    heard: EndpointList | None = None
    """What it said when it was asked for its models, if it ever was."""
    unusable: Mapping[str, ModelTrouble] = field(default_factory=dict)
    """Names that turned out to be of no use there, and why."""

    @property
    def refused(self) -> bool:
        """Whether its key is known not to open the door."""
        return self.heard is not None and self.heard.heard in REFUSED

    @property
    def shut(self) -> bool:
        """Whether nothing is ever sent to it with the key or the address that there is."""
        return self.heard is not None and self.heard.heard in UNFIT

    @property
    def trouble(self) -> Trouble | None:
        """Why none of its models can be used by itself; None if one can, as far as is known."""
        heard = self.heard
        if heard is None:
            told = f"{self.label} has not been asked for its models yet."
            asked = self.models or self.by_name
            return None if asked else Trouble(told, "`roundtable models --refresh` asks it.")
        if heard.heard == "listed":
            return None if self.models else self._nothing_of_its_list(heard)
        if heard.heard in ("no list", "no models") and self.models:
            return None
        return Trouble(heard.told, heard.remedy)

    def _nothing_of_its_list(self, heard: EndpointList) -> Trouble:
        told = "; ".join(
            f"{name} {model_trouble.TOLD[self.unusable[name]]}"
            for row in heard.listing.models[:_TOLD]
            if (name := row.name) in self.unusable
        )
        count = len(heard.listing.models)
        more = f"; and {count - _TOLD} more" if count > _TOLD else ""
        lists = f"{self.label} lists {count} model{'' if count == 1 else 's'}, and none can be used"
        unknown: ModelTrouble = "unknown"
        first = next(iter(self.unusable.values()), unknown)
        own = "" if first in ("unknown", "retired") else model_trouble.REMEDIES[first]
        return Trouble(f"{lists}: {told}{more}.", f"{own} {ASK_AGAIN}".strip())


_TOLD = 4
"""Names of a list in one sentence."""
ASK_AGAIN = "`roundtable models --refresh` asks what it has now."


@dataclass(frozen=True, slots=True)
class Missing:
    """A provider that could be used if a variable were set."""

    id: str
    label: str
    variable: str
    get: str


@dataclass(frozen=True)
class Found:
    """The result: who can speak, in order of preference."""

    registry: Registry
    providers: tuple[FoundProvider, ...]
    missing: tuple[Missing, ...]
    configured_default: str | None = None
    """The model id that the user's settings name, usable or not."""
    endpoints: Mapping[str, Endpoint] = field(default_factory=dict)
    """Where providers are served now, by id."""
    silent: tuple[EndpointList, ...] = ()
    """What servers of this machine said in place of a list: those that a variable names, and those
    that have no model."""

    def usable(self, model_id: str) -> bool:
        """Whether a model can be called now, as far as can be known without calling it."""
        entry = self.registry.resolve(model_id)
        if self.registry.providers[entry.provider].kind == "scripted":
            return True
        there = self.endpoints.get(entry.provider)
        if there is not None and entry.name in there.unusable:
            return False
        return any(_serves(each, entry) for each in self.providers if not each.shut)

    def elsewhere(self, model_id: str, count: int) -> tuple[str, ...]:
        """Models of the same endpoint for a seat whose own turns out not to exist: the likest
        first, of other families before the same again. For one of this machine only others of this
        machine. None where the endpoint does not say what it has."""
        wanted = self.registry.resolve(model_id)
        provider = next((each for each in self.by_themselves if each.id == wanted.provider), None)
        if provider is None or not provider.listed:
            return ()
        only_here = self.here(wanted)
        others = [self.registry.resolve(m) for m in provider.models if m != wanted.id]
        others = [each for each in others if not only_here or self.here(each)]
        others.sort(key=lambda each: _likeness(wanted, each), reverse=True)
        return tuple(each.id for each in others[:count])

    @property
    def by_themselves(self) -> tuple[FoundProvider, ...]:
        """The providers that may be chosen without being named. Those whose key is refused are not
        among them, unless there is nobody else: then they say best what is wrong."""
        free = tuple(provider for provider in self.providers if not provider.by_name)
        let_in = tuple(provider for provider in free if not provider.refused)
        return let_in if any(each.id != EMBEDDED for each in let_in) else free

    @property
    def default_model(self) -> str:
        """The user's default if it is usable, else the best general model of the best provider; in
        the place of one of this machine only another of this machine. Empty where nobody can
        speak: the demonstration model, where it is installed, stands in for nothing at all, never
        for what somebody wanted."""
        if self.configured_default is not None and self.usable(self.configured_default):
            return self.configured_default
        named = self.configured_default
        only_here = named is not None and self.here(self.registry.resolve(named))
        for provider in self.by_themselves:
            if provider.id == EMBEDDED or provider.shut:
                continue
            preferred = self.registry.providers[provider.id].default_model
            models = [each for each in provider.models if not only_here or self._is_here(each)]
            if preferred in models and self.usable(preferred):
                return preferred
            if models:
                return max(models, key=self._generality)
        installed = any(each.id == EMBEDDED for each in self.providers)
        return EMBEDDED_MODEL if installed and not self.set_up else ""

    @property
    def set_up(self) -> bool:
        """Whether the user has set up anything that is to speak by itself."""
        others = any(each.id != EMBEDDED for each in self.providers if not each.by_name)
        return others or bool(self.silent) or self.configured_default is not None

    def why_nobody(self, wanted: str = "") -> Trouble | None:
        """Why nobody can speak, as far as those who should have said so; None where nothing was set
        up at all."""
        if not self.set_up:
            return None
        troubles = [each.trouble for each in self.providers if each.trouble]
        troubles += [Trouble(each.told, each.remedy) for each in self.silent if each.told]
        told = [each.told for each in troubles]
        remedies = [each.remedy for each in troubles]
        named = wanted or self.configured_default or ""
        if named and not self.usable(named):
            entry = self.registry.resolve(named)
            open_ = any(each.id == entry.provider for each in self.providers)
            told.insert(0, f"{named} cannot be used now.")
            remedies += [] if open_ else [self.opener(entry)]
        return Trouble(" ".join(told), " ".join(dict.fromkeys(filter(None, remedies))))

    def no_model(self, wanted: str = "") -> NoModel:
        """The error for whoever wants a model and gets none."""
        why = self.why_nobody(wanted)
        return NoModel(wanted) if why is None else NoModel(wanted, why.told, why.remedy)

    def why_not(self, model_id: str) -> Trouble:
        """Why a model cannot be used now, after its name and `which`."""
        entry = self.registry.resolve(model_id)
        there = self.endpoints.get(entry.provider)
        if there is not None and entry.name in there.unusable:
            trouble = there.unusable[entry.name]
            return Trouble(model_trouble.TOLD[trouble], model_trouble.REMEDIES[trouble])
        provider = next((each for each in self.providers if each.id == entry.provider), None)
        if provider is None:
            return Trouble("cannot be used now", self.opener(entry))
        # The key is there: it is the model that is not.
        remedy = "roundtable models shows what it has."
        if there is None or not there.listed:
            return Trouble("cannot be used now", remedy)
        what = "this server does not have" if there.foreign else "the provider does not list"
        return Trouble(what, remedy)

    def opener(self, entry: ModelEntry) -> str:
        """What lets a model be called whose provider is not there: a key, or the address under
        which it was known when it was chosen."""
        provider = self.registry.providers[entry.provider]
        if not (entry.guessed and provider.vendor_hosts and provider.base_url_env):
            return provider.get
        return (
            f"If it runs on your own server, set {provider.base_url_env[0]} to that server's "
            f"address again. If it is a model of {provider.label}: {provider.get}"
        )

    def substitute(self, entry: ModelEntry) -> str:
        """The nearest usable model: the same one elsewhere, its family, its provider, its tags.

        Itself when it is usable; the default model when nothing resembles it. For a model of this
        machine only another of this machine; empty where there is none.
        """
        if self.usable(entry.id):
            return entry.id
        only_here = self.here(entry)
        ranked = [
            (_likeness(entry, candidate), -place, candidate.id)
            for place, candidate in enumerate(self._candidates())
            if not only_here or self.here(candidate)
        ]
        default = self.default_model
        usual = default if not only_here or (default and self._is_here(default)) else ""
        if not ranked:
            return usual
        likeness, _, best = max(ranked)
        if not any(likeness):
            return usual or best
        alike = [id_ for found, _, id_ in ranked if found == likeness]
        if len(alike) > 1 and not self.resembled(entry):
            # Nothing speaks for one of them: different models get different ones in their place.
            return alike[self._place(entry) % len(alike)]
        return best

    def here(self, entry: ModelEntry) -> bool:
        """Whether what a model is sent stays on this machine; of a server that does not run, where
        it would be. Command-line agents, proxies and what a server passes on go to a vendor."""
        provider = self.registry.providers[entry.provider]
        if provider.kind in ("local", "scripted"):
            return True
        if provider.kind == "command" or provider.proxy or entry.runs_elsewhere:
            return False
        return self._served_here(provider)

    def passed_on(self, entry: ModelEntry) -> bool:
        """Whether a server of this machine has another one, elsewhere, answer for a model."""
        return entry.runs_elsewhere and self._served_here(self.registry.providers[entry.provider])

    def _served_here(self, provider: Provider) -> bool:
        address = self.registry.place_of(provider.id) or provider.base_url or ""
        return is_this_machine(address_parts(address).hostname or "")

    def _is_here(self, model_id: str) -> bool:
        return self.here(self.registry.resolve(model_id))

    def nobody_here(self, entry: ModelEntry) -> NoModel:
        """The error for whoever wants a model of this machine where none can speak."""
        why = self.why_not(entry.id)
        told = f"{entry.id} {why.told}, and no other model of this machine can speak in its place."
        remedy = f"{why.remedy.rstrip('.')}. Or name another model."
        return NoModel(entry.id, told, remedy, so="No discussion was started.")

    def resembled(self, entry: ModelEntry) -> bool:
        """Whether anything that can be used is known to be like a model: of its family, or with
        abilities that are not merely supposed."""
        return any(
            each.family == entry.family
            or (_tags_are_known(each) and not set(each.tags).isdisjoint(entry.tags))
            for each in self._candidates()
        )

    def _candidates(self) -> list[ModelEntry]:
        """Who may stand in for somebody, in order of preference."""
        found = [self.registry.resolve(m) for each in self.by_themselves for m in each.models]
        return [each for each in found if each.tier != "demonstration"]

    def _place(self, entry: ModelEntry) -> int:
        """A number for a model, by its family and strength: the same in every process."""
        rows = {(each.family, each.tier): None for each in self.registry.models.values()}
        kind = (entry.family, entry.tier)
        return list(rows).index(kind) if kind in rows else len(rows)

    def _generality(self, model_id: str) -> int:
        """For a server's own list: prefer what is known to be general, and among those what is
        known at all; the first wins a tie."""
        entry = self.registry.resolve(model_id)
        known = not entry.guessed and entry.tier != "small"
        return ("general" in entry.tags) + ("balanced" in entry.tags) + known


def _serves(provider: FoundProvider, entry: ModelEntry) -> bool:
    if provider.id != entry.provider:
        return False
    if provider.by_name:
        return entry.id.partition(":")[0] in provider.models
    if entry.id in provider.models or f"{entry.id}:latest" in provider.models or entry.own:
        return True
    if provider.only_these:
        return False
    # A vendor may have more than it lists, but not what we only know from former times.
    return not provider.listed or entry.guessed


def _likeness(wanted: ModelEntry, candidate: ModelEntry) -> tuple[int, int, int]:
    """How near a candidate comes, the weightiest reason first. All zero: not at all.

    Like strength counts as two tags: a cheap seat must not become a dear one for a word.
    """
    same_family = wanted.family == candidate.family
    shared_tags = len(set(wanted.tags) & set(candidate.tags))
    return (
        same_family + (same_family and _bare(wanted.name) == _bare(candidate.name)),
        int(wanted.provider == candidate.provider),
        shared_tags + 2 * (shared_tags > 0 and wanted.tier == candidate.tier),
    )


def _tags_are_known(entry: ModelEntry) -> bool:
    return not entry.guessed and (not entry.added or "tags" in entry.own)


def _bare(name: str) -> str:
    """A model's name without what servers put around it."""
    return name.rpartition("/")[2].replace(".", "-").casefold()
