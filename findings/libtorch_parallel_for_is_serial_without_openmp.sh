#!/usr/bin/env bash
# at::parallel_for of LibTorch's wheel runs on one thread in code that is compiled without -fopenmp, and says nothing.
#
# The loop is a template in LibTorch's headers. They take the version with threads if the macro _OPENMP is defined where
# they are included, else one that calls the function once. Neither the wheel's CMake package nor its documentation adds
# the option, at::get_num_threads() returns the number of threads in both cases, and LibTorch's own functions use them.
# So a library with its own kernels beside LibTorch's stays serial in every loop of its own. With -fopenmp g++ also has to
# link libgomp, which is in the wheel.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q --no-warn-conflicts --no-deps torch==2.11.0 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
torch=$(echo venv/lib/python3*/site-packages/torch)
cat >loop.cpp <<'CPP'
#include <ATen/Parallel.h>
#include <torch/version.h>

#include <atomic>
#include <cstdio>

int main() {
  at::set_num_threads(2);
  std::atomic<int> ranges{0};
  at::parallel_for(0, 1 << 20, 1 << 15, [&](long, long) { ++ranges; });
  std::printf("LibTorch %s, %d threads: the loop has %d ranges\n", TORCH_VERSION, at::get_num_threads(), ranges.load());
}
CPP
run() {
  g++ -std=c++20 -O1 -Wall -Wextra "$@" loop.cpp -o loop -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include" -L"$torch/lib" -Wl,--no-as-needed -ltorch_cpu -lc10 \
    -Wl,-rpath,"$PWD/$torch/lib"
  ./loop
}
echo "mentions of OpenMP in the wheel's CMake package: $(grep -ril openmp "$torch/share/cmake" | wc -l)"
echo "without -fopenmp: $(run)" | tee seen
echo "with -fopenmp: $(run -fopenmp)" | tee -a seen
grep -q 'without -fopenmp: .* 2 threads: the loop has 1 ranges' seen && grep -q '^with -fopenmp: .* 2 threads: the loop has 2 ranges' seen
# Seen: mentions of OpenMP in the wheel's CMake package: 0
#       without -fopenmp: LibTorch 2.11.0, 2 threads: the loop has 1 ranges
#       with -fopenmp: LibTorch 2.11.0, 2 threads: the loop has 2 ranges
