"""Options that belong together: a command takes them as one frozen dataclass. Commands use it.

The fields of the dataclass are annotated as typer wants parameters; `bundled` shows them to typer
one by one, and gives the function the dataclass.
"""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Any, TypeVar, get_type_hints

__all__ = ["bundled"]

Result = TypeVar("Result")


def bundled(command: Callable[..., Result]) -> Callable[..., Result]:
    """A command whose parameters that are dataclasses are options, one per field.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: int
    ...     y: int = 2
    >>> @bundled
    ... def show(point: Point, colour: str = "red") -> None:
    ...     print(point, colour)
    >>> str(inspect.signature(show))
    "(*, x: int, y: int = 2, colour: str = 'red') -> None"
    >>> show(x=1, colour="blue")
    Point(x=1, y=2) blue
    """
    bundles: dict[str, type[Any]] = {}
    parameters: list[inspect.Parameter] = []
    hints = get_type_hints(command, include_extras=True)
    signature = inspect.signature(command)
    for parameter in signature.parameters.values():
        kind = hints[parameter.name]
        if is_dataclass(kind) and isinstance(kind, type):
            bundles[parameter.name] = kind
            parameters += _parameters(kind)
        else:
            parameters.append(
                parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY)
            )

    @wraps(command)
    def call(**given: Any) -> Result:
        for name, kind in bundles.items():
            own = {one.name: given.pop(one.name) for one in fields(kind) if one.name in given}
            given[name] = kind(**own)
        return command(**given)

    # Typer looks at both.
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        parameters, return_annotation=signature.return_annotation
    )
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    return call


def _parameters(kind: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_default(field),
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]


def _default(field: "Field[Any]") -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return inspect.Parameter.empty if field.default is MISSING else field.default
