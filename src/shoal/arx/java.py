"""Objects that Java serialised, as plain values: parsed by javaobj-py3, never made or run.

The parser gets no transformers, so that every object is a record of its class's name and fields,
whatever the stream calls itself. What is read here is asked for by name and checked: a field that
is absent, or of another type, is None. Uses `errors`; `project` and `builders` use it.
"""

import logging
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from shoal.errors import FileError

__all__ = ["JavaObject", "load"]

_MAPS = ("java.util.HashMap", "java.util.LinkedHashMap")
_OPENED = "_shoal_opened"
_LISTS = ("java.util.ArrayList", "java.util.HashSet", "java.util.LinkedHashSet")


def load(content: bytes, what: str) -> "JavaObject":
    """The object in a stream; FileError if there is none.

    what: what the stream is, as the message calls it
    """
    try:
        from javaobj.v2.core import JavaStreamParser
    except ImportError:
        raise FileError(
            f"{what} holds Java objects, and javaobj-py3 is not installed",
            "install it with: pip install 'shoal[arx]'",
        ) from None
    # It tells of every object it reads.
    log = logging.getLogger("javaobj")
    log.disabled = logging.getLogger("javaobj.parser").disabled = True
    try:
        contents = JavaStreamParser(BytesIO(content), []).run()
    except (Exception, RecursionError):
        # Whatever a damaged or forged stream makes of the parser: its message may show a part.
        raise _not_java(what) from None
    objects = [JavaObject(one) for one in contents if hasattr(one, "field_data")]
    if not objects:
        raise _not_java(what)
    return objects[0]


def _not_java(what: str) -> FileError:
    return FileError(f"{what} is not a whole stream of Java objects", "save it in ARX once more")


class JavaObject:
    """The name of an object's class, and its fields by name."""

    def __init__(self, bean: Any) -> None:
        self._bean = bean

    def __repr__(self) -> str:
        return f"<JavaObject {self.name}>"

    @property
    def name(self) -> str:
        """The name of the class, without its packages."""
        return str(self._bean.classdesc.name).rpartition(".")[2]

    def get(self, field: str) -> Any:
        """The value of a field: a plain value, a JavaObject, a list, a dict, or None.

        Where a class and one above it have fields of the same name, the class itself counts.
        """
        for fields in reversed(list(self._bean.field_data.values())):
            for key, value in fields.items():
                if key.name == field:
                    return plain(value)
        return None

    def number(self, field: str) -> float | None:
        """A field that is a finite number."""
        value = self.get(field)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return value if abs(value) < float("inf") else None

    def whole(self, field: str) -> int | None:
        """A field that is a whole number."""
        value = self.get(field)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def text(self, field: str) -> str | None:
        """A field that is a text, or the name of a constant."""
        value = self.get(field)
        return value if isinstance(value, str) else None

    def object(self, field: str) -> "JavaObject | None":
        """A field that is an object."""
        value = self.get(field)
        return value if isinstance(value, JavaObject) else None

    def list(self, field: str) -> list[Any]:
        """A field that is an array, a list or a set; empty if it is not."""
        value = self.get(field)
        return value if isinstance(value, list) else []

    def map(self, field: str) -> dict[Any, Any]:
        """A field that is a map; empty if it is not."""
        value = self.get(field)
        return value if isinstance(value, dict) else {}


def plain(bean: Any) -> Any:
    """A parsed part as a plain value; containers and boxed values are opened.

    Each part is opened once, so that lists of the same lists of lists do not multiply; one that
    holds itself holds None there.
    """
    if bean is None or isinstance(bean, bool | int | float | str):
        return bean
    if not hasattr(bean, _OPENED):
        setattr(bean, _OPENED, None)
        setattr(bean, _OPENED, _opened(bean))
    return getattr(bean, _OPENED)


def _opened(bean: Any) -> Any:
    match type(bean).__name__:
        case "JavaString":
            return str(bean.value)
        case "JavaEnum":
            return str(bean.value.value)
        case "JavaArray":
            return [plain(one) for one in bean.data]
        case "JavaInstance":
            return _instance(bean)
    return None


def _instance(bean: Any) -> Any:
    full = str(bean.classdesc.name)
    if full in _MAPS:
        parts = list(map(plain, _written(bean, *_MAPS)))
        pairs = zip(parts[::2], parts[1::2], strict=False)
        return {key: value for key, value in pairs if isinstance(key, str | int)}
    if full in _LISTS:
        return [plain(one) for one in _written(bean, *_LISTS)]
    if full.startswith("java.lang."):
        return JavaObject(bean).get("value")
    return JavaObject(bean)


def _written(bean: Any, *classes: str) -> Iterator[Any]:
    """What a container of Java's wrote after its fields: its size, which is left out, and more."""
    for described, parts in bean.annotations.items():
        if str(described.name) in classes:
            yield from (part for part in parts if type(part).__name__ != "BlockData")
