"""The real servers of the testbed are fixtures for every test."""

pytest_plugins = ["tests.testbed.fixtures"]
