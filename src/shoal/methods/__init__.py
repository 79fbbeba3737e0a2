"""Ways to release a table, one folder or module each, and the catalogue of them.

`method` has what all of them keep. Uses every room above; the ledger, the attacks, recipes and the
doors use it.
"""
