"""Solvers: policies for an MDP and an objective."""
