"""`Recipe`: one TOML file that says what to read, the roles of columns, and what to do and write.

Uses every room above.

`schema` says what a recipe may contain, `loading` what is wrong with one as it is written; here it
is carried out.
"""

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from shoal.arguments import typed
from shoal.counts import Counts
from shoal.data import disk, toml
from shoal.data.databases import is_database
from shoal.data.engines import EngineName
from shoal.data.file_options import FileOptions
from shoal.data.formats import BY_COLUMN, READING, is_csv
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.schema import Role, Schema
from shoal.data.tables import Table
from shoal.errors import ColumnError, FileError, ParameterError, RecipeError, ShoalError, listed
from shoal.methods.auto import AUTO
from shoal.methods.method import beforehand, require_people, searched
from shoal.privacy import models
from shoal.recipe.loading import mistakes, read
from shoal.recipe.schema import BUILDERS, METHODS, MODELS, Choice, Choices, Content
from shoal.releases.looking import LateChoice, parts_of

if TYPE_CHECKING:
    from shoal.ledger import Ledger
    from shoal.methods.method import Method, Progress
    from shoal.privacy.promises import Promise
    from shoal.releases.certificate import Certificate
    from shoal.releases.release import Release

__all__ = ["CheckedRecipe", "ExaminedRecipe", "Recipe"]

Made = TypeVar("Made")

_LOOKED_AT = 1000  # folders in which an earlier release is looked for


@dataclass(frozen=True)
class CheckedRecipe:
    """A recipe that was checked against its table, which it can release."""

    recipe: "Recipe"
    table: Table


@dataclass(frozen=True)
class ExaminedRecipe:
    """A look at a recipe and at all that it names.

    recipe, table: None where they cannot be read
    wrong: every mistake, with its place in the recipe; none if the table can be released
    """

    recipe: "Recipe | None"
    table: Table | None
    wrong: tuple[RecipeError, ...]


