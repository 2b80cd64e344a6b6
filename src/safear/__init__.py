"""SafeAR: plans for people whom a model rejected, with the risk in plain sight.

    import safear as sa

    problem = sa.load_problem("loan.yaml")
    menu = sa.recommend(problem, model, person)

Names are loaded on first use, so that `import safear` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from safear._version import __version__

if TYPE_CHECKING:
    from safear import datasets as datasets
    from safear import plots as plots
    from safear import reports as reports
    from safear.classifier.adapters import FunctionClassifier as FunctionClassifier
    from safear.classifier.adapters import ModelClassifier as ModelClassifier
    from safear.classifier.adapters import RuleClassifier as RuleClassifier
    from safear.classifier.adapters import TableClassifier as TableClassifier
    from safear.classifier.adapters import as_classifier as as_classifier
    from safear.classifier.protocol import Classifier as Classifier
    from safear.classifier.protocol import Inputs as Inputs
    from safear.classifier.sources import load_classifier as load_classifier
    from safear.datasets.bundled import example_names as example_names
    from safear.datasets.bundled import load_example as load_example
    from safear.errors import ClassifierError as ClassifierError
    from safear.errors import InputError as InputError
    from safear.errors import MDPError as MDPError
    from safear.errors import MissingExtraError as MissingExtraError
    from safear.errors import Mistake as Mistake
    from safear.errors import ObjectiveError as ObjectiveError
    from safear.errors import PersonError as PersonError
    from safear.errors import ProblemError as ProblemError
    from safear.errors import SafearError as SafearError
    from safear.errors import TermsError as TermsError
    from safear.errors import TooLargeError as TooLargeError
    from safear.evaluation.backward import StateCosts as StateCosts
    from safear.evaluation.backward import StateDistributions as StateDistributions
    from safear.evaluation.backward import evaluate_states as evaluate_states
    from safear.evaluation.forward import Runs as Runs
    from safear.evaluation.forward import evaluate as evaluate
    from safear.evaluation.forward import run_exactly as run_exactly
    from safear.evaluation.policy import Policy as Policy
    from safear.evaluation.policy import SpentPolicy as SpentPolicy
    from safear.evaluation.policy import StatePolicy as StatePolicy
    from safear.evaluation.simulate import simulate as simulate
    from safear.mdp.arrays import MDP as MDP
    from safear.mdp.check import check_mdp as check_mdp
    from safear.mdp.compile import compile_mdp as compile_mdp
    from safear.mdp.families import Family as Family
    from safear.mdp.families import compile_blocks as compile_blocks
    from safear.mdp.families import compile_families as compile_families
    from safear.mdp.space import StateSpace as StateSpace
    from safear.population.audit import Audit as Audit
    from safear.population.audit import audit as audit
    from safear.population.batch import BatchSummary as BatchSummary
    from safear.population.batch import batch as batch
    from safear.population.family_figures import LaneFigures as LaneFigures
    from safear.population.family_figures import summarise as summarise
    from safear.population.family_plans import FamilySolution as FamilySolution
    from safear.population.family_plans import SpaceSolution as SpaceSolution
    from safear.population.family_plans import solve_families as solve_families
    from safear.population.family_plans import solve_family as solve_family
    from safear.population.family_plans import solve_space as solve_space
    from safear.problem.checks import check_problem as check_problem
    from safear.problem.condition import Condition as Condition
    from safear.problem.condition import parse_condition as parse_condition
    from safear.problem.document import problem_schema as problem_schema
    from safear.problem.dump import dump_problem as dump_problem
    from safear.problem.dump import dump_problem_text as dump_problem_text
    from safear.problem.load import load_person as load_person
    from safear.problem.load import load_problem as load_problem
    from safear.problem.load import load_terms as load_terms
    from safear.problem.load import parse_problem as parse_problem
    from safear.problem.load import parse_terms as parse_terms
    from safear.problem.model import Action as Action
    from safear.problem.model import Feature as Feature
    from safear.problem.model import Goal as Goal
    from safear.problem.model import Move as Move
    from safear.problem.model import Outcome as Outcome
    from safear.problem.model import Problem as Problem
    from safear.problem.model import SetTo as SetTo
    from safear.problem.model import SideEffect as SideEffect
    from safear.problem.person import read_person as read_person
    from safear.problem.quantity import Amount as Amount
    from safear.problem.quantity import ByCase as ByCase
    from safear.problem.quantity import ByLevel as ByLevel
    from safear.problem.terms import ActionTerms as ActionTerms
    from safear.problem.terms import Terms as Terms
    from safear.problem.terms import apply_terms as apply_terms
    from safear.recourse.frontier import Frontier as Frontier
    from safear.recourse.frontier import find_frontier as find_frontier
    from safear.recourse.menu import Menu as Menu
    from safear.recourse.menu import recommend as recommend
    from safear.recourse.offer import Offer as Offer
    from safear.recourse.plan import Plan as Plan
    from safear.recourse.plan import make_plan as make_plan
    from safear.recourse.records import menu_record as menu_record
    from safear.recourse.traces import Trace as Trace
    from safear.recourse.traces import find_traces as find_traces
    from safear.risk.distribution import CostDistribution as CostDistribution
    from safear.risk.distribution import Costs as Costs
    from safear.risk.objectives import Budget as Budget
    from safear.risk.objectives import CVaR as CVaR
    from safear.risk.objectives import Entropic as Entropic
    from safear.risk.objectives import Mean as Mean
    from safear.risk.objectives import MeanCVaR as MeanCVaR
    from safear.risk.objectives import MeanLowerStd as MeanLowerStd
    from safear.risk.objectives import MeanStd as MeanStd
    from safear.risk.objectives import MeanVariance as MeanVariance
    from safear.risk.objectives import Objective as Objective
    from safear.risk.objectives import SuccessFirst as SuccessFirst
    from safear.risk.objectives import VaR as VaR
    from safear.risk.objectives import parse_objective as parse_objective
    from safear.solvers.episodic import Episodic as Episodic
    from safear.solvers.solution import LearningCurve as LearningCurve
    from safear.solvers.solution import Solution as Solution
    from safear.solvers.solve import solve as solve

_MODULES = {
    "safear": ["datasets", "plots", "reports"],
    "safear.population.audit": ["Audit", "audit"],
    "safear.population.batch": ["BatchSummary", "batch"],
    "safear.classifier.adapters": [
        "FunctionClassifier",
        "ModelClassifier",
        "RuleClassifier",
        "TableClassifier",
        "as_classifier",
    ],
    "safear.classifier.sources": ["load_classifier"],
    "safear.classifier.protocol": ["Classifier", "Inputs"],
    "safear.datasets.bundled": ["example_names", "load_example"],
    "safear.errors": [
        "ClassifierError",
        "InputError",
        "MDPError",
        "MissingExtraError",
        "Mistake",
        "ObjectiveError",
        "PersonError",
        "ProblemError",
        "SafearError",
        "TermsError",
        "TooLargeError",
    ],
    "safear.evaluation.forward": ["Runs", "evaluate", "run_exactly"],
    "safear.population.family_figures": ["LaneFigures", "summarise"],
    "safear.evaluation.simulate": ["simulate"],
    "safear.evaluation.backward": ["StateCosts", "StateDistributions", "evaluate_states"],
    "safear.mdp.check": ["check_mdp"],
    "safear.mdp.compile": ["compile_mdp"],
    "safear.mdp.families": ["Family", "compile_blocks", "compile_families"],
    "safear.mdp.arrays": ["MDP"],
    "safear.mdp.space": ["StateSpace"],
    "safear.recourse.frontier": ["Frontier", "find_frontier"],
    "safear.recourse.menu": ["Menu", "recommend"],
    "safear.recourse.offer": ["Offer"],
    "safear.recourse.plan": ["Plan", "make_plan"],
    "safear.recourse.records": ["menu_record"],
    "safear.recourse.traces": ["Trace", "find_traces"],
    "safear.risk.distribution": ["CostDistribution", "Costs"],
    "safear.risk.objectives": [
        "Budget",
        "CVaR",
        "Entropic",
        "Mean",
        "MeanCVaR",
        "MeanLowerStd",
        "MeanStd",
        "MeanVariance",
        "Objective",
        "SuccessFirst",
        "VaR",
        "parse_objective",
    ],
    "safear.solvers.episodic": ["Episodic"],
    "safear.evaluation.policy": ["Policy", "SpentPolicy", "StatePolicy"],
    "safear.solvers.solution": ["LearningCurve", "Solution"],
    "safear.solvers.solve": ["solve"],
    "safear.population.family_plans": [
        "FamilySolution",
        "SpaceSolution",
        "solve_families",
        "solve_family",
        "solve_space",
    ],
    "safear.problem.checks": ["check_problem"],
    "safear.problem.condition": ["Condition", "parse_condition"],
    "safear.problem.document": ["problem_schema"],
    "safear.problem.dump": ["dump_problem", "dump_problem_text"],
    "safear.problem.load": ["load_person", "load_problem", "load_terms", "parse_problem", "parse_terms"],
    "safear.problem.model": ["Action", "Feature", "Goal", "Move", "Outcome", "Problem", "SetTo", "SideEffect"],
    "safear.problem.person": ["read_person"],
    "safear.problem.quantity": ["Amount", "ByCase", "ByLevel"],
    "safear.problem.terms": ["ActionTerms", "Terms", "apply_terms"],
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "MDP",
    "Action",
    "ActionTerms",
    "Amount",
    "Audit",
    "BatchSummary",
    "Budget",
    "ByCase",
    "ByLevel",
    "CVaR",
    "Classifier",
    "ClassifierError",
    "Condition",
    "CostDistribution",
    "Costs",
    "Entropic",
    "Episodic",
    "Family",
    "FamilySolution",
    "Feature",
    "Frontier",
    "FunctionClassifier",
    "Goal",
    "InputError",
    "Inputs",
    "LaneFigures",
    "LearningCurve",
    "MDPError",
    "Mean",
    "MeanCVaR",
    "MeanLowerStd",
    "MeanStd",
    "MeanVariance",
    "Menu",
    "MissingExtraError",
    "Mistake",
    "ModelClassifier",
    "Move",
    "Objective",
    "ObjectiveError",
    "Offer",
    "Outcome",
    "PersonError",
    "Plan",
    "Policy",
    "Problem",
    "ProblemError",
    "RuleClassifier",
    "Runs",
    "SafearError",
    "SetTo",
    "SideEffect",
    "Solution",
    "SpaceSolution",
    "SpentPolicy",
    "StateCosts",
    "StateDistributions",
    "StatePolicy",
    "StateSpace",
    "SuccessFirst",
    "TableClassifier",
    "Terms",
    "TermsError",
    "TooLargeError",
    "Trace",
    "VaR",
    "__version__",
    "apply_terms",
    "as_classifier",
    "audit",
    "batch",
    "check_mdp",
    "check_problem",
    "compile_blocks",
    "compile_families",
    "compile_mdp",
    "datasets",
    "dump_problem",
    "dump_problem_text",
    "evaluate",
    "evaluate_states",
    "example_names",
    "find_frontier",
    "find_traces",
    "load_classifier",
    "load_example",
    "load_person",
    "load_problem",
    "load_terms",
    "make_plan",
    "menu_record",
    "parse_condition",
    "parse_objective",
    "parse_problem",
    "parse_terms",
    "plots",
    "problem_schema",
    "read_person",
    "recommend",
    "reports",
    "run_exactly",
    "simulate",
    "solve",
    "solve_families",
    "solve_family",
    "solve_space",
    "summarise",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'safear' has no attribute '{name}'")
    home = _HOMES[name]
    value = import_module(f"safear.{name}") if home == "safear" else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
