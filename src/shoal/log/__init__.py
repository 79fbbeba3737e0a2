"""What ledgers and audits are written in."""
