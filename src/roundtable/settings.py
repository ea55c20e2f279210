"""Settings: everything a user can configure, typed, read once, each value with its origin.

From the strongest to the weakest: the environment (`ROUNDTABLE_…`), the project's
`roundtable.toml` in the current folder, the user's `config.toml` and `config.json` in
ROUNDTABLE_HOME, and the built-in defaults. A project's file counts only once it is trusted
(`trust.py`), and then for some settings only (`project.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from .core.agents import BUILT_IN, CommandAgent, completed
from .core.errors import BadSetting
from .core.notifications_plan import Address, NotificationSettings, output_channel
from .core.values import Budget, NewsPlan, Pace, Value
from .procedures.adaptive.panels import Panels, laid_over
from .procedures.checking import checked
from .procedures.council.options import CouncilConfig
from .project import (
    PANELS_JSON,
    PROJECT_TOML,
    json_object,
    models_named,
    project_choices,
    project_panels,
    tightened,
    toml_table,
)
from .trust import EXPERTS, PROCEDURES, Folder, Trust

CONFIG_TOML = "config.toml"
CONFIG_JSON = "config.json"
MODELS_TOML = "models.toml"
DATABASE = "roundtable.db"

ENVIRONMENT = {
    "ROUNDTABLE_DB": "db",
    "ROUNDTABLE_DB_PATIENCE": "db_patience",
    "ROUNDTABLE_MODEL": "default_model",
    "ROUNDTABLE_PROCEDURE": "procedure",
    "ROUNDTABLE_LANGUAGE": "language",
    "ROUNDTABLE_FALLBACK_MODEL": "fallback_model",
    "FALLBACK_MODEL": "fallback_model",
    "ROUNDTABLE_CONCURRENCY": "concurrency",
    "ROUNDTABLE_LOCAL_SERVERS": "local_servers",
    "ROUNDTABLE_COMMAND_AGENTS": "command_agents",
    "ROUNDTABLE_CASTING": "casting",
    "ROUNDTABLE_SEARCH": "search",
    "ROUNDTABLE_WEB": "web",
    "ROUNDTABLE_WEB_PORT": "web_port",
    "ROUNDTABLE_BROWSER": "browser",
    "SEARXNG_URL": "searxng_url",
}
"""The variables that are read, and the settings they set; a later one wins."""
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


OnSecrets = Literal["refuse", "redact", "send"]
"""What becomes of likely secrets in a question and its context."""


class Choices(Value):
    """What a file may set."""

    db: str | None = None
    db_patience: float = Field(default=300.0, ge=0)
    """Seconds for which a discussion waits for a database that went away under it."""
    default_model: str | None = None
    procedure: str = "deliberation"
    language: str | None = None
    fallback_model: str | None = None
    """The last speaker of every seat's chain."""
    fallbacks: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Further speakers for a seat that was given to this model, in order."""
    casting: Literal["host", "library"] = "host"
    """Who seats a table for which nobody was named: the host, in one call, where a model is there
    that reasons; or the library alone."""
    concurrency: int = Field(default=16, ge=1)
    """Calls at once to one provider."""
    local_servers: bool = True
    """Whether to look for Ollama, LM Studio and llama.cpp on this machine."""
    command_agents: bool = True
    """Whether to look for claude, codex, gemini, opencode and the user's own on PATH."""
    commands: dict[str, CommandAgent] = Field(default_factory=dict)
    """The user's own command-line agents, and changes to those that are built in."""
    search: Literal["searxng", "tavily", "brave", "ddgs", "none"] | None = None
    """The web search; None takes what the environment offers."""
    searxng_url: str | None = None
    web: bool | None = None
    """Whether a run shows its page: true opens it, false never mentions it, None says where it is
    if the page is served already."""
    web_port: int = Field(default=8199, ge=0, le=65_535)
    """The port of the page, or the first one to try."""
    browser: str | None = None
    """The command that shows a page; `{url}` in it stands for the address. None: the system's."""
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
    pace: Pace = Pace()
    """How long speakers may keep silent, and how much they think, where nobody says otherwise."""
    council: dict[str, Any] = Field(default_factory=dict)
    adaptive: dict[str, Any] = Field(default_factory=dict)
    """What panels.json holds, without what is built in."""

    @field_validator("commands", mode="before")
    @classmethod
    def _over_the_built_in(cls, value: object) -> object:
        return completed(value)


class Settings(Value):
    """The settings of one process."""

    home: Path
    workspace: Path
    choices: Choices = Choices()
    origins: dict[str, str] = Field(default_factory=dict)
    """Where each setting that is not built in comes from."""
    project_models: tuple[str, ...] = ()
    """What a trusted project calls its models; none of them may be a program."""

    @property
    def trust(self) -> Trust:
        """The user's trust in the files of the workspace."""
        return Trust(self.home, self.workspace)

    @property
    def db(self) -> str:
        """The ledger's address, or the full path of its file."""
        chosen = self.choices.db or str(self.home / DATABASE)
        return chosen if "://" in chosen else str(self.workspace.absolute() / chosen)

    @property
    def models_file(self) -> Path | None:
        path = self.home / MODELS_TOML
        return path if path.is_file() else None

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
    return home


def read_settings(env: Mapping[str, str], workspace: Path) -> Settings:
    """Read all sources. BadSetting or UnknownName names the file, the key and what was expected."""
    home = home_folder(env)
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}

    def lay_over(source: Mapping[str, Any], where: str) -> None:
        for key, value in source.items():
            if isinstance(value, dict) and isinstance(values.get(key), dict):
                values[key] = {**values[key], **value}
            else:
                values[key] = value
            origins[key] = where
            if isinstance(value, dict):
                origins.update((f"{key}.{inner}", where) for inner in value)
        checked(Choices, values, where)
        CouncilConfig.parse(source.get("council", {}), where)

    def lay_panels_over(panels: Mapping[str, Any], path: Path) -> None:
        if panels:
            Panels.parse(panels, str(path))
            before = {key: where for key, where in origins.items() if key.startswith("adaptive.")}
            lay_over({"adaptive": laid_over(values.get("adaptive", {}), panels)}, str(path))
            weaker = (key for key in before if key.partition(".")[2] not in panels)
            origins.update((key, before[key]) for key in weaker)

    if council := _json(home / CONFIG_JSON):
        # Whoever set the council up means to use it.
        lay_over({"procedure": "council", "council": council}, str(home / CONFIG_JSON))
    lay_panels_over(_json(home / PANELS_JSON), home / PANELS_JSON)
    lay_over(_toml(home / CONFIG_TOML), str(home / CONFIG_TOML))
    trust = Trust(home, workspace)
    project: dict[str, Any] = {}
    panels: dict[str, Any] = {}
    if (data := trust.read(workspace / PROJECT_TOML)) is not None:
        project = project_choices(data, home, Choices.model_fields)
        checked(Choices, project, PROJECT_TOML)
        lay_over(tightened(project, values), PROJECT_TOML)
    if (data := trust.read(workspace / PANELS_JSON)) is not None:
        panels = project_panels(data, workspace / PANELS_JSON, home)
        lay_panels_over(panels, workspace / PANELS_JSON)
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
        project_models=models_named(project, panels),
    )


def _toml(path: Path) -> dict[str, Any]:
    return toml_table(_text(path), str(path))


def _json(path: Path) -> dict[str, Any]:
    return json_object(_text(path), str(path))


def _text(path: Path) -> str:
    """The file's text; empty if there is no such file."""
    try:
        return path.read_text("utf-8-sig")  # Windows editors like to begin with a mark
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise BadSetting(str(path), "the file", f"a readable file ({error.strerror})") from None
