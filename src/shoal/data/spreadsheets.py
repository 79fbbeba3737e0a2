"""Texts that a spreadsheet would run as formulas: finding them, and making them harmless.

Uses Polars only; `files` uses it. A text is made harmless by an apostrophe before it. Texts that
begin with apostrophes and go on as a formula get one more, so that every text comes back.
"""

from collections.abc import Callable
from typing import Any

import polars as pl

__all__ = ["columns_with_formulas", "neutralised", "restored", "texts_of"]

Change = Callable[[pl.Expr, pl.Expr], Any]
"""From a text, and whether it is a formula, to the beginning of a conditional expression."""

# What spreadsheets take for the start of a formula, and something behind it.
_FORMULA = r"(?s)^'*[=+\-@\t\r\n＝＋－＠]."
_SIGNED_NUMBER = r"^'*[+\-][0-9.,]+([eE][+\-]?[0-9]+)?%?$"


def columns_with_formulas(data: pl.DataFrame) -> list[str]:
    """The columns with a text, or a name, that a spreadsheet would run."""
    by_text = {column.name for column in texts_of(data) if _runs(column).any()}
    by_name = _runs(pl.Series(data.columns, dtype=pl.String)).to_list()
    names = zip(data.columns, by_name, strict=True)
    return [name for name, runs in names if runs or name in by_text]


def neutralised(data: pl.DataFrame) -> pl.DataFrame:
    """A dataframe with an apostrophe before every text that a spreadsheet would run."""

    def with_apostrophe(text: pl.Expr, formula: pl.Expr) -> Any:
        return pl.when(formula).then(pl.lit("'") + text)

    return _renewed(data, with_apostrophe)


def restored(data: pl.DataFrame) -> pl.DataFrame:
    """A dataframe that was read from a neutralised file with the texts it was made from."""

    def without_apostrophe(text: pl.Expr, formula: pl.Expr) -> Any:
        marked = formula & text.str.starts_with("'")
        return pl.when(marked).then(text.str.slice(1))

    return _renewed(data, without_apostrophe)


def texts_of(data: pl.DataFrame) -> list[pl.Series]:
    """The columns of texts, as such."""
    kinds = (pl.String, pl.Categorical, pl.Enum)
    columns = [column for column in data.get_columns() if column.dtype in kinds]
    return [column.cast(pl.String) for column in columns]


def _renewed(data: pl.DataFrame, change: Change) -> pl.DataFrame:
    """A dataframe whose texts and names that would be run are changed."""
    text = pl.col("text")
    chosen = change(text, _is_formula(text)).otherwise(text)

    def changed(column: pl.Series) -> pl.Series:
        return pl.DataFrame({"text": column}).select(chosen).to_series()

    names = changed(pl.Series(data.columns, dtype=pl.String)).to_list()
    texts = {column.name: changed(column) for column in texts_of(data)}
    columns = []
    for name, column in zip(names, data.get_columns(), strict=True):
        renewed = texts.get(column.name, column)
        columns.append(renewed.alias(name))
    return pl.DataFrame(columns)


def _is_formula(text: pl.Expr) -> pl.Expr:
    """Whether a text, but for apostrophes before it, would be run; a signed number would not."""
    return text.str.contains(_FORMULA) & ~text.str.contains(_SIGNED_NUMBER)


def _runs(column: pl.Series) -> pl.Series:
    """Which texts would be run, since they have no apostrophe before them."""
    text = pl.col("text")
    bare = _is_formula(text) & ~text.str.starts_with("'")
    return pl.DataFrame({"text": column}).select(bare).to_series()
