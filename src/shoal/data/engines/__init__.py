"""What counts the rows of a table where they are: one module for each kind of engine.

An engine groups the rows by some columns and hands over the distinct ones, or it hands over all
rows in order. It draws nothing, and it is given nothing but the names of columns. Uses `errors`;
`distant`, `databases` and `files` use it. Here are the names that recipes and doors need.
"""

from typing import Literal

__all__ = ["CATALOGUE", "CONNECT", "EngineName"]

EngineName = Literal["memory", "stream", "spark"]
"""What counts the rows of files."""

CATALOGUE = "spark://"
"""How the address of Spark's master begins; alone, it stands for the tables of a session."""
CONNECT = "sc://"
"""How the address of a server of Spark Connect begins."""
