from safear.population.audit import Audit as Audit
from safear.population.batch import BatchSummary as BatchSummary
from safear.population.comparison import Comparison as Comparison
from safear.population.comparison import compare as compare
