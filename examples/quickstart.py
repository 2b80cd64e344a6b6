"""From a bundled problem to a menu of plans, with the risk of each."""

import safear as sa

problem = sa.load_example("loan")
menu = sa.recommend(problem)  # the problem's own rule decides, and its first person asks

for offer in menu:
    costs = offer.cost.all_runs
    print(f"{offer.name}: first {offer.first_action}; {offer.cost.success:.1%} succeed")
    print(f"  costs {costs.mean:.2f} months on average, {costs.cvar(0.95):.2f} in the worst 5% of cases")

print(menu["safest"].plan)
print(sa.walk(menu["safest"], ["fails"]))  # the first step failed: what now?
