from safear.fitting.estimates import FitEntry as FitEntry
from safear.fitting.estimates import FitNotice as FitNotice
from safear.fitting.fit import Fit as Fit
from safear.fitting.fit import fit_problem as fit_problem
