"""Which texts the library writes for people, found in its code.

A text is a string in a module that pages of the workbench may speak for. Values that are put into
it are places; where the code chooses between words, each choice is a text of its own.
`test_phrases.py` uses this, and `python -m tests.workbench.library_texts de` prints what a language
lacks, to be filled in.
"""

import ast
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import ClassVar

import shoal
from shoal import errors
from shoal.workbench.phrases import Pattern, Phrases, phrases
from shoal.workbench.texts import translations

PACKAGE = Path(shoal.__file__).parent

ROOMS_THAT_PAGES_DO_NOT_USE = {"cli", "experiments", "research", "service", "__init__.py"}
"""What the command line, a script or the audit's service says."""

NOT_USED = (
    # Trade-offs and curves, which only the command line draws.
    r"studies/(curves|limit_curves|records|tradeoffs)\.py",
    r"measure/ratings\.py",
    # What our own tests enumerate.
    r"attack/(coins|semantic)\.py",
)
"""Modules of other rooms that pages do not use."""

ONLY_ERRORS = (
    # What notebooks show.
    r".*cards\.py",
    r"look/notebooks\.py",
    r"zones\.py",
    # Certificates, reports and what goes with a release stay English: others check them.
    r"report/.*\.py",
    r"releases/(certificate_page|metadata|sealed|layout)\.py",
    r"views/certifying\.py",
    # Code and commands.
    r"recipe/(scripting|drafting)\.py",
    r"choosing/writing\.py",
    # Rows that stay where they are are counted by SQL.
    r"data/engines/(?!failures).*\.py",
    # Made-up people, and values of hierarchies.
    r"demo\.py",
    r"data/hierarchy/ready_made/.*\.py",
    # The grammar of what others have written.
    r"arx/project\.py",
)
"""Modules whose errors may be shown, but nothing else that they write."""

UNSEEN_FUNCTIONS = {"__repr__", "_repr_html_", "__getattr__"}
"""Functions whose texts no page shows."""

UNSEEN_CALLS = {
    *("compile", "filterwarnings", "TypeVar", "startswith", "endswith", "execute", "sub", "search"),
    *("fullmatch", "removeprefix", "removesuffix", "AssertionError", "Path", "read_sql", "strip"),
    *("getLogger", "debug", "info", "run", "replace", "_set", "_signs"),
}
"""Functions whose arguments nobody reads."""

UNSEEN_ARGUMENTS = {
    "option",
    "given",
    "source",
    "family",
    "key",
    "mode",
    "encoding",
    "phrases",
    *("parameters", "derived", "free", "words"),
}
"""Arguments that nobody reads, or that stay as they are: names of parameters, and of documents."""

UNSEEN_PLACES = {
    # Words in the names of columns, in several languages.
    **{"_identifying": {1, 2}, "_quasi": {1, 2}, "_sensitive": {1}},
    # The documents that a convention is from.
    "Convention": {1, 3},
    "ReadySign": {0, 1},
    "PydanticCustomError": {0},
}
"""Arguments by their places that nobody reads."""

UNSEEN_TEXTS = (
    # Lines of recipes, which are code with remarks.
    r"(# )?\w+ = ([\"\d\[]|\{\{|true|false|NAME).*|# .*",
    # Widths of a page, formats of cells and of lines.
    r"width=device-width.*|light dark|<\w+ .*|yyyy-mm-dd .*|.*:root.*|<!DOCTYPE.*",
    # Names of keys and of classes of a style sheet.
    r"(zoned|band|badge) \{\w+\}|[\w.\[\]{}]*[.\[][\w.\[\]{}]*",
    # What a model is called in a recipe.
    r"\(?\?P<.*|.*\(\?P<.*",
    # Questions are in a language of their own.
    r"\{\w+\} (is missing|between \{\w+\} and \{\w+\}|in \(.*)|not \{\w+\}|.*\(\S*\) where .*",
    # What is written into files, and sent beside a page.
    r"The hierarchy in .* was derived from the rows.*|Derived from the rows of a table\.\s*",
    r"default-src .*|\s*import sqlite3.*|.*named( \{\w+\})?\.csv|class:\{\w+\}:values",
    # Names that programs use among themselves.
    r"left: \{\w+\}; bottom: .*|\{\w+\} (known|fits)|Shoal workbench|choice or levels",
    r"an \{\w+\}|numbers by column|release \{folder\}",
    # What browsers are told of a file that they should not have asked for.
    r"There is no such file\.",
    # What stands for a missing value.
    r"not available|not known|keine angabe",
    # Documents that conventions are from.
    r"Glossary of Statistical Disclosure.*|K\. El Emam.*|Information and Privacy Commissioner.*",
    r"ARX Data Anonymization Tool.*",
    # Colours, and what a parser of numbers says to its own caller.
    r"\".*\"|faded|true and false are not numbers|not finite|longer than any number meant",
)
"""Texts that nobody reads."""

