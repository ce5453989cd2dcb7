"""What is in a store, seen from outside: list and show runs, open many as one dataset, export,
merge two stores, check, clean up.

Names and texts in a store were written by somebody else: they are shown, never executed, and never
used as paths.
"""
