"""Recourse for a person: traces, contingent plans in plain words, menus."""
