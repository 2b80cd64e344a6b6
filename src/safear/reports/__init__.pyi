from safear.reports.appendix import Sources as Sources
from safear.reports.audit_page import report_audit as report_audit
from safear.reports.figures_file import FiguresRecord as FiguresRecord
from safear.reports.figures_file import report_figures as report_figures
from safear.reports.menu_page import report_menu as report_menu
from safear.reports.page import Page as Page
