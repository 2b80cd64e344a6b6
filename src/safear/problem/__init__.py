"""Problems: what can be changed, by which actions, at what cost and with what chances, and what the goal is.

A problem is read from a file (`load_problem`) or built of its parts (`Problem`, `Feature`, `Action`, ...), and checked
(`check_problem`); `Terms` are what actions mean for one person.
"""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
