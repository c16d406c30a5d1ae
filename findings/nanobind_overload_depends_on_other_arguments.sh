#!/usr/bin/env bash
# nanobind passes the whole number 2 to an overload for integers or to one for doubles, by the type of another argument.
#
# f(double, double) is bound before f(int, double). f(2, 3.0) takes the second, f(2, 3) the first: the first search allows
# no conversion of any argument, 3 is no double without one, and so no overload fits; in the second search all arguments
# may be converted, and the first overload fits, though 2 needed no conversion for the second one. In C++ the call
# f(2, 3) takes f(int, double). A function like full(value, scale) gives integers or doubles depending on how the caller
# writes `scale`. The overload for integers has to be bound first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q nanobind==3.1.0 cmake==3.31.6
cat >bound.cpp <<'CPP'
#include <nanobind/nanobind.h>

const char* f(double, double) { return "double"; }
const char* f(int, double) { return "int"; }

NB_MODULE(bound, m) {
  m.attr("in_cpp") = f(2, 3);
  m.def("f", [](double x, double y) { return f(x, y); });
  m.def("f", [](int x, double y) { return f(x, y); });
  m.def("integers_first", [](int x, double y) { return f(x, y); });
  m.def("integers_first", [](double x, double y) { return f(x, y); });
}
CPP
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(bound CXX)
find_package(Python COMPONENTS Interpreter Development.Module REQUIRED)
find_package(nanobind CONFIG REQUIRED)
nanobind_add_module(bound bound.cpp)
CMAKE
venv/bin/cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DPython_EXECUTABLE="$PWD/venv/bin/python" \
  -Dnanobind_DIR="$(venv/bin/python -m nanobind --cmake_dir)" >log
venv/bin/cmake --build build >>log
PYTHONPATH=build venv/bin/python - <<'PYTHON'
import bound, importlib.metadata

print("nanobind", importlib.metadata.version("nanobind"), "C++ f(2, 3):", bound.in_cpp)
print("f(2, 3.0):", bound.f(2, 3.0), " f(2, 3):", bound.f(2, 3), " f(2.0, 3):", bound.f(2.0, 3))
print("integers_first(2, 3):", bound.integers_first(2, 3), " integers_first(2.0, 3):", bound.integers_first(2.0, 3))
assert bound.in_cpp == "int" and bound.f(2, 3.0) == "int"
assert bound.f(2, 3) == "double", "the overload no longer depends on the second argument"
assert bound.integers_first(2, 3) == "int" and bound.integers_first(2.0, 3) == "double"
PYTHON
# Seen: nanobind 3.1.0 C++ f(2, 3): int
#       f(2, 3.0): int  f(2, 3): double  f(2.0, 3): double
#       integers_first(2, 3): int  integers_first(2.0, 3): double
