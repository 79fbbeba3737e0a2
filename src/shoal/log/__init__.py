"""The one hash-chained log under ledgers and audits.

`chain` says what an entry is, `store` reads and appends in a database (`sqlite` or `postgres`),
`pages` accounts for every byte of a file, `custody` looks after the file and `witness` after older
copies. The rooms `ledger` and `audit` use it; it uses `errors` only.
"""
