"""Your own scikit-learn model: strings in, strings out, a threshold other than 0.5, and one person's own terms."""

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import safear as sa

problem = sa.parse_problem(
    """
safear: 1
title: Credit card
horizon: 6
cost: {unit: weeks}
features:
  income:  {kind: numeric, edges: [20000, 35000, 60000], levels: [low, fair, good, high]}
  history: {kind: ordinal, levels: [bad, none, good]}
  branch:  {kind: nominal, levels: [north, south], mutable: false}
  coached: {kind: nominal, levels: [no, yes], seen_by_classifier: false}
goal: {favourable: granted, threshold: 0.6, failure_cost: 20}
actions:
  take coaching: {cost: 1.5, change: {coached: yes}}
  earn more:
    cost: 1.5
    chance: [{when: coached == yes, chance: 0.8}, 0.5]
    change: {income: +1}
  repay on time: {cost: 3, chance: {none: 0.9, good: 0.97}, change: {history: +1}}
people:
  applicant: {income: 28500, history: none, branch: north, coached: no}
"""
)

# A model of one's own, trained on level names. It never sees 'coached'.
rng = np.random.default_rng(0)
people = pd.DataFrame(
    {
        "branch": rng.choice(["north", "south"], 500),
        "history": rng.choice(["bad", "none", "good"], 500),
        "income": rng.choice(["low", "fair", "good", "high"], 500),
    }
)
points = people["history"].map({"bad": 0, "none": 1, "good": 2}) + people["income"].map(
    {"low": 0, "fair": 1, "good": 2, "high": 3}
)
granted = np.where(points + rng.normal(0, 0.3, 500) > 2.5, "granted", "refused")
model = make_pipeline(OneHotEncoder(), RandomForestClassifier(n_estimators=50, random_state=0)).fit(people, granted)

menu = sa.recommend(problem, model)
for offer in menu:
    print(f"{offer.name}: {offer.first_action}, {offer.cost.success:.1%} succeed, {offer.cost.all_runs.mean:.2f} weeks")

# Coaching is not for everybody.
mine = sa.Terms.of(cost={"repay on time": 2}, forbid=["take coaching"])
for offer in sa.recommend(problem, model, terms=mine):
    print(f"on my terms, {offer.name}: {offer.plan.steps[0]}")
