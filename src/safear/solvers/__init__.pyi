from safear.solvers.episodic import Episodic as Episodic
from safear.solvers.solution import LearningCurve as LearningCurve
from safear.solvers.solution import Solution as Solution
