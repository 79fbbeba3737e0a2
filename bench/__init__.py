"""How fast Shoal is, in units of `polars.read_csv` of the same file: `python -m bench`
(docs/benchmarks.md).
"""
