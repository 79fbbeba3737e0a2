"""A recipe as Python code and as commands that do the very same.

Uses `running` and `schema`; the workbench shows it, for those who go on without it. Paths are seen
from the folder of the recipe.
"""

import datetime as dt
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from shoal.arguments import typed
from shoal.data.file_options import FileOptions
from shoal.data.schema import Role
from shoal.methods.auto import AUTO
from shoal.privacy import models
from shoal.recipe.running import Recipe
from shoal.recipe.schema import METHODS, MODELS, Choice, LimitSection, LinearSection, WishSection

__all__ = ["as_commands", "as_python"]

_ROLES = (Role.IDENTIFYING, Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE)


@typed
def as_commands(recipe: Recipe, directory: str) -> str:
    """What releases into a directory and verifies that, one command per line."""
    file = recipe.path.name
    paper = f"{directory}/certificate.json"
    commands = [
        ["shoal", "release", file, "--out", directory],
        ["shoal", "verify", paper, directory, "--recipe", file],
    ]
    return "".join(f"{shlex.join(command)}\n" for command in commands)


@typed
def as_python(recipe: Recipe, directory: str) -> str:
    """A program that releases into a directory, without the recipe."""
    return _Script(recipe).text(directory)


class _Script:
    """The parts of a program, and what they import."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.imports: dict[str, None] = {}

    def text(self, directory: str) -> str:
        content = self.recipe.content
        trees = [f"    {name!r}: {self._tree(name)},\n" for name in content.hierarchies]
        parts = []
        if trees:
            parts.append(f"hierarchies = {{\n{''.join(trees)}}}\n")
        roles = {role: self.recipe.having(role) for role in _ROLES}
        parts += [
            f"table = {self._read(content.source.path, roles, source=True)}\n",
            f"method = {self._method()}\n",
            self._released(directory),
        ]
        head = "".join(f"{line}\n" for line in self.imports)
        return f"import shoal\n{head}\n" + "".join(parts)

    # What is read

    def _read(
        self,
        path: str,
        roles: Mapping[Role, list[str]],
        names: Iterable[str] | None = None,
        *,
        source: bool = False,
    ) -> str:
        """What `Recipe.read` does, as a call."""
        content = self.recipe.content
        wanted = set(content.roles if names is None else names)
        types = {name: kind for name, kind in content.source.types.items() if name in wanted}
        options: dict[str, Any] = {role.value: own for role, own in roles.items() if own}
        if types:
            options["types"] = types
        written = {name: _python(value) for name, value in options.items()}
        trees = [name for name in content.hierarchies if name in wanted]
        if len(trees) == len(content.hierarchies) and trees:
            written["hierarchies"] = "hierarchies"
        elif trees:
            chosen = ", ".join(f"{name!r}: hierarchies[{name!r}]" for name in trees)
            written["hierarchies"] = f"{{{chosen}}}"
        given: dict[str, Any] = {"missing": content.missing}
        if content.rows_are_people:
            given["rows_are_people"] = True
        said = content.source.reading
        given |= said if source else FileOptions.fitting(said, path)
        if source:
            given |= {name: getattr(content.source, name) for name in ("engine", "query", "master")}
        written |= {name: _python(value) for name, value in given.items() if value is not None}
        return _call("shoal.read", [_python(path)], written)

    def _tree(self, name: str) -> str:
        choice: Any = self.recipe.content.hierarchies[name]
        options = choice.given("build")
        types = self.recipe.content.source.types
        if "kind" in type(choice).model_fields and name in types:
            options.setdefault("kind", types[name])
        places = [_python(options.pop("file"))] if choice.build == "file" else []
        builder = {"file": "read", "group": "groups"}.get(choice.build, choice.build)
        written = {option: _python(value) for option, value in options.items()}
        return _call(f"shoal.hierarchy.{builder}", places, written, flat=True)

    # What is done

    def _method(self) -> str:
        chosen: Any = self.recipe.content.method
        written = {name: self._option(name, value) for name, value in chosen.given("name").items()}
        if chosen.name == AUTO:
            self.imports["from shoal.methods.auto import automatic"] = None
            return _call("automatic", [], written)
        return _call(f"shoal.{METHODS.thing(chosen.name).__name__}", [], written)

    def _option(self, name: str, value: Any) -> str:
        if name == "models":
            return f"[{', '.join(map(self._model, value))}]"
        if name == "limits":
            return self._limits(value)
        if name == "wishes":
            wishes = [f"{key!r}: {self._wish(wish)}" for key, wish in value.items()]
            return f"{{{', '.join(wishes)}}}"
        if name == "register":
            return self._read(value, {}, self.recipe.having(Role.QUASI))
        if name == "public":
            return self._public(value)
        return _python(value)

    def _model(self, model: Choice | models.Model) -> str:
        if not isinstance(model, Choice):
            return _python(str(model))
        options = model.given("model")
        written = {name: _python(value) for name, value in options.items() if name != "population"}
        if "population" in options:
            quasi = {Role.QUASI: self.recipe.having(Role.QUASI)}
            people = self._read(options["population"], quasi)
            written["population"] = f"{people}.count({_python(self.recipe.having(Role.QUASI))})"
        name: str = getattr(model, "model")  # noqa: B009  pydantic made the field
        return _call(f"shoal.{MODELS.thing(name).__name__}", [], written, flat=True)

    def _limits(self, limits: LimitSection) -> str:
        others = _python(limits.others)
        if isinstance(limits.others, LinearSection):
            self.imports["from shoal.privacy.limits import Linear"] = None
            others = f"Linear({_python(limits.others.a)}, {_python(limits.others.b)})"
        if limits.classes:
            classes = {name: (one.limit, one.values) for name, one in limits.classes.items()}
            return f"shoal.Limits.classes({_python(classes)}, {others})"
        return f"shoal.Limits.each({_python(limits.values)}, {others})"

    def _wish(self, wish: WishSection) -> str:
        self.imports["from shoal.methods.personal import Wish"] = None
        return f"Wish({_python(wish.utility)}, {_python(wish.weights)})"

    def _public(self, path: str) -> str:
        chosen: Any = self.recipe.content.method
        options = chosen.given("name")
        names = [options[part] for part in ("person", "item", "value") if part in options]
        names = names or self.recipe.content.released
        return self._read(path, {Role.INSENSITIVE: names}, names)

    # What is written

    def _released(self, directory: str) -> str:
        content = self.recipe.content
        output = content.output
        written = {}
        if output.neutralise:
            written["neutralise"] = _python(True)
        if output.rows_per_file is not None:
            written["rows_per_file"] = _python(output.rows_per_file)
        places = [_python(directory), _python(output.format)]
        late = self._late()
        if content.ledger is None:
            writing = _call("release.write", places, written, flat=True)
            return f"release = method.release(table)\n{self._choosing(late)}{writing}\n"
        self.imports["from shoal.ledger import Destination"] = None
        destination = _call("Destination", places, written, flat=True)
        options = {} if content.views is None else {"others": _python(content.views.others)}
        if late:
            self.imports["from shoal.ledger import Provenance"] = None
            parts = [_python(self.recipe.digest), _python(self.recipe.path.name), late]
            options["provenance"] = _call("Provenance", parts, {}, flat=True)
        entering = _call("ledger.release", ["method", "table", destination], options)
        return f"ledger = shoal.Ledger({_python(content.ledger.path)})\nrelease = {entering}\n"

    def _late(self) -> str:
        """What was chosen after looking at the data, which the certificate lists."""
        choices = self.recipe.chosen_after_looking
        if not choices:
            return ""
        self.imports["from shoal.releases.looking import LateChoice"] = None
        written = [f"LateChoice({one.place!r}, {one.public!r})" for one in choices]
        return f"({', '.join(written)},)"

    def _choosing(self, late: str) -> str:
        if not late:
            return ""
        return (
            "promise = method.promise(table.schema)\n"
            f"certificate = release.certificate.choosing(promise, {late})\n"
            "release = release.with_certificate(certificate)\n"
        )


def _call(name: str, places: list[str], options: Mapping[str, str], *, flat: bool = False) -> str:
    """A call, with each argument in a line of its own unless it is to be flat."""
    arguments = [*places, *(f"{option}={value}" for option, value in options.items())]
    if flat or len(arguments) < 2:
        return f"{name}({', '.join(arguments)})"
    lines = "".join(f"    {_deeper(one)},\n" for one in arguments)
    return f"{name}(\n{lines})"


def _deeper(text: str) -> str:
    """A call inside another one."""
    return text.replace("\n", "\n    ")


def _python(value: Any) -> str:
    """A value of a recipe as Python writes it."""
    if isinstance(value, dt.date):
        return repr(value.isoformat())
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_python(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_python, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_python, value))})"
    return repr(value)
