"""How fast Shoal is, in units of `polars.read_csv` of the same file: `python -m bench`
(docs/reference/benchmarks.md).
"""

from shoal.cli.processor import sort_quickly

sort_quickly()  # as the command does, before anything here loads numpy
