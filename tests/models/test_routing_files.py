"""The two files by which a user routes models, and what is said when they are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roundtable.core.errors import BadSetting, NewerFile
from roundtable.models.registry import Registry
from roundtable.models.routing import RoutableModel
from roundtable.models.routing_files import (
    RoutingFiles,
    declared_in,
    declared_models,
    local_models,
    read_routing,
)
from roundtable.trust import Folder

REGISTRY = Registry.load()
YAML = """\
mode: public
models:
  - id: deepseek/deepseek-v4-pro
    tags: [Logic, summary, logic]
    priority: 10
    apiKey: sk-never-read
    baseUrl: https://example.org
  - model: codex
    capabilities: code
"""


@pytest.mark.requirement("B-38", "X-23")
def test_models_are_declared_with_abilities_and_priorities() -> None:
    assert declared_models(YAML, "roundtable_config.yaml", REGISTRY) == [
        RoutableModel("deepseek/deepseek-v4-pro", ("logic", "summary"), "deepseek", 10),
        RoutableModel("openai/gpt-5.3-codex", ("code",), "gpt", 0),
    ]


def test_models_may_be_declared_as_a_mapping_too() -> None:
    text = "models:\n  codex: {tags: [code], priority: 2, apiKey: x}\n"

    assert declared_models(text, "f.yaml", REGISTRY) == [
        RoutableModel("openai/gpt-5.3-codex", ("code",), "gpt", 2)
    ]


@pytest.mark.parametrize("text", ["", "# nothing\n", "mode: public\n", "models:\n"])
def test_a_file_without_models_declares_none(text: str) -> None:
    assert declared_models(text, "f.yaml", REGISTRY) == []


class Guarded(dict[str, Any]):
    """A row whose secrets must not be touched."""

    def __getitem__(self, key: str) -> Any:
        assert key in ("id", "tags", "priority"), key
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        found = key in self
        return self[key] if found else default

    def values(self) -> Any:
        raise AssertionError("all values were read")

    def items(self) -> Any:
        raise AssertionError("all values were read")


@pytest.mark.requirement("B-40", "X-24")
@pytest.mark.parametrize("named", [False, True])
def test_keys_and_addresses_are_not_read(named: bool) -> None:
    row = Guarded(tags=["code"], priority=1, apiKey="secret", baseUrl="https://example.org")
    if not named:
        row["id"] = "codex"
    models: Any = {"codex": row} if named else [row]

    assert declared_in(models, "f.yaml", REGISTRY)[0].id == "openai/gpt-5.3-codex"


@pytest.mark.parametrize(
    ("text", "where", "key", "expected"),
    [
        ("models: 3", "f.yaml", "models", "a list of tables"),
        ("- 1", "f.yaml", "the file", "a mapping"),
        ("a: b: c", "f.yaml:1", "the file", "valid YAML"),
        ("models: [{tags: [code]}]", "f.yaml", "models[0].id", "provider/model"),
        ("models: [{id: nobody}]", "f.yaml", "models[0].id", "Unknown model"),
        ("models: [codex]", "f.yaml", "models[0]", "a table"),
        ("models: [{id: codex, tags: [1]}]", "f.yaml", "models[0].tags", "a list of texts"),
        ("models: [{id: codex, tags: {}}]", "f.yaml", "models[0].tags", "a list of texts"),
        ("models: [{id: codex, priority: high}]", "f.yaml", "models[0].priority", "whole number"),
        ("models: [{id: codex, priority: yes}]", "f.yaml", "models[0].priority", "whole number"),
        ("models: [{id: codex, priorty: 1}]", "f.yaml", "models[0].priorty", "priority"),
        ("models: {codex: 7}", "f.yaml", "models.codex", "a table"),
        ("models: [!!python/object/apply:os.getcwd []]", "f.yaml:1", "the file", "valid YAML"),
    ],
)
def test_errors_in_the_yaml_name_the_file_the_key_and_what_was_expected(
    text: str, where: str, key: str, expected: str
) -> None:
    with pytest.raises(BadSetting) as caught:
        declared_models(text, "f.yaml", REGISTRY)

    assert (caught.value.where, caught.value.key) == (where, key)
    assert expected in caught.value.expected


@pytest.mark.requirement("B-37")
@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("{", "the file", "valid JSON"),
        ("[]", "the file", "a JSON object"),
        ('{"host": 3}', "host", "provider/model"),
        ('{"host": "opuss"}', "host", "Did you mean opus"),
        ('{"enginering": "opus"}', "enginering", "engineering"),
    ],
)
def test_errors_in_the_map_name_the_file_the_key_and_what_was_expected(
    text: str, key: str, expected: str
) -> None:
    with pytest.raises(BadSetting) as caught:
        local_models(text, "local_models.json", REGISTRY)

    assert caught.value.where.partition(":")[0] == "local_models.json"
    assert caught.value.key == key
    assert expected in caught.value.expected


@pytest.mark.requirement("X-22", "X-23")
def test_the_workspace_is_laid_over_the_users_folder(tmp_path: Path) -> None:
    home, workspace = tmp_path / "home", tmp_path / "workspace"
    for folder in (home, workspace):
        folder.mkdir()
    (home / "local_models.json").write_text('{"host": "opus", "design": "sonnet"}')
    (workspace / "local_models.json").write_text('\ufeff{"host": "codex"}', "utf-8")
    (home / "roundtable_config.yaml").write_text(
        "models: [{id: haiku, tags: [fast]}, {id: opus, tags: [max]}]"
    )
    (workspace / "roundtable_config.yaml").write_text("models: [{id: opus, tags: [logic]}]")

    files = read_routing([Folder(home), Folder(workspace), Folder(tmp_path / "nowhere")], REGISTRY)

    assert files.local == {"host": "openai/gpt-5.3-codex", "design": "anthropic/claude-sonnet-4-5"}
    assert [(each.id, each.tags) for each in files.declared] == [
        ("anthropic/claude-opus-4-6", ("logic",)),
        ("anthropic/claude-haiku-4-5", ("fast",)),
    ]
    assert read_routing([Folder(tmp_path / "nowhere")], REGISTRY) == RoutingFiles()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("local_models.json", '{"version": 99, "host": "opus"}'),
        ("roundtable_config.yaml", "version: 99\nmodels: [{id: opus}]"),
    ],
)
def test_a_file_of_a_newer_roundtable_is_not_interpreted(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(NewerFile, match="version 99"):
        read_routing([Folder(tmp_path)], REGISTRY)


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "local_models.json").write_bytes(b"\xff")

    with pytest.raises(BadSetting, match=r"local_models\.json: the file"):
        read_routing([Folder(tmp_path)], REGISTRY)
