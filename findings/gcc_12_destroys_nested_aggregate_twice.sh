#!/usr/bin/env bash
# g++ 12 destroys a member of a nested aggregate twice if a later initialiser throws.
#
# The inner aggregate has a member with a destructor and one without, here an int. Where the initialiser of the outer
# aggregate's next member throws, the inner one is destroyed, and then its member once more. Braces inside
# braces are enough, with or without names, in C++17 and C++20, with -O0 and -O2. The inner aggregate by its name,
# `Inner{...}`, is destroyed once, as is one whose members all have destructors, and clang 14 counts right everywhere.
# Needs g++-12, which Debian 12 has as 12.2.0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >twice.cpp <<'CPP'
#include <iostream>

int constructed = 0, destroyed = 0;
struct Counted {
  Counted() { ++constructed; }
  Counted(const Counted&) { ++constructed; }
  ~Counted() { ++destroyed; }
};
struct Mixed {
  Counted counted;
  int number;
};
struct Uniform {
  Counted counted;
};
template <class Inner>
struct Outer {
  Inner inner;
  int later;
};

int fails() { throw 0; }

// How often what was constructed once is destroyed.
template <class Make>
int count(const char* what, Make make) {
  constructed = destroyed = 0;
  try {
    make();
  } catch (int) {
  }
  std::cout << what << ": constructed " << constructed << ", destroyed " << destroyed << '\n';
  return constructed == 1 ? destroyed : -1;
}

int main() {
  std::cout << "g++ " << __VERSION__ << '\n';
  const auto braces = count("Outer<Mixed>{{...}, fails()}", [] { Outer<Mixed> x{{Counted(), 1}, fails()}; });
  const auto names = count("Outer<Mixed>{{.counted = ...}, fails()}",
                           [] { Outer<Mixed> x{{.counted = Counted(), .number = 1}, fails()}; });
  const auto named = count("Outer<Mixed>{Mixed{...}, fails()}", [] { Outer<Mixed> x{Mixed{Counted(), 1}, fails()}; });
  const auto uniform = count("Outer<Uniform>{{...}, fails()}", [] { Outer<Uniform> x{{Counted()}, fails()}; });
  return braces == 2 && names == 2 && named == 1 && uniform == 1 ? 0 : 1;
}
CPP
[[ $(g++-12 -dumpfullversion) == 12.2.0 ]] || { echo "got g++ $(g++-12 -dumpfullversion); expected 12.2.0"; exit 1; }
g++-12 -std=c++20 -O2 -w twice.cpp -o twice
./twice
# Seen: g++ 12.2.0
#       Outer<Mixed>{{...}, fails()}: constructed 1, destroyed 2
#       Outer<Mixed>{{.counted = ...}, fails()}: constructed 1, destroyed 2
#       Outer<Mixed>{Mixed{...}, fails()}: constructed 1, destroyed 1
#       Outer<Uniform>{{...}, fails()}: constructed 1, destroyed 1
