"""How long something takes: so many days, weeks, months or years, and the day on which it is over."""

from __future__ import annotations

import calendar
import math
import re
from dataclasses import dataclass
from datetime import MAXYEAR, date, timedelta
from functools import cache
from typing import Literal

from safear.texts import languages, load_texts

TimeUnit = Literal["days", "weeks", "months", "years"]
UNITS: tuple[TimeUnit, ...] = ("days", "weeks", "months", "years")
DAYS_PER_MONTH = 30  # of a part of a month


@cache
def _name_units() -> dict[str, TimeUnit]:
    """What units of time are called, in all languages: a problem may be written in any."""
    texts = [load_texts(language) for language in languages()]
    return {name: unit for say in texts for unit in UNITS for name in say(f"durations.{unit}").split("|")}


def find_time_unit(name: str) -> TimeUnit | None:
    """The unit of time that is called so; None if none is."""
    return _name_units().get(name.strip())


@dataclass(frozen=True, slots=True)
class Duration:
    """Months, or parts of them, and days: a month is no fixed number of days."""

    months: float = 0.0
    days: float = 0.0

    @classmethod
    def of(cls, count: float, unit: TimeUnit) -> Duration:
        """So many of a unit."""
        match unit:
            case "days":
                return cls(days=count)
            case "weeks":
                return cls(days=7 * count)
            case "months":
                return cls(months=count)
            case "years":
                return cls(months=12 * count)

    @classmethod
    def read(cls, text: str) -> Duration | None:
        """From `3 months` or `1.5 years`; None if it is nothing of the kind."""
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([^\W\d]+)\s*", text)
        unit = None if found is None else find_time_unit(found[2])
        if found is None or unit is None:
            return None
        duration = cls.of(float(found[1]), unit)
        return duration if math.isfinite(duration.months + duration.days) else None

    def __str__(self) -> str:
        """As `read` takes it: of one unit, since whatever was read was of one."""
        return f"{self.months:.12g} months" if self.months else f"{self.days:.12g} days"

    def __add__(self, other: Duration) -> Duration:
        return Duration(self.months + other.months, self.days + other.days)

    def after(self, begins: date) -> date | None:
        """The day on which it is over: in a month, the same day of the month, or its last; parts of days are whole.

        None if no calendar reaches that far.
        """
        if not math.isfinite(self.months + self.days):  # a sum
            return None
        part, whole = math.modf(round(self.months, 9))
        years, month = divmod(begins.month - 1 + int(whole), 12)
        year, days = begins.year + years, math.ceil(round(part * DAYS_PER_MONTH + self.days, 6))
        if year > MAXYEAR:
            return None
        day = date(year, month + 1, min(begins.day, calendar.monthrange(year, month + 1)[1]))
        return day + timedelta(days=days) if days <= (date.max - day).days else None
