#!/usr/bin/env python3
"""Writes the bindings of heatpp's public declarations for nanobind, from preprocessed headers.

python/generate.py headers.i folder files    writes bind_0.cpp ... and bindings.hpp into the folder
python/generate.py headers.i --check         names declarations that are neither bound nor in by_hand.py, and fails
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "python")]
import by_hand  # noqa: E402
from declarations import Parser, own_text  # noqa: E402

ATOMS = {"void", "bool", "char", "int", "float", "double", "std::int64_t", "std::size_t", "std::uint64_t", "std::uint32_t", "std::string", "std::string_view",
         "std::filesystem::path", "at::Tensor"}
TEMPLATES = {"std::optional", "std::vector", "std::pair", "std::map", "std::variant", "std::function", "std::span", "std::tuple"}
NOT_FOR_PYTHON = ("Selection", "initializer_list", "&&", "shared_ptr", "unique_ptr")  # spellings that C++ needs in addition to those bound
RESERVED = {"lambda", "from", "in", "is", "not", "and", "or", "None", "pass", "global", "with", "as", "def", "del"}


class Headers:
    def __init__(self, path):
        roots = [ROOT / "heatpp", ROOT / "io/heatpp_io"]

        def belongs(name):
            header = pathlib.Path(name).resolve()
            known = any(root in header.parents for root in roots)
            return str(header.relative_to(ROOT)) if known and "detail" not in header.parts else None

        self.all = []
        for header, text in own_text(pathlib.Path(path).read_text(), belongs).items():
            self.all += [found for found in Parser(text, header).declarations() if "detail" not in found.space.split("::")]
        self.types = {found.full: found for found in self.all if found.kind in ("class", "struct", "enum", "using")}
        for found in list(self.types.values()):
            self.types.update({inner.full: inner for inner in found.members if not isinstance(inner, str) and inner.kind in ("class", "struct", "enum", "using")})

    def resolve(self, name, space):
        """Returns the declaration of the type that a name means inside a namespace or class."""
        while True:
            found = self.types.get(f"{space}::{name}" if space else name)
            if found or not space:
                return found
            space = space.rpartition("::")[0]

    def expanded(self, found):
        """Whether a parameter of this type is given by keywords."""
        return found is not None and found.kind == "struct" and re.search(r"(Options|Range)$", found.name) and found.full not in by_hand.CASTERS

    def supported(self, kind, space):
        """Returns None, or the first part of a type that Python does not have."""
        kind = re.sub(r"^const |[&*]$", "", kind).strip()
        template = re.match(r"(std::\w+)<(.*)>$", kind)
        if template and template.group(1) in TEMPLATES:
            inner = template.group(2)
            if template.group(1) == "std::function":
                inner = re.sub(r"([\w>&]) \w+(?=[,)])", r"\1", inner).replace("(", ",").replace(")", "")
            return next(filter(None, (self.supported(part, space) for part in parts_of(inner))), None)
        if kind in ATOMS:
            return None
        found = self.resolve(kind, space)
        if found is None or found.kind == "using":
            return self.supported(found.result, found.space) if found else kind
        if found.full in by_hand.CASTERS or found.kind == "enum":
            return None
        if found.full in by_hand.WITHOUT or "template" in found.words:
            return kind
        if is_tuple(found):
            return next(filter(None, (self.supported(m.result, found.full) for m in found.members if m.kind == "variable")), None)
        return None

    def arguments(self, function):
        """Returns the arguments in Python for a function's parameters: (C++ parameter, name, default, spelling in the call). A grid comes last, so that
        the others keep HeAT's order."""
        given, call = [], []
        for parameter in function.parameters:
            if parameter.type.endswith("Site"):
                continue
            found = self.resolve(re.sub(r"^const |&$", "", parameter.type), function.space)
            if self.expanded(found):
                value = f"{found.full}{parameter.default}" if (parameter.default or "").startswith("{") else parameter.default or f"{found.full}{{}}"
                call.append(self.options(found, value, given))
            else:
                name = parameter.name or "x"
                given.append((self.by_value(parameter.type, function.space), name, parameter.default))
                call.append(name)
        return sorted(given, key=lambda each: each[1] == "grid"), ", ".join(call)

    def options(self, found, value, given, prefix="", outer=()):
        """Returns a struct made of its members, which are given by name; those of nested structs have a prefix if names collide."""
        members = [member for member in found.members if member.kind == "variable"]
        fields = []
        for member in members:
            inner, default = self.resolve(member.result, found.full), f"({value}).{member.name}"
            name = f"{prefix}_{member.name}" if member.name in outer else member.name
            if self.expanded(inner):
                fields.append(self.options(inner, default, given, member.name, {other.name for other in members}))
            elif name in [known for _, known, _ in given]:
                fields.append(default)  # a parameter sets it
            else:
                given.append((self.by_value(member.result, found.full), name, default))
                fields.append(f"std::move({name})")
        return f"{found.full}{{{', '.join(fields)}}}"

    def by_value(self, kind, space):
        """Returns the parameter type of a lambda for what nanobind converts: instances of classes by reference."""
        bare = kind if kind.endswith("*") else re.sub(r"^const |&$", "", kind)
        found = self.resolve(bare, space)
        qualified = self.qualified(bare, space)
        return f"const {qualified}&" if found and self.is_class(found) else qualified

    def is_class(self, found):
        made = any(m.kind == "function" and m.name == found.name for m in found.members) if found.kind == "struct" else found.kind == "class"
        return made and found.full not in by_hand.CASTERS and found.full not in by_hand.WITHOUT

    def qualified(self, kind, space):
        """Returns a type with the full names of heatpp's types."""
        def full(match):
            found = self.resolve(match.group(), space) if not match.group().startswith("std::") else None
            return found.full if found else match.group()
        return re.sub(r"[A-Za-z_][\w:]*", full, kind)

    def qualified_value(self, default, space, kind):
        """Returns a default with full names, of a type that nanobind can show."""
        if default.startswith("("):
            return default
        if default.startswith("{"):
            return f"{kind}{default}"
        qualified = re.sub(r"[A-Za-z_][\w:]*", lambda match: self.constant(match.group(), space), default)
        return f"{kind}({qualified})" if not kind.startswith("const ") else qualified

    def constant(self, name, space):
        """Returns the full name of an enum's value, a type or a constant of heatpp."""
        owner, _, value = name.rpartition("::")
        found = self.resolve(owner, space) if owner else self.resolve(name, space)
        if found:
            return f"{found.full}::{value}" if owner else found.full
        return name

    def skipped(self, function):
        """Whether a declaration is a C++ spelling of another one; this needs no reason."""
        text = " ".join([function.result, *(p.type for p in function.parameters)])
        return function.words & {"template", "delete", "friend"} or "operator" in function.name or "&&" in function.words or \
            function.name.startswith("~") or any(word in text for word in NOT_FOR_PYTHON) or "void*" in text

    def lacking(self, function):
        """Returns None, or the type because of which a function cannot be bound."""
        for parameter in function.parameters:
            if parameter.type.endswith("Site"):  # the place of the call of a collective
                continue
            found = self.resolve(re.sub(r"^const |&$", "", parameter.type), function.space)
            kinds = [(m.result, found.full) for m in found.members if m.kind == "variable"] if self.expanded(found) else [(parameter.type, function.space)]
            for kind, space in kinds:
                inner = self.resolve(kind, space)
                missing = None if self.expanded(inner) else self.supported(kind, space)
                if missing:
                    return missing
        return self.supported(function.result, function.space) if function.result else None