WORDS_OF_PICTURES = {"Picture", "ChartAxis", "Mark", "bars", "lines", "points", "columns"}
"""What has words for people even where they are single ones."""

VERBATIM = re.compile(
    r"(path|file|folder|name|column|columns|names|url|unit|epsilon|delta|type|number|value|values"
    r"|place|line|option|key|reason|level|levels)\d*$"
)
"""Names of places whose texts stay as they are."""

_CODE = re.compile(
    r"(SELECT|INSERT|CREATE|DELETE|UPDATE|WITH|WHERE|ORDER|GROUP|FROM|PRAGMA|BEGIN|SET|COPY|DROP"
    r"|ALTER|ATTACH|DECLARE|LOCK|UNION|FETCH|CASE|LEFT|JOIN|AND|ON|AS|CAST|shoal|import|pip)\b"
)

_UNSEEN = re.compile("|".join(UNSEEN_TEXTS), re.DOTALL)

ERRORS = {name for name in errors.__all__ if name.endswith("Error")} | {"ShoalError", "Stopped"}
"""The errors that are for people."""

Piece = str | tuple[str, str]
"""A literal text, or a place: its kind and a name for it. Kinds are n for numbers, w for words, r
for what is in quotes, or nothing."""

Template = tuple[Piece, ...]
"""The pieces of a text. What it goes by is among them: the kind ?, and a condition."""

MANY = 36
"""More choices than this in one text are not listed: words are looked up in their turn."""

DEEP = 8
"""How far words are followed through names and functions."""


@dataclass(frozen=True)
class Text:
    """A text of the library: its English with places, and where it is."""

    english: str
    file: str
    line: int
    template: Template
    wide: Callable[[], list[str]]
    """Samples with whole phrases put into it."""

    @property
    def sample(self) -> str:
        """The text with a mark at each place."""
        return sample(self.template)

    @property
    def room(self) -> str:
        """The room that says it."""
        return self.file.partition("/")[0].removesuffix(".py")


def sample(template: Template) -> str:
    """A text with a mark at each place."""
    marks = {"?": "", "r": f"'{MARK}'"}
    pieces = (piece if isinstance(piece, str) else marks.get(piece[0], MARK) for piece in template)
    return "".join(pieces).strip(" ")


MARK = "§"
"""What stands at places of a text when it is looked up."""


class Strict(Phrases):
    """Phrases that fit a text only if every English word of it has a counterpart."""

    kinds: ClassVar[Mapping[str, str]] = {
        kind: f"(?:{MARK}|{one})" for kind, one in Phrases.kinds.items()
    }

    def __init__(self, known: Mapping[str, str]) -> None:
        super().__init__(known)
        self.used: set[str] = set()
        """The phrases that were found."""

    def at_place(self, pattern: Pattern, name: str, part: str) -> str | None:
        """What is at a place, if that is no English, or known in its turn."""
        if not re.search("[A-Za-z]{2}", part):
            return part
        return self._word(part) if name.startswith(("w", "known")) else None

    def at_any_place(self, pattern: Pattern, name: str, part: str) -> None:
        """Nothing: what is nearly known is not known."""

    def _word(self, part: str) -> str | None:
        told = self.find(part.strip(" "))
        return told or (None if re.search("[A-Za-z]{2}", part) else part)

    def __call__(self, text: str) -> str:
        return self.find(text) or (text if not re.search("[A-Za-z]{2}", text) else UNKNOWN)

    def _sought(self, text: str) -> str | None:
        told = super()._sought(text)
        return None if told is None or UNKNOWN in told else told

    def _used(self, english: str, other: str) -> str:
        self.used.add(english)
        return other


UNKNOWN = "⚠"


