from safear.plans.plan_file import PlanForm as PlanForm
from safear.plans.resume import Restart as Restart
from safear.plans.resume import Turn as Turn
from safear.plans.resume import find_restart as find_restart
from safear.plans.resume import replan as replan
from safear.plans.saved_plan import SavedPlan as SavedPlan
from safear.plans.saved_plan import load_plan as load_plan
from safear.plans.saved_plan import save_plan as save_plan
