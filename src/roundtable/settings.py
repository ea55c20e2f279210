"""Settings: everything a user can configure, typed, read once, each value with its origin.

From the strongest to the weakest: the environment (`ROUNDTABLE_…`), the project's
`roundtable.toml` in the current folder, the user's `config.toml` and `config.json` in
ROUNDTABLE_HOME, and the built-in defaults; of several limits the lowest counts. A project's file
counts only once it is trusted (`trust.py`), and then for some settings only (`project.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import cycle
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from .config_files import WHOLE, json_object, placed, refuse_home, text_at, text_of, toml_table
from .core.agents import BUILT_IN, CommandAgent, completed
from .core.errors import BadSetting, UnknownName, UsageError
from .core.limits import Limits
from .core.notifications_plan import Address, NotificationSettings, output_channel
from .core.values import Budget, NewsPlan, Pace, Value
from .procedures.checking import checked, checked_limits, split_list
from .procedures.council.options import CouncilConfig, models_of
from .project import (
    PANELS_JSON,
    PROJECT_TOML,
    capped,
    lowest,
    models_named,
    project_choices,
    project_panels,
    tightened,
)
from .trust import EXPERTS, PROCEDURES, STORE, Folder, Trust

CONFIG_TOML = "config.toml"
CONFIG_JSON = "config.json"
MODELS_TOML = "models.toml"
DATABASE = "roundtable.db"

ENVIRONMENT = {
    "ROUNDTABLE_DB": "db",
    "ROUNDTABLE_DB_LISTEN": "db_listen",
    "ROUNDTABLE_DB_PATIENCE": "db_patience",
    "ROUNDTABLE_DRIVE": "drive",
    "ROUNDTABLE_MODEL": "default_model",
    "ROUNDTABLE_MODELS": "models",
    "ROUNDTABLE_PROCEDURE": "procedure",
    "ROUNDTABLE_LANGUAGE": "language",
    "ROUNDTABLE_FALLBACK_MODEL": "fallback_model",
    "FALLBACK_MODEL": "fallback_model",
    "ROUNDTABLE_CONCURRENCY": "concurrency",
    "ROUNDTABLE_LOCAL_SERVERS": "local_servers",
    "ROUNDTABLE_COMMAND_AGENTS": "command_agents",
    "ROUNDTABLE_MODEL_LISTS": "model_lists",
    "ROUNDTABLE_CASTING": "casting",
    "ROUNDTABLE_SEARCH": "search",
    "ROUNDTABLE_WEB": "web",
    "ROUNDTABLE_WEB_PORT": "web_port",
    "ROUNDTABLE_BROWSER": "browser",
    "ROUNDTABLE_METRICS": "metrics",
    "SEARXNG_URL": "searxng_url",
}
"""The variables that are read, and the settings they set; a later one wins."""
CAPS = {
    "ROUNDTABLE_MAX_COST": "max_cost_usd",
    "ROUNDTABLE_MAX_CALLS": "max_calls",
    "ROUNDTABLE_MAX_TOKENS": "max_tokens",
    "ROUNDTABLE_MAX_TIME": "max_seconds",
}
"""The variables that no discussion of this process may pass."""
OUTPUT_CHANNEL = "ROUNDTABLE_OUTPUT_CHANNEL"
"""Where news of discussions go, stronger than any file."""


class BoardSetting(Value):
    """One task board."""

    kind: Literal["github", "webhook", "command"]
    repo: str = ""
    """GitHub: owner/name."""
    url: str = ""
    """The webhook's address, or GitHub's API where it is not the public one."""
    token_env: str = ""
    """The variable that holds the token; it is read when something is written."""
    command: tuple[str, ...] = ()
    """The program and its first arguments."""


class OwnerSetting(Value):
    """Who an owner is on the board, and which channel hears of its tasks."""

    account: str = ""
    channel: str = ""


class ChatSetting(Value):
    """Who may ask the table in a chat."""

    allow: tuple[str, ...] = ()
    """The ids of chats that may ask: every question costs money, so nobody else may."""
    dedicated: tuple[str, ...] = ()
    """The ids of chats in which every message is a topic."""
    telegram_api: str = "https://api.telegram.org"


class ProfileSetting(Value):
    """What an agent that calls itself by this profile may use."""

    toolsets: tuple[str, ...] = ()


class MonthlySetting(Value):
    """What may be spent in a month, in US dollars; None: no limit."""

    each_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """By everybody who holds a token that has no budget of its own."""
    all_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """By all together, the owner too."""


class WaitingSetting(Value):
    """How many discussions may wait for workers or be driven; more are refused for a while."""

    each: int = Field(default=1_000, ge=1)
    """Of one user."""
    everybodys: int = Field(default=20_000, ge=1)


OnSecrets = Literal["refuse", "redact", "send"]
"""What becomes of likely secrets in a question and its context."""


class Choices(Value):
    """What a file may set."""

    db: str | None = None
    db_listen: str | None = None
    """Where `db` goes through a pooler: the same database without it, to hear others."""
    db_patience: float = Field(default=300.0, ge=0)
    """Seconds for which a discussion waits for a database that went away under it."""
    drive: Literal["auto", "here", "workers"] = "auto"
    """Who drives what a page, a tool or a chat opens: workers where some are there, the process
    that opened it, or always workers."""
    default_model: str | None = None
    """The host's, and everybody's where there are no `models`."""
    models: tuple[str, ...] = ()
    """Those of the seats, in turn; none: as different ones as are found."""
    procedure: str = "deliberation"
    language: str | None = None
    fallback_model: str | None = None
    """The last speaker of every seat's chain."""
    fallbacks: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Further speakers for a seat that was given to this model, in order."""
    casting: Literal["host", "library"] = "host"
    """Who seats a table for which nobody was named: the host, in one call, where a model is there
    that reasons; or the library alone."""
    concurrency: int | None = Field(default=None, ge=1)
    """Calls at once to one provider, whichever; None: as many as suit its kind."""
    local_servers: bool = True
    """Whether to look for Ollama, LM Studio and llama.cpp on this machine."""
    model_lists: bool = True
    """Whether endpoints are asked which models they have; otherwise only what is known of them
    from before, and the registry, counts."""
    command_agents: bool = True
    """Whether to look for claude, codex, gemini, opencode and the user's own on PATH."""
    commands: dict[str, CommandAgent] = Field(default_factory=dict)
    """The user's own command-line agents, and changes to those that are built in."""
    search: Literal["searxng", "tavily", "brave", "ddgs", "none"] | None = None
    """The web search; None takes what the environment offers."""
    searxng_url: str | None = None
    web: bool | None = None
    """Whether a run shows its page: true serves it also where there is no screen, false never
    mentions it, None opens it where somebody sits at a screen and it is installed."""
    web_port: int = Field(default=8199, ge=0, le=65_535)
    """The port of the page, or the first one to try."""
    browser: str | None = None
    """The command that shows a page; `{url}` in it stands for the address. None: the system's."""
    metrics: str | None = None
    """HOST:PORT where a process that stays shows its figures to Prometheus; None: nowhere."""
    chat: ChatSetting = ChatSetting()
    boards: dict[str, BoardSetting] = Field(default_factory=dict)
    """Task boards by name."""
    owners: dict[str, OwnerSetting] = Field(default_factory=dict)
    """The owners of action items, as the table names them, and where to find them."""
    profiles: dict[str, ProfileSetting] = Field(default_factory=dict)
    """The toolsets of each profile; where there are any, others may use no tools."""
    signers: dict[str, Annotated[str, Field(pattern=r"^[0-9a-fA-F]{64}$")]] = Field(
        default_factory=dict
    )
    """Whose public keys are known, by name: bundles that they signed are told from others."""
    channels: dict[str, Address] = Field(default_factory=dict)
    """Where news can go, by name."""
    news: NotificationSettings = NotificationSettings()
    """Who is told of new discussions."""
    secrets: OnSecrets = "refuse"
    """What becomes of likely secrets in a question or its context: nothing is sent, it is sent
    without them, or as it is."""
    budget: Budget = Budget()
    """What a discussion may spend where nobody says otherwise; who asks may say more or less."""
    caps: Budget = Budget()
    """What no discussion may pass, whoever asks for more."""
    monthly: MonthlySetting = MonthlySetting()
    """What users may spend in a month."""
    waiting: WaitingSetting = WaitingSetting()
    """What may wait for workers."""
    pace: Pace = Pace()
    """How long speakers may keep silent, and how much they think, where nobody says otherwise."""
    council: dict[str, Any] = Field(default_factory=dict)
    adaptive: dict[str, Any] = Field(default_factory=dict)
    """What panels.json holds, without what is built in."""

    @field_validator("models", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return split_list(value) if isinstance(value, str) else value

    @field_validator("commands", mode="before")
    @classmethod
    def _over_the_built_in(cls, value: object) -> object:
        return completed(value)


SET_UP_ANEW = "Correct it and run again; or set up anew, it is kept: roundtable setup"
SET_UP = {
    "procedure": "procedure",
    "host": "default_model",
    "budget": "budget",
    "search": "search",
    "web": "web",
}
"""What config.json says for every procedure, by the names of the settings; the rest of it is the
council's."""


def of_set_up(stored: Mapping[str, Any], where: str) -> dict[str, Any]:
    """What config.json holds, which the set-up writes, as settings. The models and the language
    that were chosen for the council are everybody's. UnknownName or BadSetting says what is wrong
    with it."""
    stored = checked_limits(stored, where)
    known = (*SET_UP, *CouncilConfig.model_fields, "version")
    if stray := next((key for key in stored if key not in known), None):
        raise UnknownName(f"key in {where}:", stray, known)
    council = {key: value for key, value in stored.items() if key not in SET_UP}
    parsed = CouncilConfig.parse(council, where)
    # Whoever set the council up alone means to use it.
    choices: dict[str, Any] = {"procedure": "council", "council": council}
    choices |= {name: stored[key] for key, name in SET_UP.items() if key in stored}
    if models := models_of(parsed):
        choices["models"] = models
    if parsed.language:
        choices["language"] = parsed.language
    try:
        checked(Choices, choices, where)
    except BadSetting as error:
        # By the name that it has in this file.
        first, dot, rest = error.key.partition(".")
        called = next((key for key, name in SET_UP.items() if name == first), first)
        raise BadSetting(where, f"{called}{dot}{rest}", error.expected, error.remedy) from None
    return choices


class Settings(Value):
    """The settings of one process."""

    home: Path
    workspace: Path
    choices: Choices = Choices()
    origins: dict[str, str] = Field(default_factory=dict)
    """Where each setting that is not built in comes from."""
    without: frozenset[str] = frozenset()
    """The names of files that are broken and were left out."""
    project_models: tuple[str, ...] = ()
    """What a trusted project calls its models; none of them may be a program."""

    @property
    def usual_limits(self) -> Limits:
        """What a discussion may spend where nobody says otherwise."""
        return Limits.of(self.choices.budget, self._origins("budget"))

    @property
    def caps(self) -> Limits:
        """What no discussion may pass, whoever asks for more."""
        return Limits.of(self.choices.caps, self._origins("caps"))

    def _origins(self, table: str) -> dict[str, str]:
        """Where each limit of a table of the settings comes from, in words."""
        found = {}
        for name in Budget.model_fields:
            where = self.origins.get(f"{table}.{name}", "")
            if where == PROJECT_TOML:
                found[name] = f"the project's {PROJECT_TOML}"
            elif where:
                found[name] = where if where in CAPS else f"[{table}] in {Path(where).name}"
        return found

    @property
    def trust(self) -> Trust:
        """The user's trust in the files of the workspace."""
        return Trust(self.home, self.workspace, believed=STORE not in self.without)

    @property
    def db(self) -> str:
        """The ledger's address, or the full path of its file."""
        chosen = self.choices.db or str(self.home / DATABASE)
        return chosen if "://" in chosen else str(self.workspace.absolute() / chosen)

    @property
    def server(self) -> str | None:
        """The database server of the ledger, without a pooler if such an address is known; None
        where the ledger is a file."""
        return (self.choices.db_listen or self.db) if "://" in self.db else None

    @property
    def models_file(self) -> Path | None:
        path = self.home / MODELS_TOML
        there = path.exists() or path.is_symlink()
        return path if there and MODELS_TOML not in self.without else None

    @property
    def agents(self) -> dict[str, CommandAgent]:
        """The command-line agents that may be looked for, by name."""
        return {**BUILT_IN, **self.choices.commands} if self.choices.command_agents else {}

    def notifications_for(self, procedure: str) -> NewsPlan | None:
        """Who is told of a new discussion where nobody says otherwise; None: nobody. An adaptive
        discussion goes where panels.json wants its output, unless the environment says where."""
        news = self.choices.news
        if procedure != "adaptive":
            return news.plan()
        output = self.choices.adaptive.get("output", {})
        if self.origins.get("news") != OUTPUT_CHANNEL:
            return news.plan(output_channel(output))
        threads = bool(output.get("useThreads"))
        return news.plan(
            [each.model_copy(update={"threads": each.threads or threads}) for each in news.channels]
        )

    @property
    def council_config(self) -> Path:
        return self.home / CONFIG_JSON

    def with_model(self, model: str) -> Settings:
        """The same with this model for everybody."""
        choices = self.choices.model_copy(update={"default_model": model, "models": ()})
        return self.model_copy(update={"choices": choices})

    @property
    def council_defaults(self) -> dict[str, Any]:
        """What the council is held with where nobody says otherwise."""
        council = self.choices.council
        models = self.choices.models
        if not models or council.get("preset") or council.get("models"):
            return council
        roles = dict(zip(("scholar", "engineer", "muse"), cycle(models), strict=False))
        return {**council, "models": roles}

    @property
    def adaptive_defaults(self) -> dict[str, Any]:
        """What panels.json says, over panels of the models that were chosen."""
        models = self.choices.models
        if not models:
            return self.choices.adaptive
        from .procedures.adaptive.panels import laid_over, panels_of

        return laid_over(panels_of(models), self.choices.adaptive)

    @property
    def expert_folders(self) -> tuple[Folder, Folder]:
        """Where the user's own experts are, the weaker place first."""
        return Folder(self.home / "experts"), Folder(self.workspace / EXPERTS, self.trust)

    @property
    def procedure_folders(self) -> tuple[Folder, Folder]:
        """Where the user's own procedures are, the weaker place first."""
        return Folder(self.home / "procedures"), Folder(self.workspace / PROCEDURES, self.trust)

    @property
    def routing_folders(self) -> tuple[Folder, Folder]:
        """Where the files that route models are, the weaker place first."""
        return Folder(self.home), Folder(self.workspace, self.trust)

    @property
    def cache(self) -> Path:
        """What can be made anew at any time."""
        return self.home / "cache"

    @property
    def lists_folder(self) -> Path:
        """What endpoints said they have."""
        return self.cache / "lists"


def home_folder(env: Mapping[str, str]) -> Path:
    """ROUNDTABLE_HOME, or the platform's folder for a user's data."""
    if env.get("ROUNDTABLE_HOME"):
        home = Path(env["ROUNDTABLE_HOME"]).expanduser()
    else:
        from platformdirs import user_data_path

        home = user_data_path("roundtable", appauthor=False)
    if not home.is_absolute():
        # It would lie in whatever folder is the current one, which may be somebody else's.
        raise BadSetting("the environment", "ROUNDTABLE_HOME", "the full path of a folder")
    refuse_home(home)
    return home


def _number(text: str) -> float | str:
    """What a variable says, as the number that it is; itself if it is none."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def read_settings(
    env: Mapping[str, str],
    workspace: Path,
    *,
    forgive: Callable[[str, UsageError], None] | None = None,
) -> Settings:
    """Read all sources. BadSetting, NewerFile or UnknownName names the file, the key and what was
    expected.

    With `forgive` a file that is broken is told by its name and left out, unless that raises.
    """
    home = home_folder(env)
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    without: set[str] = set()

    def lay_over(source: Mapping[str, Any], where: str) -> None:
        laid = dict(values)
        # Whoever names one model means everybody.
        one = "default_model" in source and "models" not in source
        if one and laid.pop("models", None):
            origins["models"] = where
        for key, value in source.items():
            both = isinstance(value, dict) and isinstance(laid.get(key), dict)
            laid[key] = {**laid[key], **value} if both else value
        checked(Choices, laid, where)
        CouncilConfig.parse(source.get("council", {}), where)
        values.clear()
        values.update(laid)
        for key, value in source.items():
            origins[key] = where
            if isinstance(value, dict):
                origins.update((f"{key}.{inner}", where) for inner in value)

    def lay_panels_over(panels: Mapping[str, Any], path: Path) -> None:
        if panels:
            from .procedures.adaptive.panels import Panels, laid_over

            Panels.parse(panels, str(path))
            before = {key: where for key, where in origins.items() if key.startswith("adaptive.")}
            lay_over({"adaptive": laid_over(values.get("adaptive", {}), panels)}, str(path))
            weaker = (key for key in before if key.partition(".")[2] not in panels)
            origins.update((key, before[key]) for key in weaker)

    @contextmanager
    def source(name: str) -> Iterator[None]:
        try:
            yield
        except UsageError as error:
            if name == CONFIG_JSON and isinstance(error, BadSetting) and error.key != WHOLE:
                error = BadSetting(error.where, error.key, error.expected, SET_UP_ANEW)
            if forgive is None:
                raise error from None
            forgive(name, error)
            without.add(name)

    with source(CONFIG_JSON):
        path = home / CONFIG_JSON
        text = text_at(path, ours=True)
        if stored := json_object(text, str(path)):
            with placed(text, str(path)):
                lay_over(of_set_up(stored, str(path)), str(path))
    with source(PANELS_JSON):
        path = home / PANELS_JSON
        text = text_at(path, ours=True)
        with placed(text, str(path)):
            lay_panels_over(json_object(text, str(path)), path)
    with source(CONFIG_TOML):
        path = home / CONFIG_TOML
        text = text_at(path, ours=True)
        with placed(text, str(path)):
            read = checked_limits(toml_table(text, str(path)), str(path))
            checked(Choices, read, str(path))
            lay_over(lowest(read, values, str(path)), str(path))
    with source(STORE):
        Trust(home, workspace).files()
    trust = Trust(home, workspace, believed=STORE not in without)
    for variable, limit in CAPS.items():
        if env.get(variable):
            cap = checked(Budget, {limit: _number(env[variable])}, variable)
            lay_over(capped(cap.model_dump(exclude_none=True), values), variable)
    project: dict[str, Any] = {}
    panels: dict[str, Any] = {}
    with source(PROJECT_TOML):
        if (data := trust.read(workspace / PROJECT_TOML)) is not None:
            with placed(text_of(data, PROJECT_TOML), PROJECT_TOML):
                read = project_choices(data, home, Choices.model_fields)
                checked(Choices, read, PROJECT_TOML)
                lay_over(tightened(read, values), PROJECT_TOML)
                if "budget" in read:
                    limits = checked(Budget, read["budget"], PROJECT_TOML)
                    lay_over(capped(limits.model_dump(exclude_none=True), values), PROJECT_TOML)
                project = read
    with source(PANELS_JSON):
        if (data := trust.read(workspace / PANELS_JSON)) is not None:
            read = project_panels(data, workspace / PANELS_JSON, home)
            lay_panels_over(read, workspace / PANELS_JSON)
            panels = read
    for variable, key in ENVIRONMENT.items():
        if env.get(variable):
            lay_over({key: env[variable]}, variable)
    if env.get(OUTPUT_CHANNEL):
        lay_over({"news": {"channels": [env[OUTPUT_CHANNEL]]}}, OUTPUT_CHANNEL)
    choices = checked(Choices, values, "settings")
    return Settings(
        home=home,
        workspace=workspace,
        choices=choices,
        origins=origins,
        without=frozenset(without),
        project_models=models_named(project, panels),
    )
