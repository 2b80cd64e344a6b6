from safear.plans.plan_file import PlanForm as PlanForm
from safear.plans.saved_plan import SavedPlan as SavedPlan
from safear.plans.saved_plan import load_plan as load_plan
from safear.plans.saved_plan import save_plan as save_plan
