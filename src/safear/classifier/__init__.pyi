from safear.classifier.adapters import FunctionClassifier as FunctionClassifier
from safear.classifier.adapters import ModelClassifier as ModelClassifier
from safear.classifier.adapters import RuleClassifier as RuleClassifier
from safear.classifier.adapters import TableClassifier as TableClassifier
from safear.classifier.adapters import as_classifier as as_classifier
from safear.classifier.protocol import Classifier as Classifier
from safear.classifier.protocol import Inputs as Inputs
from safear.classifier.sources import load_classifier as load_classifier
