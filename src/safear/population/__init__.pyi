from safear.population.agreement import Agreement as Agreement
from safear.population.agreement import check_people as check_people
from safear.population.audit import Audit as Audit
from safear.population.batch import BatchSummary as BatchSummary
from safear.population.comparison import Comparison as Comparison
from safear.population.comparison import compare as compare
