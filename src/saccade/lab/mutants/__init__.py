"""Mutants: formulas altered one at a time, to see which alterations a ledger does not notice."""
