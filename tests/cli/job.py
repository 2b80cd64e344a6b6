"""A problem for commands about many people."""

from __future__ import annotations

JOB = """\
safear: 1
title: A better job
horizon: 4
cost: {unit: months}
features:
  skill: {kind: ordinal, levels: [basic, skilled, expert]}
  age: {kind: numeric, edges: [30, 50]}
  gender: {kind: nominal, levels: [female, male], mutable: false}
goal: {favourable: hired, failure_cost: 12}
actions:
  learn:
    cost: 1
    outcomes: [{chance: 0.6, change: {skill: +1}}, {chance: 0.4, cost: 4}]
  study: {cost: 3, chance: 0.95, change: {skill: +1}}
"""
