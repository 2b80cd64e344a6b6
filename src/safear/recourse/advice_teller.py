"""Advice for somebody without recourse in the words of a language."""

from __future__ import annotations

import math
from dataclasses import dataclass

from safear.recourse.advice import OF_THE_PERSON, Advice, Approach, Relaxation
from safear.recourse.teller import Teller


@dataclass(frozen=True, slots=True)
class AdviceTeller:
    """Tells how near a person can come, and what would help them."""

    advice: Advice
    teller: Teller

    def lines(self, *, to_person: bool) -> list[str]:
        """All of it. What nobody can ask of a person, such as to be younger, is left out if it is `to_person`."""
        found, said = self.advice, []
        if found.closest is not None:
            said.append(self.closest(found.closest))
        if found.levels_accepted:
            said.append(self.teller("advice.levels_accepted"))
        said += [self.relaxation(one) for one in found.relaxations if not to_person or self._is_up_to_them(one)]
        return said if found.is_complete else [*said, self.teller("advice.incomplete")]

    def closest(self, found: Approach) -> str:
        """`The closest you can get: income becomes 2,500 EUR. Your score is then 0.47, ...`."""
        texts = self.teller.texts
        values = {"score": texts.exact_number(_cut(found.score)), "today": texts.exact_number(_cut(found.today))}
        values |= {} if found.needed is None else {"needed": texts.exact_number(found.needed)}
        values["changes"] = texts.join(self.teller.changes(found.changes, "becomes"))
        key = "closest" if found.changes else "stays"
        said = self.teller(f"advice.{key}", **values)
        return said if found.needed is None else f"{said} {self.teller('advice.needed', **values)}"

    def relaxation(self, one: Relaxation) -> str:
        """`If “find a guarantor” is possible for you after all, 90% of cases would reach “good”, for 3 months`."""
        tell, problem = self.teller, self.advice.problem
        goal, key = tell.quoted_goal(problem), "accepted" if one.success == 1 and one.mean == 0 else "plan"
        mean = tell.cost(one.mean, problem.cost_unit)
        then = tell(f"advice.then.{key}", goal=goal, success=tell.percent(one.success), mean=mean)
        values: dict[str, object] = {"then": then, "action": tell.quote_action(one.action), "count": one.horizon or 0}
        values["what"] = "" if one.rule is None else tell.condition(one.rule)
        values |= {"feature": tell.quote_feature(one.feature), "level": self._level(one)}
        brought = [
            tell("advice.bring", feature=tell.quote_feature(p.feature), level=tell.promise(p)) for p in one.promises
        ]
        values["changes"] = tell.texts.join(brought)
        return tell(f"advice.{one.code}", **values)

    def _level(self, one: Relaxation) -> str:
        if one.value is None:
            return self.teller.texts.quote(self.teller.level(one.feature, one.level))
        if one.code == "budget":
            return self.teller.exact_cost(one.value, self.advice.problem.cost_unit)
        return self.teller.measure(one.value, self.advice.problem.feature_by_name[one.feature].unit)

    def _is_up_to_them(self, one: Relaxation) -> bool:
        if one.code not in OF_THE_PERSON:
            return True
        feature = self.advice.problem.feature_by_name[one.feature]
        return one.code == "number" and feature.mutable and feature.actionable


def _cut(score: float) -> float:
    """With three decimals, never up: what is not enough must not look as if it were."""
    return math.floor(score * 1000 + 1e-9) / 1000
