"""One description of each tool, from which every door is made: name, arguments, answer, nature."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, Protocol, TypeVar, cast, get_type_hints

from pydantic import ValidationError, create_model

from ...core.errors import BadSetting, UnknownName, UsageError
from ...core.limits import renamed
from ...core.values import Value
from .access import Access
from .results import Result

F = TypeVar("F", bound=Callable[..., Awaitable[Result]])
PREFIX = "roundtable_"
"""Of the tools' names where others live beside them."""
OnProgress = Callable[[float, str], Awaitable[None]]
"""Told how far a call that waits has come: a number that only grows, and what happened."""


class _Holder(Protocol):
    access: Access

    async def found(self, values: dict[str, Any]) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Operation:
    """A tool. Its arguments and its answer are what the method's signature says."""

    name: str
    method: str
    title: str
    description: str
    function: Callable[..., Awaitable[Result]]
    read_only: bool
    destructive: bool
    idempotent: bool

    @property
    def tool(self) -> str:
        return f"{PREFIX}{self.name}"

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.function, include_extras=True)

    @cached_property
    def takes_progress(self) -> bool:
        return "on_progress" in self._hints

    @cached_property
    def arguments(self) -> type[Value]:
        fields: dict[str, Any] = {
            name: (self._hints[name], ... if each.default is each.empty else each.default)
            for name, each in inspect.signature(self.function).parameters.items()
            if name not in ("self", "on_progress")
        }
        return create_model(f"{self.name}_arguments", __base__=Value, **fields)

    @cached_property
    def result(self) -> type[Result]:
        return cast("type[Result]", self._hints["return"])

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        return cast("dict[str, Any]", _brief(self.arguments.model_json_schema()))

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """Of the answer as it is sent: what says nothing is left out."""
        return self.result.model_json_schema()

    def named(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by the names that the method has for them today."""
        return renamed(given, self.arguments.model_fields)

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the method takes them. UsageError says which is wrong, and how."""
        try:
            values = self.arguments.model_validate(self.named(given))
        except ValidationError as error:
            raise self._refusal(error) from None
        return {name: getattr(values, name) for name in type(values).model_fields}

    def _refusal(self, error: ValidationError) -> UsageError:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        known = self.arguments.model_fields
        if first["type"] == "missing":
            told = known[key].description if key in known else ""
            return UsageError(f"{self.name} needs {key}.", told or "Give it, and call again.")
        if first["type"] == "extra_forbidden" and key not in known:
            return UnknownName(f"argument of {self.name}:", key, known)
        expected = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
        return BadSetting(self.name, key, expected.rstrip("."))


def _brief(schema: Any) -> Any:
    """A schema without what tells a model nothing: made-up titles, defaults that are null, unions
    for what may be left out. Whoever calls reads it with every call."""
    if isinstance(schema, list):
        return [_brief(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {
        key: {name: _brief(each) for name, each in value.items()}
        if key in ("properties", "$defs")
        else _brief(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "default" and value in (None, ""))
    }
    kinds = found.get("anyOf", ())
    if len(kinds) == 2 and kinds[1] == {"type": "null"} and isinstance(kinds[0].get("type"), str):
        del found["anyOf"]
        found = {**kinds[0], "type": [kinds[0]["type"], "null"], **found}
    return found


def operation(
    name: str,
    title: str,
    *,
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
) -> Callable[[F], F]:
    """Make a method a tool. Whoever calls it, by whichever door, has its access and its arguments
    checked first."""

    def decorate(function: F) -> F:
        described = Operation(
            name=name,
            method=function.__name__,
            title=title,
            description=inspect.cleandoc(function.__doc__ or ""),
            function=function,
            read_only=read_only,
            destructive=destructive,
            idempotent=idempotent or read_only,
        )
        signature = inspect.signature(function)

        @wraps(function)
        async def guarded(self: _Holder, *args: Any, **kwargs: Any) -> Result:
            self.access.check(name)
            given = dict(signature.bind(self, *args, **described.named(kwargs)).arguments)
            del given["self"]
            extra = {"on_progress": given.pop("on_progress")} if "on_progress" in given else {}
            values = await self.found(described.checked(given))
            self.access.check_call(name, values)
            return await function(self, **values, **extra)

        guarded.__dict__["operation"] = described
        return cast("F", guarded)

    return decorate


def operations_of(kind: type[object]) -> dict[str, Operation]:
    """The tools of a class by their short names, in the order in which they are written."""
    found = {}
    for base in reversed(kind.__mro__):
        for each in vars(base).values():
            described = getattr(each, "operation", None)
            if isinstance(described, Operation):
                found[described.name] = described
    return found