def is_tuple(found):
    return found.kind == "struct" and found.members and all(m.kind == "variable" or "operator" in m.name for m in found.members)


def parts_of(text):
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += (letter == "<") - (letter == ">")
        if letter == "," and depth == 0:
            parts, part = parts + [part], ""
        else:
            part += letter
    return [p.strip() for p in [*parts, part] if p.strip()]


def text_of(doc):
    return "\n".join(line.strip().removeprefix("///").strip() for line in doc)


class Writer:
    def __init__(self, headers):
        self.headers, self.units, self.unbound = headers, [], []

    def definition(self, function, target="module_", owner=None):
        """Returns the statement that binds one function or method."""
        headers = self.headers
        given, call = headers.arguments(function)
        static = "static" in function.words
        constructor = owner and function.name == owner.name
        first = function.parameters[0].type if function.parameters else ""
        in_place = first == "DNDarray&" and not constructor
        guard = "" if in_place else "nb::call_guard<nb::gil_scoped_release>(), "
        into = any(kind == "heatpp::Out" for kind, _, _ in given)
        if into:  # also writes to the base of a view, as functions in place do
            guard, call = "", call.replace("std::move(out)", "out_")
            given = [("std::optional<Target>", name, "std::nullopt") if kind == "heatpp::Out" else (kind, name, default) for kind, name, default in given]
        takes = [f"{kind} {name}" for kind, name, _ in given]
        called, result = f"{function.space}::{function.name}", ""
        if owner and not static:
            called = f"self_.{function.name}"
            result = f" -> {owner.full}&" if re.fullmatch(rf"{owner.name}&", function.result) else ""
        body = f"return {called}({call});"
        if constructor:
            body = f"new (self_) {owner.full}({call});"
        elif into:
            body = f"return Target::filled(out, [&](heatpp::Out out_) {{ return {called}({call}); }});"
        elif in_place:  # also writes to the base of a view
            name = given[0][1]
            takes[0] = f"Target {name}"
            inside = re.sub(rf"^{name}\b", "array_", call)
            body = f"return {name}.change([&](heatpp::DNDarray& array_) {{ {called}({inside}); }});"
        if owner and not static:
            takes.insert(0, f"{'const ' if 'const' in function.words else ''}{owner.full}{'*' if constructor else '&'} self_")
        arguments = "".join(f', "{name}"_a' + (f" = {headers.qualified_value(default, function.space, kind)}" if default else "")
                            for kind, name, default in given)
        doc = text_of(function.doc)
        if is_property(function, owner):
            return f'{target}.def_prop_ro("{function.name}", [](const {owner.full}& self_) {{ return self_.{function.name}(); }}, R"doc({doc})doc");'
        define = "def_static" if static and owner else "def"
        name = "__init__" if constructor else python_name(function.name)
        policy = "nb::rv_policy::reference, " if result else ""
        return f'{target}.{define}("{name}", []({", ".join(takes)}){result} {{ {body} }}, {guard}{policy}R"doc({doc})doc"{arguments});'

    def functions(self):
        groups = {}
        for function in self.headers.all:
            if function.kind == "function" and not self.headers.skipped(function):
                groups.setdefault((function.space, function.name), []).append(function)
        for (space, name), overloads in groups.items():
            lines = []
            for function in overloads:
                reason = by_hand.WITHOUT.get(f"{space}::{name}")
                missing = None if reason else self.headers.lacking(function)
                if missing:
                    self.unbound.append((function, missing))
                elif not reason:
                    lines.append(self.definition(function))
            if lines:
                self.units.append((space, name, lines))

    def aliases(self):
        """Returns the functions that a namespace takes from heatpp: (its module, name)."""
        return [(found.space.removeprefix("heatpp::").replace("::", "."), found.name.removeprefix("heatpp::"))
                for found in self.headers.all if found.kind == "using" and not found.result and re.match(r"heatpp::\w+$", found.name)]

    def methods(self):
        """Returns the functions of an array that are also methods in Python."""
        return sorted({python_name(name) for space, name, _ in self.units if space == "heatpp" and name and any(
            f.kind == "function" and (f.space, f.name) == (space, name) and f.parameters and f.parameters[0].type in ("const DNDarray&", "DNDarray&")
            for f in self.headers.all)})

    def members(self, found):
        """Returns a class's methods, including those of a base that is not a base in Python."""
        for member in found.members:
            if member.kind == "using" and not member.result:
                base = self.headers.resolve(member.name.rpartition("::")[0], found.space)
                yield from (m for m in (base.members if base else []) if m.kind == "function" and m.name == member.name.rpartition("::")[2])
            elif member.kind == "function":
                yield member

    def classes(self):
        for found in self.bound_classes():
            bases = [self.headers.resolve(base, found.space) for base in found.bases if not base.startswith("protected")]
            bases = "".join(f", {base.full}" for base in bases if base and self.headers.is_class(base))
            lines = [f'auto class_ = made<{found.full}{bases}>(module_, "{found.name}", R"doc({text_of(found.doc)})doc");']
            if not any(method.name == found.name for method in found.members if not isinstance(method, str)):
                lines.append(f"if constexpr (std::is_default_constructible_v<{found.full}>) class_.def(nb::init<>());")
            properties = {method.name for method in self.members(found) if is_property(method, found)}
            for method in self.members(found):
                missing = "void" if self.headers.skipped(method) else self.headers.lacking(method)
                if self.headers.skipped(method) or method.name in properties and not is_property(method, found) or f"{found.full}::{method.name}" in by_hand.WITHOUT:
                    continue
                if missing:
                    self.unbound.append((method, missing))
                elif method.name == "options" and not method.parameters:
                    lines.append(f"parameters<{found.full}>(class_);")
                else:
                    lines.append(self.definition(method, "class_", found))
            if "options" not in {method.name for method in self.members(found)}:  # of a base
                lines.append("renames(class_);")
                if self.inherits_options(found):  # else the base copies its part only
                    lines.append(f'class_.def("__copy__", [](const {found.full}& self_) {{ return self_; }}).def("__deepcopy__", [](const {found.full}& self_, nb::handle) {{ return self_; }});')
            self.units.append((found.space, "", lines))

    def inherits_options(self, found):
        bases = [base for name in found.bases if (base := self.headers.resolve(name.removeprefix("protected "), found.space))]
        return any(any(member.name == "options" for member in self.members(base)) or self.inherits_options(base) for base in bases)

    def bound_classes(self):
        """Returns the classes to bind, bases first."""
        done = []

        def add(found):
            for base in found.bases:
                known = None if base.startswith("protected") else self.headers.resolve(base, found.space)
                if known and self.headers.is_class(known):
                    add(known)
            if found not in done:
                done.append(found)

        for found in self.headers.all:
            if found.kind in ("class", "struct") and self.headers.is_class(found) and "template" not in found.words:
                add(found)
        return done

    def casters(self):
        """Returns the traits of enums and structs for bindings.hpp."""
        for found in self.headers.types.values():
            if "template" in found.words or found.full in by_hand.CASTERS or found.full in by_hand.WITHOUT or found.space.startswith("std"):
                continue
            if found.kind == "enum" and found.space in {d.space for d in self.headers.all}:
                names = ", ".join(f'"{name}"' for name in found.members)
                yield f"template <> struct heatpp::python::Names<{found.full}> {{ static constexpr const char* values[] = {{{names}}}; static constexpr auto text = nb::detail::const_name(\"{' | '.join(found.members)}\"); }};"
                yield f"template <> struct nanobind::detail::type_caster<{found.full}> : heatpp::python::EnumCaster<{found.full}> {{}};"
            elif is_tuple(found):
                members = [m for m in found.members if m.kind == "variable"]
                if any(self.headers.supported(m.result, found.full) for m in members):
                    continue
                names = ", ".join(f'"{name}"' for name in by_hand.FIELDS.get(found.full, [m.name for m in members]))
                tied = ", ".join(f"x.{m.name}" for m in members)
                yield f"template <> struct heatpp::python::Fields<{found.full}> {{ static constexpr const char* name = \"{found.name}\"; static constexpr const char* names[] = {{{names}}}; static auto tie(auto& x) {{ return std::tie({tied}); }} }};"

    def write(self, folder, files):
        folder = pathlib.Path(folder)
        includes = sorted({found.header.removeprefix("io/") for found in self.headers.all})
        text = ["#pragma once", *(f"#include <{header}>" for header in includes), '#include "casters.hpp"', *self.casters()]
        replace(folder / "bindings.hpp", text + ["namespace heatpp::python {", "void bind(nb::module_& m);", "}"])
        texts = [['#include "bindings.hpp"', "namespace heatpp::python {"] for _ in range(files)]
        sizes, calls = [0] * files, []
        for i, (space, name, lines) in enumerate(self.units):
            at = sizes.index(min(sizes))
            sizes[at] += sum(map(len, lines))
            texts[at] += [f"void bind_{i}([[maybe_unused]] nb::module_ module_) {{", *lines, "}"]
            path = space.removeprefix("heatpp").removeprefix("::")
            calls.append((i, path.replace("::", ".")))
        texts[0] += [f"void bind_{i}(nb::module_ m);" for i, _ in calls]
        texts[0] += ["void bind(nb::module_& m) {", *(f'bind_{i}(submodule(m, "{path}"));' for i, path in calls),
                     *(f'submodule(m, "{inside}").attr("{name}") = m.attr("{name}");' for inside, name in self.aliases()), f'm.attr("_methods") = "{" ".join(self.methods())}";', "}"]
        for i, lines in enumerate(texts):
            replace(folder / f"bind_{i}.cpp", lines + ["}  // namespace heatpp::python"])


