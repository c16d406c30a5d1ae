#!/usr/bin/env bash
# g++ 12 drops -ffp-contract=off and -O1 of the command after some #includes, if a precompiled header is used.
#
# The precompiled header was compiled without -ffp-contract=off. GCC takes such a header for any source, without a
# warning by -Winvalid-pch, and code right after it follows the options of the command. After the first
# `#pragma GCC pop_options` it follows the options of the precompiled header: products and sums become fused
# multiply-adds, which change the last bits, and loops are vectorised in a source compiled with -O1. <immintrin.h> holds
# that pragma, and so do fmt's headers. So one more #include changes numbers. CMake's target_precompile_headers(... REUSE_FROM ...)
# and options of one source make this easy to meet. The remedy: no precompiled header for sources with options of their own.
# Related: GCC's bug 105120 and fmt's issue 4757, where such a header stops a compilation.
# Needs g++-12, which Debian 12 has as 12.2.0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '#include <vector>' >common.hpp
cat >plain.cpp <<'CPP'
double residual(double a, double b, double c) { return a * b - c; }
int sum(const std::vector<int>& x) {
  int total = 0;
  for (const int value : x) total += value;
  return total;
}
CPP
{ echo '#include <immintrin.h>'; cat plain.cpp; } >intrinsics.cpp
[[ $(g++-12 -dumpfullversion) == 12.2.0 ]] || { echo "got g++ $(g++-12 -dumpfullversion); expected 12.2.0"; exit 1; }
echo "g++ $(g++-12 -dumpfullversion)"
g++-12 -O3 -mavx2 -mfma -x c++-header common.hpp -o common.hpp.gch

# count SOURCE INSTRUCTIONS OPTION...: how many of these instructions the source has.
count() {
  g++-12 -mavx2 -mfma -Winvalid-pch -Werror "${@:3}" -include common.hpp -S "$1" -o code.s
  grep -cE "$2" code.s || true
}
fused='vf[a-z]*(add|sub)' vectors='vpaddd'
result=("$(count plain.cpp "$fused" -O3 -ffp-contract=off)" "$(count intrinsics.cpp "$fused" -O3 -ffp-contract=off)"
  "$(count plain.cpp "$vectors" -O1)" "$(count intrinsics.cpp "$vectors" -O1)")
echo "-ffp-contract=off: ${result[0]} fused instructions; after <immintrin.h> ${result[1]}"
echo "-O1: ${result[2]} additions of vectors; after <immintrin.h> ${result[3]}"
mv common.hpp.gch unused
without=("$(count intrinsics.cpp "$fused" -O3 -ffp-contract=off)" "$(count intrinsics.cpp "$vectors" -O1)")
echo "without a precompiled header: ${without[0]} and ${without[1]}"
((result[0] == 0 && result[1] > 0 && result[2] == 0 && result[3] > 0 && without[0] == 0 && without[1] == 0))
# Seen: g++ 12.2.0
#       -ffp-contract=off: 0 fused instructions; after <immintrin.h> 1
#       -O1: 0 additions of vectors; after <immintrin.h> 4
#       without a precompiled header: 0 and 0
