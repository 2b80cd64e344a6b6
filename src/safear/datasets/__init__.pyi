from safear.datasets.bundled import example_names as example_names
from safear.datasets.bundled import load_example as load_example
from safear.datasets.dataset import Dataset as Dataset
from safear.datasets.dataset import dataset_names as dataset_names
from safear.datasets.dataset import load as load
from safear.datasets.forest import TrainedClassifier as TrainedClassifier
