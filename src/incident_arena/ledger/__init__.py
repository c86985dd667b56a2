"""The load's ledger: written, read, and the rates that follow from it."""
