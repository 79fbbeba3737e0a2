"""`Release` and its `Certificate`, how released rows are laid out, and `verification`.

Methods make releases. `verification` checks written ones with none of the code that made them. Uses
the rooms from `errors` to `privacy`.
"""
