"""Repertoires, the results of runs: load, save, check, choose from, merge, regrid, convert, summarise."""
