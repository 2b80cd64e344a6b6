"""The command line, for reports that it writes."""

from cli.conftest import safear  # noqa: F401  # a fixture
