"""Reports: pages of HTML that stand alone, for those who were not there when they were computed.

sa.reports.report_audit(audit).save("audit.html")
sa.reports.report_menu(menu, language="de").save("plan.html")
"""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
