"""How files are read, as far as somebody says: one value for all doors.

Uses `csv_files` and `values`; `files` reads by it, and recipes, commands and the workbench fill it
in. Each format takes some of the options, and refuses the others instead of ignoring them.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from shoal.arguments import require_one_of
from shoal.data.csv_files import CsvOptions
from shoal.data.formats import (
    Labels,
    UserMissing,
    called,
    format_named,
    is_csv,
    unpacked_format,
)
from shoal.data.values import ValueOptions
from shoal.errors import ParameterError

__all__ = ["FileOptions"]

_WORKBOOKS = ("xlsx", "xlsb", "xls", "ods")
_STATISTICAL = ("sav", "zsav", "por", "dta", "sas7bdat", "xpt")


_ONLY = {
    "separator": ("csv",),
    "quote": ("csv",),
    "encoding": ("csv", "sav", "zsav", "dta", "sas7bdat", "xpt"),
    "sheet": _WORKBOOKS,
    "labels": _STATISTICAL,
    "user_missing": _STATISTICAL,
}
"""Options that only some formats have."""


@dataclass(frozen=True)
class FileOptions:
    """How a file is read; None is found out, or as the format has it.

    sheet: of a workbook
    labels: of SPSS, Stata and SAS files, whether codes or their texts are read
    user_missing: of those, whether values that are declared missing are
    """

    csv: CsvOptions = field(default_factory=CsvOptions)
    values: ValueOptions = field(default_factory=ValueOptions)
    sheet: str | None = None
    labels: Labels | None = None
    user_missing: UserMissing | None = None

    def __post_init__(self) -> None:
        if self.labels is not None:
            require_one_of("labels", self.labels, *get_args(Labels))
        if self.user_missing is not None:
            require_one_of("user_missing", self.user_missing, *get_args(UserMissing))

    @classmethod
    def of(  # noqa: PLR0913  keyword options
        cls,
        *,
        separator: str | None = None,
        quote: str | None = None,
        encoding: str | None = None,
        sheet: str | None = None,
        labels: Labels | None = None,
        user_missing: UserMissing | None = None,
        decimal: str | None = None,
        thousands: str | None = None,
        dates: str | Mapping[str, str] | None = None,
        missing_texts: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
    ) -> "FileOptions":
        """The options as `read` and recipes spell them."""
        return cls(
            CsvOptions(separator, quote, encoding),
            ValueOptions(decimal, thousands, dates, missing_texts),
            sheet,
            labels,
            user_missing,
        )

    @classmethod
    def fitting(
        cls, given: Mapping[str, Any], path: str | os.PathLike[str], form: str | None = None
    ) -> dict[str, Any]:
        """Those of some options, by name, that a file's format has.

        For a file that is read as another one is: beside it, or in its place.

        form: its format; else the one that its name says
        """
        form = form or format_named(path) or "csv"
        kept = {name: value for name, value in given.items() if value is not None}
        for name, forms in _ONLY.items():
            if unpacked_format(form) not in forms:
                kept.pop(name, None)
        return kept

    def require_for(self, path: object, form: str) -> None:
        """ParameterError if something is given that a format does not have."""
        named = f"{path} is {called(form)}"
        if self.csv and not is_csv(form):
            only_encoding = self.csv == CsvOptions(encoding=self.csv.encoding)
            if not (only_encoding and form in _STATISTICAL and form != "por"):
                raise ParameterError(
                    f"{named}: `separator`, `quote` and `encoding` are for CSV files"
                )
        if self.sheet is not None and form not in _WORKBOOKS:
            raise ParameterError(f"{named}: `sheet` is for Excel and OpenDocument files")
        statistical = form in _STATISTICAL
        for option in ("labels", "user_missing"):
            if getattr(self, option) is not None and not statistical:
                raise ParameterError(f"{named}: `{option}` is for SPSS, Stata and SAS files")
        if self.labels == "texts" and form in ("sas7bdat", "xpt"):
            raise ParameterError(
                f"{named}, which has no labels: SAS keeps them in a catalogue of its own",
                "read codes, or save it as .sav or .dta",
            )
        if self.user_missing == "values" and form in ("por", "xpt"):
            raise ParameterError(
                f"{named}, whose declared missing values are always missing",
                "leave out `user_missing`, or save it as .sav or .sas7bdat",
            )
