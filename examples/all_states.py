"""A whole block at once: exact figures from every state, and one of them simulated as a cross-check."""

import numpy as np

import safear as sa
from safear.evaluation import evaluate_states
from safear.mdp import check_mdp

problem = sa.load_example("health-insurance")
mdp = sa.compile_mdp(problem)
check_mdp(mdp)

for aversion in (0, 0.5, 1):
    solution = sa.solve(mdp, sa.MeanStd(risk_aversion=aversion), method="greedy")
    everybody = evaluate_states(solution)
    rejected = ~mdp.goal
    print(
        f"aversion {aversion}: {rejected.sum()} rejected states, "
        f"mean cost {everybody.mean[rejected].mean():.3f}, mean variance {everybody.variance[rejected].mean():.3f}"
    )

person = problem.default_person
exact = sa.evaluate(solution, start=person)
sampled = sa.simulate(solution, start=person, rollouts=10_000, rng=np.random.default_rng(0)).distribution
print(f"exact mean {exact.mean}, simulated {sampled.mean:.4f}")