@typed
class Recipe:
    """A recipe that was read and found to be whole; paths in it are relative to its own folder."""

    def __init__(self, path: Path, content: Content, digest: str) -> None:
        self.path = path
        self.content = content
        self.digest = digest  # SHA-256 of the file, which certificates name

    def __repr__(self) -> str:
        return f"<shoal.Recipe {os.fspath(self.path)!r}>"

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], method: Mapping[str, Any] | None = None
    ) -> "Recipe":
        """The recipe in a file.

        RecipeError lists everything that is wrong with it, one mistake per line.

        method: a section that is taken in place of the recipe's own, to try another method
        """
        written = read(Path(path), method)
        if written.content is None or written.wrong:
            raise mistakes(written.path, written.wrong)
        return cls(written.path, written.content, written.digest)

    @classmethod
    def check(
        cls,
        path: str | os.PathLike[str],
        engine: EngineName | None = None,
        master: str | None = None,
        source: str | os.PathLike[str] | None = None,
    ) -> CheckedRecipe:
        """As `load`, with its table, after a look at all it names: hierarchies, method, source.

        Nothing is released. `engine` counts the rows, `master` is where Spark runs, and `source` is
        read, instead of those that the recipe names.
        """
        found = cls.examine(path, engine, master, source)
        if found.recipe is None or found.table is None or found.wrong:
            raise mistakes(Path(path), found.wrong)
        return CheckedRecipe(found.recipe, found.table)

    @classmethod
    def examine(
        cls,
        path: str | os.PathLike[str],
        engine: EngineName | None = None,
        master: str | None = None,
        source: str | os.PathLike[str] | None = None,
    ) -> ExaminedRecipe:
        """As `check`, with all mistakes as they are: nothing is raised because of them."""
        written = read(Path(path))
        if written.content is None:
            return ExaminedRecipe(None, None, written.wrong)
        recipe = cls(written.path, written.content, written.digest)
        if source is not None:
            recipe = recipe.reading_from(source)
        recipe = recipe.counted_by(engine, master)
        wrong = list(written.wrong)
        table = _Examination(recipe, wrong).table()
        return ExaminedRecipe(recipe, table, tuple(wrong))

    # What it names

    @property
    def source(self) -> Path:
        """The file that is read. It means nothing if the recipe has an address there."""
        return self.path.parent / self.content.source.path

    @property
    def _is_elsewhere(self) -> bool:
        """Whether the source is not a path: an address, or standard input."""
        return disk.is_address(self.content.source.path) or self.content.source.path == "-"

    def reading_from(self, place: str | os.PathLike[str]) -> "Recipe":
        """The same recipe, with another source: a path, an address, or "-" for standard input.

        A path is one from here on, and not from the recipe's folder. What the recipe says of how
        its own source is written holds for this one too, as far as its format has it.
        """
        from shoal.data.files import form_of

        given = os.fspath(place)
        form = form_of(Path(given)) if given == "-" else None
        changed: dict[str, Any] = dict.fromkeys(READING)
        changed |= FileOptions.fitting(self.content.source.reading, given, form)
        changed["path"] = given
        if not disk.is_address(given) and given != "-":
            changed["path"] = os.path.abspath(given)
        if not (disk.is_address(given) or is_database(given)):
            changed["query"] = None
        if given == "-" and self.content.source.engine != "memory":
            changed["engine"] = None
        source = self.content.source.model_copy(update=changed)
        content = self.content.model_copy(update={"source": source})
        return Recipe(self.path, content, self.digest)

    def reads(self, place: str | os.PathLike[str]) -> bool:
        """Whether a file, a folder or a database is the one that is read."""
        own = self.content.source.path
        if disk.is_address(own):
            return os.fspath(place) == own
        return os.path.realpath(place) == os.path.realpath(self.source)

    def counted_by(self, engine: EngineName | None, master: str | None = None) -> "Recipe":
        """The same recipe, whose source is counted by another engine or elsewhere, if given."""
        given = {"engine": engine, "master": master}
        changed = {name: value for name, value in given.items() if value is not None}
        source = self.content.source.model_copy(update=changed)
        content = self.content.model_copy(update={"source": source})
        return Recipe(self.path, content, self.digest)

    @property
    def format(self) -> str:
        """The format in which the release is written."""
        return self.content.output.format

    @property
    def ledger(self) -> Path | None:
        """The ledger that the release is entered in, if there is one."""
        return None if self.content.ledger is None else self.path.parent / self.content.ledger.path

    @property
    def others(self) -> Path | None:
        """The file with what others have shown of the same people, if there is one."""
        return None if self.content.views is None else self.path.parent / self.content.views.others

    @property
    def chosen_after_looking(self) -> tuple[LateChoice, ...]:
        """What was chosen after looking at the data.

        An option of "auto" that the method it takes does not have decides which method that is.
        """
        method: Any = self.content.method
        chosen: dict[str, LateChoice] = {}
        options = inspect.signature(self.content.entry.method).parameters
        for choice in self.content.chosen_after_looking:
            first, *rest = parts_of(choice.place)
            decides = method.name == AUTO and first == "method" and rest and rest[0] not in options
            place = "method.name" if decides else choice.place
            if place not in chosen or not choice.public:
                chosen[place] = replace(choice, place=place)
        return tuple(chosen.values())

    @property
    def inputs(self) -> list[Path]:
        """Every file that the recipe names, and the recipe itself.

        None of them may be overwritten, or lie in a release.
        """
        method: Any = self.content.method
        named = [getattr(method, option, None) for option in ("public", "register")]
        chosen_models = getattr(method, "models", None) or ()
        named += [getattr(model, "population", None) for model in chosen_models]
        named += [getattr(choice, "file", None) for choice in self.content.hierarchies.values()]
        files = [self.path.parent / name for name in named if isinstance(name, str)]
        books = [book for book in (self.ledger, self.others) if book]
        return [self.path, self.source, *books, *files]

    def having(self, role: Role) -> list[str]:
        """The columns with a role, in the order of the recipe."""
        return self.content.having(role)

    # What it makes

    @cached_property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """The hierarchy of every column that has one."""
        return {name: self.build(name) for name in self.content.hierarchies}

    def build(self, name: str) -> Hierarchy:
        """The hierarchy of a column, made anew."""
        choice: Any = self.content.hierarchies[name]
        options = choice.given("build")
        if "file" in options:
            options["file"] = self.path.parent / options["file"]
            # What is wrong with a hierarchy is shown, and what is wrong with the source must not
            # be.
            if disk.same(options["file"], self.source):
                place = toml.at(("hierarchies", name, "file"))
                raise RecipeError("is the source itself", "give a hierarchy", option=place).at(
                    str(self.path)
                )
        if "kind" in type(choice).model_fields and name in self.content.source.types:
            options.setdefault("kind", self.content.source.types[name])
        hierarchy: Hierarchy = self._make(BUILDERS, choice.build, options, ("hierarchies", name))
        return hierarchy

    @property
    def schema(self) -> Schema:
        """What the recipe itself says of the columns: its source is not looked at."""
        trees = self.hierarchies
        if self.content.missing == "category":
            trees = {name: tree.with_missing() for name, tree in trees.items()}
        types = self.content.source.types
        kinds = {}
        for name in self.content.roles:
            kind = trees[name].kind if name in trees else Kind.TEXT
            kinds[name] = Kind(types.get(name, kind))
        roles = {name: Role(role) for name, role in self.content.roles.items()}
        return Schema(roles, kinds, trees)

    def table(self) -> Table:
        """The source, read, with its roles and hierarchies."""
        return self.read(self.source, {role: self.having(role) for role in Role})

    def table_of(self, rows: Any) -> Table:
        """The same of rows that were read before: a dataframe, or the source of another table."""
        from shoal.data.tables import table

        return table(
            rows,
            types=dict(self.content.source.types),
            hierarchies=self.hierarchies,
            missing=self.content.missing,
            rows_are_people=self.content.rows_are_people,
            quasi=self.having(Role.QUASI),
            sensitive=self.having(Role.SENSITIVE),
            identifying=self.having(Role.IDENTIFYING),
            insensitive=self.having(Role.INSENSITIVE),
        )

    def people(self, besides: Iterable[str] = ()) -> Table:
        """The source as others may know it: its quasi-identifying columns. No other one is read.

        besides: columns that are read too, with their roles
        """
        known = self.having(Role.QUASI)
        names = [*known, *besides]
        roles = {role: [name for name in self.having(role) if name in names] for role in Role}
        return self.read(self.source, roles, names, names)

    def read(
        self,
        path: Path,
        roles: Mapping[Role, list[str]],
        names: Iterable[str] | None = None,
        columns: Iterable[str] | None = None,
    ) -> Table:
        """A file, or some `columns` of it, with these roles.

        names: the columns that get the recipe's types and hierarchies; all by default
        """
        from shoal.data.files import read
        from shoal.data.tables import table

        source = self.content.source
        types: dict[str, Any] = dict(source.types)
        trees = self.hierarchies
        if names is not None:
            wanted = set(names)
            types = {name: kind for name, kind in types.items() if name in wanted}
            trees = {name: tree for name, tree in trees.items() if name in wanted}
        reading = source.reading
        for option in BY_COLUMN:
            said = reading.get(option)
            if names is not None and isinstance(said, dict):
                kept = {name: value for name, value in said.items() if name in wanted}
                reading[option] = kept or None
        own: dict[str, Any] = {}
        if path != self.source:
            reading = FileOptions.fitting(reading, path)
        else:
            own = {"engine": source.engine, "query": source.query, "master": source.master}
        declared: dict[str, Any] = {
            "types": types,
            "hierarchies": trees,
            "missing": self.content.missing,
            "rows_are_people": self.content.rows_are_people,
            "quasi": roles.get(Role.QUASI, ()),
            "sensitive": roles.get(Role.SENSITIVE, ()),
            "identifying": roles.get(Role.IDENTIFYING, ()),
            "insensitive": roles.get(Role.INSENSITIVE, ()),
        }
        # A URL would not survive as a path.
        place = source.path if own and self._is_elsewhere else path
        given = read(place, **own, **reading, **declared, columns=columns)
        if not given.guessed:
            return given
        # A recipe means text where it says nothing: so it is in CSV files, and so `schema` has it.
        texts = dict.fromkeys(given.guessed, Kind.TEXT)
        return table(given.source, **{**declared, "types": texts | types})

    def method(self) -> "Method":
        """The method with its options."""
        return self._method

    @cached_property
    def _method(self) -> "Method":
        chosen: Any = self.content.method
        options = chosen.given("name")
        if "public" in options:
            options["public"] = self._public(options)
        if "register" in options:
            register = self.path.parent / options["register"]
            options["register"] = self.read(register, {}, self.having(Role.QUASI))
        if "limits" in options:
            place = ("method", "limits")
            options["limits"] = self._placed(options["limits"].made, METHODS, chosen.name, place)
        if "wishes" in options:
            options["wishes"] = {
                name: self._placed(wish.made, METHODS, chosen.name, ("method", "wishes", name))
                for name, wish in options["wishes"].items()
            }
        if "models" in options:
            options["models"] = tuple(
                self._model(number, model) for number, model in enumerate(chosen.models)
            )
        method: Method = self._make(METHODS, chosen.name, options, ("method",))
        return method

    def _model(self, number: int, chosen: Choice | models.Model) -> models.Model:
        if not isinstance(chosen, Choice):
            return chosen
        options = chosen.given()
        if "population" in options:
            options["population"] = self._population(options["population"])
        name = options.pop("model")
        model: models.Model = self._make(MODELS, name, options, ("method", "models", number))
        return model

    def _public(self, options: Mapping[str, Any]) -> Table:
        """The public table, with the columns that the method groups.

        They are the columns of a long form, or all that may be released.
        """
        path = self.path.parent / options["public"]
        if disk.same(path, self.source):
            raise RecipeError(
                "is the source itself",
                "give a table that is nobody's secret",
                option="method.public",
            ).at(str(self.path))
        names = [options[part] for part in ("person", "item", "value") if part in options]
        if not names:
            names = self.content.released
        return self.read(path, {Role.INSENSITIVE: names}, names)

    def _population(self, path: str) -> Counts:
        known = self.having(Role.QUASI)
        table = self.read(self.path.parent / path, {Role.QUASI: known}, known)
        return table.count(table.quasi)

    def _make(
        self, choices: Choices, name: str, options: Mapping[str, Any], place: toml.Place
    ) -> Any:
        thing = choices.thing(name)
        return self._placed(partial(thing, **options), choices, name, place)

    def _placed(
        self, make: Callable[[], Made], choices: Choices, name: str, place: toml.Place
    ) -> Made:
        """What `make` makes.

        An error about an option names the key that the recipe has for it.
        """
        try:
            return make()
        except ShoalError as error:
            known = inspect.signature(choices.thing(name)).parameters
            raise self._by_key(error, place, error.option in known) from None

    def _by_key(self, error: ShoalError, place: toml.Place, is_key: bool) -> RecipeError:
        """An error about an option as one about the key that it has in the recipe."""
        if is_key:
            key = toml.at((*place, error.option))
            placed = RecipeError(error.what, error.fix, option=key, given=error.given)
        else:
            option, given = error.option, error.given
            where = f"{toml.at(place)}: {error.where}" if error.where else toml.at(place)
            placed = RecipeError(error.what, error.fix, where=where, option=option, given=given)
        return placed.at(str(self.path))

    # What it does

    def stated(self) -> "Promise":
        """What a release will guarantee, by what the recipe says of the columns.

        Its source is not looked at. RecipeError if the method cannot promise it.
        """
        method, schema = self.method(), self.schema
        return self._placed(lambda: method.promise(schema), METHODS, method.name, ("method",))

    def promise(self, table: Table) -> "Promise":
        """What a release of the table will guarantee.

        RecipeError if the method cannot promise it, or only about rows.
        """
        method = self.method()
        promise = self._placed(partial(_promised, method, table), METHODS, method.name, ("method",))
        try:
            require_people(method, table)
        except ColumnError as error:
            raise RecipeError(
                error.what, error.fix, where=error.where, option=error.option, given=error.given
            ).at(str(self.path)) from None
        return promise

    def concerns(self, table: Table) -> tuple[str, ...]:
        """What the owner should know before anything is released.

        InfeasibleError if nothing can be.
        """
        self.promise(table)
        return beforehand(self.method(), table)

    def nodes(self, table: Table) -> int | None:
        """How many combinations of levels the method searches; None if it does not search."""
        ranges = searched(self.method(), table.schema)
        return None if ranges is None else prod(map(len, ranges.values()))

    def run(self, *, progress: "Progress | None" = None) -> "Release":
        """Read the source and release it.

        If the recipe names a ledger, the release is entered there and counts as spent.
        """
        return self.release(self.table(), progress=progress)

    def release(
        self,
        table: Table,
        directory: str | os.PathLike[str] | None = None,
        *,
        ledger: "Ledger | None" = None,
        progress: "Progress | None" = None,
        override: str | None = None,
        neutralise: bool = False,
        rows_per_file: int | None = None,
    ) -> "Release":
        """Release the table as the recipe says, and write it into a directory, if one is given.

        It is entered in the ledger, or in the one that the recipe names, if there is any. If that
        has a γ which is not kept, `override` says why it is released anyway. `neutralise` and
        `rows_per_file` are as if the recipe said them.
        """
        promise = self.promise(table)
        method = self.method()
        output = self.content.output
        neutralise = neutralise or output.neutralise
        rows_per_file = rows_per_file if rows_per_file is not None else output.rows_per_file
        if directory is not None:  # before anything is spent
            self.require_place(directory, neutralise=neutralise, rows_per_file=rows_per_file)
        if ledger is None and self.ledger is not None:
            from shoal.ledger import Ledger

            ledger = Ledger(self.ledger)
        if ledger is not None:
            from shoal.ledger import Destination, Provenance

            destination = None
            if directory is not None:
                destination = Destination(directory, self.format, neutralise, rows_per_file)
            return ledger.release(
                method,
                table,
                destination,
                progress=progress,
                override=override,
                others=self.others,
                provenance=Provenance(self.digest, self.path, self.chosen_after_looking),
            )
        result = method.release(table, progress=progress)
        certificate = replace(result.certificate, recipe=self.digest)
        certificate = certificate.choosing(promise, self.chosen_after_looking)
        result = result.with_certificate(certificate)
        if directory is not None:
            result.write(directory, self.format, neutralise=neutralise, rows_per_file=rows_per_file)
        return result

    def earlier_beside(self, directory: str | os.PathLike[str]) -> list[Path]:
        """The folders at or beside a directory that hold an earlier release of the same columns.

        Their certificates say so: they name this recipe, or all the columns that it releases.
        """
        released = set(self.content.released)
        parent = Path(directory).absolute().parent
        try:
            beside = sorted(folder for folder in parent.iterdir() if folder.is_dir())
        except OSError:
            beside = []
        earlier = []
        for folder in dict.fromkeys([parent, *beside][:_LOOKED_AT]):
            certificate = _certificate_in(folder)
            if certificate is None:
                continue
            columns = {column["name"] for column in certificate.columns}
            if certificate.recipe == self.digest or released <= columns:
                earlier.append(Path(os.path.relpath(folder)))
        return earlier

    def require_place(
        self,
        directory: str | os.PathLike[str],
        *,
        neutralise: bool = False,
        rows_per_file: int | None = None,
    ) -> list[Path]:
        """The files of an earlier release in a directory.

        An error if this recipe's cannot be written there.
        """
        from shoal.data.foreign import require_writable
        from shoal.releases.release import require_place, require_rows_per_file

        require_rows_per_file(rows_per_file)
        require_writable(self.format, self.content.released)
        if neutralise and not is_csv(self.format):
            raise ParameterError(
                f"the recipe's format is {self.format!r}, which has no cells to neutralise",
                "leave out `neutralise`",
            )
        return require_place(directory, self.inputs)