def is_known(text: Text, said: Strict, language: str) -> bool:
    """Whether a language has a counterpart of all that a text says."""
    if text.sample in translations(language):
        return True  # marked in the code of the workbench, whose places have names
    if said.find(_filled(text.sample)) is not None:
        return True
    samples = [_filled(one) for one in text.wide()]
    return _filled(text.sample) not in samples and all(said.find(one) for one in samples)


def _filled(sample: str) -> str:
    """A text with a mark at the places of a template that is filled later."""
    return re.sub(r"\{\w*\}", MARK, sample).removeprefix(". ")


def missing(language: str) -> list[Text]:
    """The texts that a language lacks."""
    said = Strict(phrases(language)._known)
    found = {text.sample: text for text in library() if not is_known(text, said, language)}
    return list(found.values())


class Reader:
    """Reads the texts of one module."""

    def __init__(self, source: str, file: str = "") -> None:
        self.file = file
        self.tree = ast.parse(source)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.functions: defaultdict[str, list[ast.FunctionDef]] = defaultdict(list)
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            if isinstance(node, ast.FunctionDef):
                self.functions[node.name].append(node)
        self._scopes: dict[ast.AST, dict[str, list[ast.expr]]] = {}
        self.is_wide = False
        """Whether whole phrases are put into others, too."""

    def texts(self, *, only_errors: bool = False) -> Iterator[Text]:
        """All texts of the module, each choice of words apart."""
        for node in self._strings(self.tree):
            in_error = self._is_in(node, ERRORS.__contains__)
            if only_errors and not in_error:
                continue
            short = self._is_part_of_error(node)
            short = short or self._is_in(node, WORDS_OF_PICTURES.__contains__)
            for template in self.read(node):
                # Blanks at the ends are those of a sentence that it is put into.
                english = named(template).strip(" ")
                is_said = is_prose(english) or (
                    short and re.search("[a-z]{3}", literal_of(english))
                )
                if is_said and not _CODE.match(english) and not _UNSEEN.fullmatch(english):
                    wide = partial(self.wide, node)
                    yield Text(english, self.file, node.lineno, template, wide)

    def wide(self, node: ast.expr) -> list[str]:
        """Samples of a text with whole phrases put into it, where it takes some."""
        for reader in readers().values():
            reader.is_wide = True
        try:
            return [sample(template) for template in self.read(node)]
        finally:
            for reader in readers().values():
                reader.is_wide = False

    def _strings(self, node: ast.AST) -> Iterator[ast.expr]:
        """The outermost expressions that are texts."""
        for child in ast.iter_child_nodes(node):
            if not _is_unseen(child):
                for part in _read_parts(child):
                    yield from self._strings_of(part)

    def _strings_of(self, node: ast.AST) -> Iterator[ast.expr]:
        if not (isinstance(node, ast.expr) and _is_text(node)):
            yield from self._strings(node)
            return
        yield node
        for child in ast.walk(node):
            parts: list[ast.expr] = []
            if isinstance(child, ast.FormattedValue):
                parts = [child.value]
            elif isinstance(child, ast.BinOp):
                parts = [part for part in (child.left, child.right) if not _is_text(part)]
            for part in parts:
                # Short words are put in; whole phrases are texts of their own.
                is_put_in = bool(self.words(part))
                for text in self._strings_of(part):
                    if not is_put_in or any(map(_is_long, self.read(text))):
                        yield text

    def _is_in(self, node: ast.AST, called: Callable[[str], bool]) -> bool:
        """Whether a text is in an argument of something."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
            if isinstance(node, ast.Call) and called(_name(node.func)):
                return True
        return False

    def _is_part_of_error(self, node: ast.AST) -> bool:
        """Whether a text is, as it is, what an error says, or what to do."""
        call = self.parents[node]
        if isinstance(call, ast.Call) and _name(call.func) in ERRORS:
            return any(part is node for part in call.args[:2])
        return isinstance(call, ast.IfExp) and self._is_part_of_error(call)

    def read(self, node: ast.expr, depth: int = 0) -> list[Template]:
        """The texts that an expression may be: a place where that is not known."""
        match node:
            case ast.Constant(value=str(value)):
                return [(value,)]
            case ast.JoinedStr(values=values):
                return _joined([self.read(value, depth) for value in values])
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                parts = (left, right)
                return _joined([self.words(one, depth) or self.read(one, depth) for one in parts])
            case ast.FormattedValue(value=value, conversion=conversion, format_spec=spec):
                if conversion == -1 and spec is None and (choices := self.words(value, depth)):
                    return choices
        return [(self._place(node),)]

    def words(self, node: ast.expr, depth: int = 0) -> list[Template]:
        """The words between which the code chooses at a place.

        Nothing if they are not known, or if they are whole phrases: those are texts of their own.
        """
        found = self._words(node, depth)
        return [] if not self.is_wide and any(map(_is_long, found)) else found

    def _words(self, node: ast.expr, depth: int) -> list[Template]:
        if depth > DEEP:
            return []
        match node:
            case ast.Constant(value=str(value)):
                return [(value,)]
            case ast.JoinedStr() | ast.BinOp(op=ast.Add()) if _is_text(node):
                return self.read(node, depth + 1)
            case ast.IfExp():
                return self._either(node, depth)
            case ast.Call():
                return self._called(node, depth)
            case ast.Attribute(attr=name):
                return self._returned(properties().get(name, []), depth)
            case ast.Name(id=name):
                return self._all(self._assigned(name, node), depth)
            case ast.Subscript(value=ast.Dict(values=values)):
                return self._all(values, depth)
        return []

    def _all(self, values: Iterable[ast.expr], depth: int) -> list[Template]:
        """All words of several expressions, if those of each are known."""
        several = [self.words(value, depth + 1) for value in values]
        return [one for words in several for one in words] if all(several) else []

    def _either(self, node: ast.IfExp, depth: int) -> list[Template]:
        found: list[Template] = []
        is_known = False
        for branch, holds in ((node.body, True), (node.orelse, False)):
            words = self.words(branch, depth)
            is_known = is_known or bool(words)
            condition = ("?", _condition(node.test, holds))
            found += [(condition, *one) for one in words or [(self._place(branch),)]]
        return found if is_known else []

    def _called(self, node: ast.Call, depth: int) -> list[Template]:
        match node:
            case ast.Call(func=ast.Name(id="plural" | "many" as name), args=[number, noun]):
                return self._counted(number, noun, depth, of_people=name == "many")
            case ast.Call(func=ast.Name(id="_capital"), args=[inner]):
                return self.words(inner, depth)
            case ast.Call(func=ast.Name(id=name)):
                return self._returned(self.functions.get(name, []), depth)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
                return self._returned(self.functions.get(name, []), depth)
        return []

    def _counted(
        self, number: ast.expr, noun: ast.expr, depth: int, *, of_people: bool
    ) -> list[Template]:
        """A number and its noun, as `errors.plural` and `gates.many` put them."""
        nouns = self.words(noun, depth) or [(("w", _named(noun)),)]
        place = ("n", _named(number))
        is_one = ast.Compare(number, [ast.Eq()], [ast.Constant(1)])
        single, several = (("?", _condition(is_one, holds)) for holds in (True, False))
        found: list[Template] = []
        for one in nouns:
            are_people = of_people and one[-1] == "person"
            more = (*one[:-1], "people") if are_people else (*one, "s")
            found += [(single, place, " ", *one), (several, place, " ", *more)]
        return found

    def _returned(
        self, found: "list[ast.FunctionDef] | list[tuple[Reader, ast.FunctionDef]]", depth: int
    ) -> list[Template]:
        """What functions of a name return, if all of that is known."""
        every: list[Template] = []
        for one in found:
            reader, function = one if isinstance(one, tuple) else (self, one)
            returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
            if not returns:
                return []
            for node in returns:
                words = reader.words(node.value, depth + 1) if node.value else []
                if not words:
                    return []
                every += words
        return list(dict.fromkeys(every))

    def _assigned(self, name: str, node: ast.AST) -> list[ast.expr]:
        scope = node
        while scope in self.parents and not isinstance(scope, ast.FunctionDef):
            scope = self.parents[scope]
        if scope not in self._scopes:
            self._scopes[scope] = _assignments(scope)
        found = self._scopes[scope].get(name)
        if found is None and scope is not self.tree and name.upper() == name:
            if self.tree not in self._scopes:
                self._scopes[self.tree] = _assignments(self.tree)
            found = self._scopes[self.tree].get(name)
        return found or []

    def _place(self, node: ast.expr) -> tuple[str, str]:
        name = _named(node)
        if isinstance(node, ast.FormattedValue):
            spec = ast.unparse(node.format_spec) if node.format_spec else ""
            if "," in spec:
                return "n", name
            if node.conversion != -1:
                return "r", name
            if spec:
                return "", name
            node = node.value
        match node:
            case ast.Call(func=ast.Name(id="len")):
                return "n", name
            case ast.Call(func=func) if _name(func) in {"listed", "repr"}:
                return "r", name
            case ast.Call(func=func) if _name(func) in {"join", "percent"}:
                return "", name
        return "" if VERBATIM.match(name) else "w", name


def _is_unseen(node: ast.AST) -> bool:
    """Whether nothing in a piece of code is said."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.arg():
            return True  # a docstring; an annotation
        case ast.FunctionDef(name=name):
            return name in UNSEEN_FUNCTIONS
        case ast.keyword(arg=arg):
            return arg in UNSEEN_ARGUMENTS
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Constant(), attr="split")):
            return True  # names in one text
    return False


