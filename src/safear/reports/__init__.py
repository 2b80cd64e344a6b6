"""Reports: pages of HTML that stand alone, for those who were not there when they were computed.

sa.reports.report_audit(audit).save("audit.html")
sa.reports.report_menu(menu, language="de").save("plan.html")
"""

from __future__ import annotations

from safear.reports.appendix import Sources
from safear.reports.audit_page import report_audit
from safear.reports.menu_page import report_menu
from safear.reports.page import Page

__all__ = ["Page", "Sources", "report_audit", "report_menu"]
