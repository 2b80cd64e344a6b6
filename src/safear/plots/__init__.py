"""Pictures of plans, of audits and of learning, as SVG, PNG and PDF, with the data behind them.

sa.plots.traces(menu).save("plans.svg")
sa.plots.distribution(menu, language="de").data["bars"]

Of a menu, or of a sequence of offers:
    traces            the most probable ways that each plan can go
    distribution      what each plan may cost, with its average and its worst cases
    cdf               the chance of being done within a given cost
    frontier          all optimal plans by average and worst cases
Of one offer:
    tree              what to do, and what if that fails
    dots              100 people, and when they are done
Of what a plan hangs on (`sa.sensitivity`):
    tornado           how far each chance and cost can move before the first step changes
Of others:
    disparity         an audit: risk by group
    learning_curves   costs while the episodic method learns

All take a `title`, a `language` ("en", "de" ...) and `heading=False`, which leaves out the title and what explains the
picture, for pages that say this themselves. A `Picture` shows itself in notebooks.
"""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