def _read_parts(node: ast.AST) -> list[ast.AST]:
    """The parts of a piece of code in which something may be said."""
    match node:
        case ast.Call(func=func) if _name(func) in UNSEEN_CALLS:
            return [func]
        case ast.Call(func=func, args=args) if _name(func) in UNSEEN_PLACES:
            unseen = UNSEEN_PLACES[_name(func)]
            return [argument for place, argument in enumerate(args) if place not in unseen]
        case ast.Compare(left=left, comparators=comparators):
            # What something is compared with is not said.
            return [part for part in (left, *comparators) if not _is_text(part)]
        case ast.Assert(test=test):
            return [test]
        case ast.AnnAssign(value=value):
            return [] if value is None else [value]
    return [node]


_UNKNOWN = ast.Name(id="?")


def _assignments(scope: ast.AST) -> dict[str, list[ast.expr]]:
    """What is assigned to the names of a function."""
    found: defaultdict[str, list[ast.expr]] = defaultdict(list)
    for inner in ast.walk(scope):
        for target, value in _bound(inner):
            if isinstance(target, ast.Tuple):
                for place, one in enumerate(target.elts):
                    if isinstance(one, ast.Name):
                        found[one.id] += _part(value, place)
            elif isinstance(target, ast.Name):
                found[target.id].append(value)
    return found


