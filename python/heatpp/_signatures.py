"""Signatures of nanobind's methods, for `inspect.signature`, `help` and scikit-learn's tools."""

import inspect
import re

from ._spellings import named_after

_OWN = {"x": "X"}  # scikit-learn's names of arguments; methods take both
_STARS = {"*": inspect.Parameter.VAR_POSITIONAL, "**": inspect.Parameter.VAR_KEYWORD}


def _parameter(text, defaults):
    """Returns the parameter that a part of nanobind's text describes."""
    stars, name = re.match(r"(\*{0,2})(\w+)", text).groups()
    if stars:
        return inspect.Parameter(name, _STARS[stars])
    place = re.search(r"= \\(\d+)$", text)
    default = defaults[int(place.group(1))] if place else inspect.Parameter.empty
    return inspect.Parameter(_OWN.get(name, name), inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)


def _all_parameters(function):
    """Returns the parameters of each signature of a function of nanobind's."""
    for text, _, defaults in function.__nb_signature__:
        inside = re.match(r"def \w+\((.*)\)(?: ->.*)?$", text, re.DOTALL)
        if inside:
            yield [_parameter(part, defaults) for part in re.split(r", (?=\w+:|\*)", inside.group(1)) if part]


def signature_of(function, with_y=False):
    """Returns the longest signature of a method of nanobind's, on request with an ignored y after the first argument if it lacks y; None if it has none."""
    found = max(_all_parameters(function), key=lambda given: sum(each.name not in ("args", "kwargs") for each in given), default=None)
    if not found:
        return None
    if with_y and not any(each.name == "y" for each in found):
        found.insert(2, inspect.Parameter("y", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None))
    return inspect.Signature(found)


def signed(function, signature):
    """Returns a method with a signature, which takes scikit-learn's names of arguments as well."""
    @named_after(function)
    def method(self, *given, **options):
        for ours, theirs in _OWN.items():
            if theirs in options:
                if ours in options:
                    raise TypeError(f"[{function.__name__}] got {ours} and {theirs}, which are the same; expected one of them")
                options[ours] = options.pop(theirs)
        return function(self, *given, **options)
    method.__signature__ = signature
    return method


def _kinds(function):
    """Returns the texts of the types that each argument of nanobind's function may have, of its longest signature."""
    texts = [re.match(r"def \w+\((.*)\)(?: ->.*)?$", text, re.DOTALL).group(1) for text, *_ in function.__nb_signature__]
    longest = re.split(r", (?=\w+:|\*)", max(texts, key=len))
    found = [re.match(r"(\w+): (.*?)(?: = \\\d+)?$", part, re.DOTALL) for part in longest]
    return {each.group(1): re.split(r" \| (?![^\[]*\])", each.group(2)) for each in found if each}


_TYPES = {"bool", "complex", "float", "int", "list", "object", "str", "tuple"}  # other small words are names of choices


def check_choices(op, function, given):
    """Raises a ValueError for a text that is none of an option's choices, and a TypeError for what should be a function. nanobind would only tell all types."""
    for name, kinds in _kinds(function).items():
        choices = [kind for kind in kinds if re.fullmatch(r"[a-z]\w*", kind) and kind not in _TYPES]
        value = given.get(name)
        if isinstance(value, str) and choices and "str" not in kinds and value not in choices:
            others = [kind.rpartition(".")[2] for kind in kinds if kind not in choices and "[" not in kind]
            raise ValueError(f"[{op}] got {name}=\"{value}\"; expected " + ", ".join([*map('"{}"'.format, choices), *others]))
        if value is not None and not callable(value) and any(kind.startswith("collections.abc.Callable[") for kind in kinds):
            raise TypeError(f"[{op}] got {name}={value!r}; expected a function")


def sign_class(kind):
    """Gives a class the signature of its constructor."""
    made = signature_of(kind.__init__) if is_method(vars(kind).get("__init__")) else None
    if made:
        kind.__signature__ = made.replace(parameters=list(made.parameters.values())[1:])


def is_method(value):
    """Whether a value is a method of nanobind's."""
    return type(value).__name__ == "nb_method"
