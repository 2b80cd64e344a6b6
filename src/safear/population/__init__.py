"""Auditing: what a population gets, group by group, from counts of people per state."""
