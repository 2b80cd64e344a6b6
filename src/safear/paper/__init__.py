"""The SafeAR paper (AAAI-24), recomputed: its tables beside ours, exact and simulated."""