def python_name(name):
    return name + "_" if name in RESERVED else name.rstrip("_") if name == "delete_" else name


def is_property(function, owner):
    """Whether a method becomes an attribute: it takes no arguments, and has no overload; arrays have NumPy's attributes."""
    if not owner or function.parameters or "const" not in function.words or "static" in function.words or function.name in by_hand.METHODS:
        return False
    return owner.name == "DNDarray" or not any(member.name == function.name and member.parameters for member in owner.members if not isinstance(member, str))


def replace(path, lines):
    """Writes a file only if its content changes, so that it is not compiled again."""
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    headers = Headers(sys.argv[1])
    writer = Writer(headers)
    writer.classes()
    writer.functions()
    if sys.argv[2] != "--check":
        writer.write(sys.argv[2], int(sys.argv[3]))
        return 0
    reasons = by_hand.WITHOUT
    open_ones = [(f, missing) for f, missing in writer.unbound if missing not in by_hand.INTERNAL and headers.qualified(missing, f.space) not in reasons and f.full not in reasons]
    for function, missing in open_ones:
        print(f"{function.header}: {function.full} is neither bound nor in python/by_hand.py: {missing}")
    known = {found.full for found in headers.all} | set(headers.types) | {member.full for found in headers.all for member in found.members if not isinstance(member, str)}
    stale = [name for name in [*reasons, *by_hand.CASTERS, *by_hand.FIELDS] if name not in known]
    for name in stale:
        print(f"python/by_hand.py names {name}, which no header declares")
    return bool(open_ones or stale)


if __name__ == "__main__":
    sys.exit(main())
