#!/usr/bin/env bash
# LibTorch's square roots of float64 are not all the nearest doubles: some differ from std::sqrt's.
#
# IEEE 754 demands that a square root is rounded correctly, and the processor's own instruction does that. LibTorch's
# wheel gives the work to the vector library of MKL, whose errors may be a little above half a unit in the last place.
# Which roots differ depends on the processor: on an Intel Xeon that of 2.0 does, in a tensor of one element, too; on an
# AMD EPYC it does not, but others do. So a program that compares LibTorch's square roots with those of C or NumPy by
# == fails, and not on every machine. Reciprocals are rounded correctly.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q --no-warn-conflicts --no-deps torch==2.11.0 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
torch=$(echo venv/lib/python3*/site-packages/torch)
cat >root.cpp <<'CPP'
#include <ATen/ATen.h>
#include <torch/version.h>

#include <cmath>
#include <cstdio>

// The number of elements that differ from what C computes for them.
template <class F>
long different(const at::Tensor& x, const at::Tensor& found, F expected) {
  long count = 0;
  for (long i = 0; i < x.numel(); ++i)
    count += found[i].item<double>() != expected(x[i].item<double>());
  return count;
}

int main() {
  const auto x = at::arange(1, 48001, at::kDouble);
  const double two = at::full({1}, 2.0, at::kDouble).sqrt().item<double>();
  const long roots = different(x, x.sqrt(), [](double v) { return std::sqrt(v); });
  const long inverses = different(x, x.reciprocal(), [](double v) { return 1 / v; });
  std::printf("LibTorch %s\nsqrt(2.0) %.17g, std::sqrt(2.0) %.17g\nof 48000: %ld square roots and %ld reciprocals differ\n",
              TORCH_VERSION, two, std::sqrt(2.0), roots, inverses);
  return roots > 0 && inverses == 0 ? 0 : 1;
}
CPP
g++ -std=c++20 -O1 -w root.cpp -o root -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include" \
  -L"$torch/lib" -Wl,--no-as-needed -ltorch_cpu -lc10 -Wl,-rpath,"$PWD/$torch/lib"
grep -m1 'model name' /proc/cpuinfo
./root
# Seen: model name : Intel(R) Xeon(R) Processor
#       LibTorch 2.11.0
#       sqrt(2.0) 1.4142135623730949, std::sqrt(2.0) 1.4142135623730951
#       of 48000: 281 square roots and 0 reciprocals differ
# Seen: model name : AMD EPYC
#       LibTorch 2.11.0
#       sqrt(2.0) 1.4142135623730951, std::sqrt(2.0) 1.4142135623730951
#       of 48000: 552 square roots and 0 reciprocals differ
