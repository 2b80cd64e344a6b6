"""Risk: exact cost distributions, their measures, and the objectives made of them."""
