"""All optimal plans between the cheapest and the safest, with certificates, and the paper's greedy plan beside them."""

import safear as sa
from safear.recourse import make_plan

problem = sa.load_example("health-insurance")
menu = sa.recommend(problem, level=0.95)

print("average  worst 5%  success   first step      offered as")
names = {offer.solution: offer.name for offer in menu}
for plan in menu.frontier:
    name = names.get(plan.solution, "")
    print(f"{plan.mean:7.3f}  {plan.tail:8.3f}  {plan.cost.success:7.4f}   {plan.first_action:14}  {name}")

mdp = sa.compile_mdp(problem, start=problem.default_person)
for aversion in (0.5, 1.0, 2.0):
    objective = sa.MeanStd(aversion)
    optimal, greedy = sa.solve(mdp, objective), sa.solve(mdp, objective, method="greedy")
    value = objective.of(sa.evaluate(greedy))
    print(f"{objective}: optimal {optimal.value:.4f} (no plan is below {optimal.bound:.4f}), greedy {value:.4f}")

# What to do can depend on what has been spent: within a budget of 2 quarters, for one.
within = sa.solve(mdp, sa.Budget(limit=2))
print(f"within 2 quarters with probability {1 - within.value:.4f}:")
print(make_plan(within))
