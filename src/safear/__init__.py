"""SafeAR: plans for people whom a model rejected, with the risk in plain sight.

    import safear as sa

    problem = sa.load_problem("loan.yaml")
    menu = sa.recommend(problem, model, person)

What most people need is here. The parts are in the packages below: `safear.problem` (what a problem is made of),
`safear.classifier`, `safear.mdp`, `safear.risk`, `safear.evaluation`, `safear.solvers`, `safear.recourse` (one person),
`safear.people` and `safear.population` (many), `safear.errors`.
"""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
