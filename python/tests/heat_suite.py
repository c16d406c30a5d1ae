"""A pytest plugin that runs HeAT's own tests with heatpp.heat: `import heat` imports it, and tests that are expected to fail are marked."""

import importlib.machinery
import importlib.util
import os
import pathlib
import sys
import unittest
import warnings

import heatpp.heat
import pytest
from mpi4py import MPI


class _Heat:
    """Finds heat and its modules: the base class of its tests in HeAT, all others in heatpp.heat."""

    def find_spec(self, name, path=None, target=None):
        if name == "heat.testing.basic_test":
            return importlib.util.spec_from_file_location(name, os.environ["HEATPP_HEAT_TESTCASE"])
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.split(".")[0] == "heat" else None

    def create_module(self, spec):
        found = heatpp.heat
        for part in spec.name.split(".")[1:]:
            found = found.__dict__.get(part, found)
        found.__dict__["__getattr__"] = _private
        return found

    def exec_module(self, module):
        pass


def _private(name):
    """Replaces HeAT's own private functions, so that tests in the same files can run."""
    def call(*given, **named):
        raise NotImplementedError(f"{name} is private to HeAT")
    if not name.startswith("_") or name.startswith("__"):
        raise AttributeError(f"heatpp.heat has no {name}")
    return call


sys.meta_path.insert(0, _Heat())
sys.modules["heat"] = heatpp.heat
heatpp.heat.__file__ = str(pathlib.Path.cwd() / "__init__.py")  # the tests look for their data beside this file
_several = MPI.COMM_WORLD.size > 1


_FAIL, _REFUSE = ("Fail", "Fail on several ranks"), ("Refusals", "Refusals on several ranks")


def _names(sections):
    """Returns the tests that sections of expected_heat.txt name: those of all of HeAT's versions, of this one, and those on several ranks."""
    text = (pathlib.Path(__file__).parent / "expected_heat.txt").read_text()
    parts = dict(part.partition("\n")[::2] for part in text.split("## ")[1:])
    lines = [line for name in sections[:1 + _several] for version in ("", f", {heatpp.heat.get_rules()}") for line in parts.get(name + version, "").splitlines()]
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


_expected, _refusals = _names(_FAIL), _names(_REFUSE)
_uncertain = _names(("Fail on some processors", "Fail on some processors on several ranks"))
_failed, _run, _skipped, _not_refused = set(), set(), set(), set()


class _Refusal:
    """Replaces assertRaises and assertWarns. They always pass, and record that they would have failed."""

    def __init__(self, test, expected):
        self.test, self.expected, self.exception, self.warnings = test, expected, Exception(), warnings.catch_warnings(record=True)

    def __enter__(self):
        self.happened = self.warnings.__enter__()
        warnings.simplefilter("always")
        return self

    def __exit__(self, raised, exception, where):
        self.warnings.__exit__(raised, exception, where)
        if not any(issubclass(each, self.expected) for each in (raised, *(warning.category for warning in self.happened)) if each):
            _not_refused.add(self.test)
        return raised is None or issubclass(raised, Exception)


@pytest.fixture(autouse=True)
def _refusals_passed_over(request, monkeypatch):
    def refused(_, expected, call=None, *given, **named):
        refusal = _Refusal(request.node.nodeid, expected)
        if call is None:
            return refusal
        with refusal:
            call(*given, **named)

    if request.node.nodeid in _refusals:
        monkeypatch.setattr(unittest.TestCase, "assertRaises", refused)
        monkeypatch.setattr(unittest.TestCase, "assertWarns", refused)


def pytest_collection_modifyitems(items):
    """A test that fails on one rank leaves others waiting: it runs only on one rank, where it has to fail."""
    for item in items:
        if item.nodeid in _expected | _uncertain and _several:
            item.add_marker(pytest.mark.skip("expected to fail"))


def pytest_runtest_logreport(report):
    _run.add(report.nodeid)
    if report.skipped:
        _skipped.add(report.nodeid)
    if report.failed:
        _failed.add(report.nodeid)


def pytest_sessionfinish(session, exitstatus):
    """An unexpected failure is an error, and so is an unexpected success; the counts are this rank's."""
    wrong = sorted(_failed - _expected - _uncertain)
    passed = sorted(_run & (_expected - _failed | _refusals - _not_refused)) if not _several else []
    left = _run - _failed - _expected - _skipped
    print(f"\nHeAT: {len(left)} passed, {len(left & _refusals)} of them but for a refusal, {len(_skipped - _expected)} skipped, {len(_run & _expected)} expected to fail, {len(wrong)} failed")
    for text, names in (("FAILED", wrong), ("PASSED, expected to fail:", passed)):
        print(*(f"{text} {name}" for name in names), sep="\n", end="\n" if names else "")
    session.exitstatus = 1 if wrong or passed or exitstatus > 1 else 0
