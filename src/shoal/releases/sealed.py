"""Documents that reveal when they were changed: canonical JSON with a version and a seal.

The seal is the digest of everything else. It guards against accidents, not against forgers, who can
seal anew. Uses `errors`; the certificates of single releases and of several releases together are
such documents.
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from shoal.errors import FileError

__all__ = ["DocumentKind", "canonical", "seal_of", "sealed", "unsealed"]

_SEAL = "seal"


@dataclass(frozen=True)
class DocumentKind:
    """A kind of document: what it is called, the version of its layout, and where readers get it.

    The version is written under the `key`. It goes up with every change that older readers would
    misread.
    """

    key: str
    version: int
    called: str
    get_it: str

    @property
    def invalid(self) -> FileError:
        """The error for a text that is not such a document at all."""
        return FileError(f"this is not a valid {self.called}", self.get_it)


def sealed(content: Mapping[str, Any], document: DocumentKind) -> str:
    """The content in its canonical form, with version and seal.

    >>> note = DocumentKind("note", 1, "note", "ask for one")
    >>> print(sealed({"text": "hello"}, note))
    {
     "note": 1,
     "seal": "e746e0c57a5bf31f3719de9738070123227ccddb86c81116b00fca6bfcb3ba40",
     "text": "hello"
    }
    <BLANKLINE>
    """
    versioned = {**content, document.key: document.version}
    return canonical({**versioned, _SEAL: seal_of(versioned)})


def unsealed(
    text: str, document: DocumentKind, keys: Collection[str], optional: Collection[str] = ()
) -> dict[str, Any]:
    """The content of a text that `sealed` wrote, with these keys; FileError for any other text.

    optional: keys that it may have besides

    >>> note = DocumentKind("note", 1, "note", "ask for one")
    >>> unsealed(sealed({"text": "hello"}, note), note, ["text"])
    {'text': 'hello'}
    >>> unsealed(sealed({"text": "hello"}, note).replace("hello", "hullo"), note, ["text"])
    Traceback (most recent call last):
    shoal.errors.FileError: the note was changed after it was written; get it again from whoever \
wrote it
    """
    try:
        content: dict[str, Any] = json.loads(text)
        del content[_SEAL]
        version = content.pop(document.key)
        if version == document.version:
            again = sealed(content, document)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise document.invalid from None
    if version != document.version:
        raise FileError(
            f"the {document.called} has {_layout(version)}, "
            f"and this version of Shoal reads layout {document.version}",
            "use the version of Shoal that wrote it",
        )
    if again != text:
        raise FileError(
            f"the {document.called} was changed after it was written",
            "get it again from whoever wrote it",
        )
    if content.keys() - set(optional) != set(keys):
        raise document.invalid
    return content


def canonical(content: Mapping[str, Any]) -> str:
    """The one text of some content: sorted keys, one item per line, no NaN."""
    text = json.dumps(content, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
    return f"{text}\n"


def seal_of(content: Mapping[str, Any]) -> str:
    """The digest of some content."""
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def _layout(version: object) -> str:
    """A version that anybody may have written, in words that are safe to print."""
    return f"layout {version}" if type(version) is int else "an unknown layout"
