"""What counts the rows of a table where they are: one module for each kind of engine.

An engine groups the rows by some columns and hands over the distinct ones. It draws nothing, and it
is told nothing but the names of columns. Uses `errors`; `distant` uses it.
"""

from typing import Literal

__all__ = ["CATALOGUE", "CONNECT", "EngineName"]

EngineName = Literal["memory", "stream", "spark"]
"""What counts the rows of files."""

CATALOGUE = "spark://"
"""How the address of Spark's master begins; alone, it stands for the tables of a session."""
CONNECT = "sc://"
"""How the address of a server of Spark Connect begins."""