def _bound(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What gets a value in a piece of code, and which."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.AugAssign(target=target):
            yield target, _UNKNOWN
        case ast.For(target=target, iter=ast.Tuple(elts=elts)):
            yield from ((target, value) for value in elts)
        case ast.For(target=target) | ast.comprehension(target=target):
            yield from ((one, _UNKNOWN) for one in ast.walk(target) if isinstance(one, ast.Name))
        case ast.arguments(args=args, kwonlyargs=more):
            yield from ((ast.Name(id=one.arg), _UNKNOWN) for one in (*args, *more))


def _part(value: ast.expr, place: int) -> list[ast.expr]:
    match value:
        case ast.Tuple(elts=elts) if place < len(elts):
            return [elts[place]]
        case ast.IfExp(body=body, orelse=orelse):
            either = [*_part(body, place), *_part(orelse, place)]
            return [ast.IfExp(value.test, *either)] if len(either) == 2 else either
    return [_UNKNOWN]


@cache
def readers() -> dict[str, Reader]:
    """What reads each module of the package."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE).as_posix()
        found[file] = Reader(path.read_text("utf-8"), file)
    return found


@cache
def properties() -> dict[str, list[tuple[Reader, ast.FunctionDef]]]:
    """The properties of all classes by their names."""
    found: defaultdict[str, list[tuple[Reader, ast.FunctionDef]]] = defaultdict(list)
    fields = set()
    for file, reader in readers().items():
        if file.split("/")[0] in {*ROOMS_THAT_PAGES_DO_NOT_USE, "workbench"}:
            continue
        for node in ast.walk(reader.tree):
            match node:
                case ast.FunctionDef(name=name, decorator_list=[ast.Name(id="property"), *_]):
                    found[name].append((reader, node))
                case ast.AnnAssign(target=ast.Name(id=name), annotation=kind) if isinstance(
                    reader.parents[node], ast.ClassDef
                ):
                    if ast.unparse(kind) not in ("int", "float", "bool", "Fraction"):
                        fields.add(name)
    # A field of the same name may be anything.
    return {name: several for name, several in found.items() if name not in fields}


def _name(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def _is_text(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr():
            return True
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _is_text(left) or _is_text(right)
    return False


def _is_long(template: Template) -> bool:
    return any(
        re.search("[A-Za-z]{2,},? [a-z]{2,}", piece) for piece in template if isinstance(piece, str)
    )


def _condition(test: ast.expr, holds: bool) -> str:
    """A condition that holds or does not; whether something is 1 is asked in several ways."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _condition(operand, not holds)
        case ast.Compare(left=left, ops=[ast.NotEq() | ast.Gt()], comparators=[ast.Constant(1)]):
            return _condition(ast.Compare(left, [ast.Eq()], [ast.Constant(1)]), not holds)
    return f"{ast.unparse(test)}: {holds}"


def _is_possible(template: Template) -> bool:
    held = {piece[1] for piece in template if not isinstance(piece, str) and piece[0] == "?"}
    return not any(f"{one.removesuffix('True')}False" in held for one in held)


def _joined(parts: Iterable[list[Template]]) -> list[Template]:
    parts = list(parts)
    while True:
        number = 1
        for part in parts:
            number *= len(part)
        if number <= MANY:
            every = (sum(chosen, ()) for chosen in product(*parts))
            return list(dict.fromkeys(filter(_is_possible, every)))
        largest = max(range(len(parts)), key=lambda place: len(parts[place]))
        parts[largest] = [(("w", "choice"),)]


def _named(node: ast.expr) -> str:
    """A name for a place."""
    node = node.value if isinstance(node, ast.FormattedValue) else node
    unnamed = {"self", "len", "repr", "str", "join", "sorted", "map", "listed", "float", "percent"}
    words = [word for word in re.findall(r"[A-Za-z]\w*", ast.unparse(node)) if word not in unnamed]
    return words[-1].lower().strip("_") if words else "value"


def named(template: Template) -> str:
    """A text with places whose names are their kinds and what is there."""
    used: set[str] = set()
    parts = []
    for piece in template:
        if isinstance(piece, str):
            parts.append(piece.replace("{", "{{").replace("}", "}}"))
            continue
        kind, name = piece
        if kind == "?":
            continue
        # Kinds are told by the beginning of a name.
        if kind in ("n", "w"):
            name = f"{kind}_{name}"
        elif name[0] == "w" or name.split("_")[0] in ("n", "p"):
            name = f"a_{name}"
        whole, number = name, 1
        while whole in used:
            number += 1
            whole = f"{name}_{number}"
        used.add(whole)
        parts.append(f"{{{whole}}}")
    return "".join(parts)


def literal_of(english: str) -> str:
    """What is written of a text, with an X for every place and for code."""
    return re.sub(r"(?<!\{)\{\w+\}(?!\})|`[^`]*`", "X", english)


def is_prose(text: str) -> bool:
    """Whether a text is words for people: two of them, or one beside a value."""
    words = literal_of(text)
    beside = r"[A-Za-z]{2,},? [a-z]{2,}|[a-z]{2,}:? X|X:? [a-z]{2,}|X-[a-z]{8,}"
    return re.search(beside, words) is not None


def said_in(file: str) -> Iterator[Text]:
    """The texts of a module that pages may show."""
    if file.split("/")[0] in ROOMS_THAT_PAGES_DO_NOT_USE:
        return
    if any(re.fullmatch(one, file) for one in NOT_USED):
        return
    only_errors = any(re.fullmatch(one, file) for one in ONLY_ERRORS)
    yield from readers()[file].texts(only_errors=only_errors)


@cache
def library() -> tuple[Text, ...]:
    """All texts of the library that pages may show."""
    return tuple(text for file in readers() for text in said_in(file))


def main(language: str) -> None:
    """Print what a language lacks, as lines of the files that it belongs into."""
    from tests.workbench.test_texts import texts

    marked = sorted(texts() - translations(language).keys())
    rooms: defaultdict[str, list[str]] = defaultdict(list)
    for text in missing(language):
        rooms[f"phrases-{language}/{text.room}.toml"].append(text.english)
    for file, several in {f"{language}/*.toml": marked, **rooms}.items():
        if several:
            print(f"# {file}")
            for english in several:
                print(f'{json.dumps(english, ensure_ascii=False)} = ""')


if __name__ == "__main__":
    main(sys.argv[1])
