from safear.drafts.draft import Draft as Draft
from safear.drafts.draft import draft_problem as draft_problem