def _certificate_in(folder: Path) -> "Certificate | None":
    """The certificate of the release in a folder, if there is one that can be read."""
    from shoal.releases.certificate import Certificate

    try:
        text = (folder / "certificate.json").read_text("utf-8")
        return Certificate.from_json(text)
    except (OSError, UnicodeDecodeError, FileError, TypeError, KeyError, AttributeError):
        return None


def _promised(method: "Method", table: Table) -> "Promise":
    return method.promise(table.schema)


class _Examination:
    """A look at everything that a recipe names, which goes on after a fault.

    Faults are added to `wrong`.
    """

    def __init__(self, recipe: Recipe, wrong: list[RecipeError]) -> None:
        self.recipe = recipe
        self.wrong = wrong

    def table(self) -> Table | None:
        """The table, if it can be read."""
        recipe = self.recipe
        trees = {}
        for name in recipe.content.hierarchies:
            tree = self._tried(partial(recipe.build, name))
            if tree is not None:
                trees[name] = tree
        method = self._tried(recipe.method)
        readable = Recipe(recipe.path, recipe.content, recipe.digest)
        readable.hierarchies = trees  # those that could be made
        bare = self._tried(lambda: readable.read(recipe.source, {}, ()))
        if bare is None or not self._has_columns(bare):
            return None
        table = self._tried(readable.table)
        if table is None:
            return None
        for name in table.names:
            if self._tried(partial(table.keys, name)) is not None and name in trees:
                self._tried(partial(table.leaf_of, name))
        if method is not None and not self.wrong:
            self._tried(lambda: recipe.concerns(table))
        return table

    def _has_columns(self, table: Table) -> bool:
        """Whether the roles name the very columns that the source has."""
        roles = self.recipe.content.roles
        absent = [name for name in roles if name not in table.names]
        for name in absent:
            self.wrong.append(
                RecipeError(
                    "the source has no such column",
                    table.source.describe(),
                    where=f"roles.{toml.key(name)}",
                )
            )
        forgotten = [name for name in table.names if name not in roles]
        if forgotten and not absent:
            self.wrong.append(
                RecipeError(
                    f"nothing is said of {listed(forgotten)}",
                    "give each column a role",
                    where="roles",
                )
            )
        return not absent and not forgotten

    def _tried(self, make: Callable[[], Made]) -> Made | None:
        try:
            return make()
        except ShoalError as error:
            path = f"{self.recipe.path}"
            where = error.where.removeprefix(path).removeprefix(": ")
            self.wrong.append(
                RecipeError(
                    error.what, error.fix, where=where, option=error.option, given=error.given
                )
            )
            return None
