"""The MDP: state space, cost lattice, compilation by block or by reachable set, and its checker."""
