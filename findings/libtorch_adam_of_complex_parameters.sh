#!/usr/bin/env bash
# LibTorch's C++ Adam steps complex parameters otherwise than torch.optim.Adam of the same version, without a word.
#
# Python takes the real and the imaginary part as two real numbers (torch.view_as_real), so that the second moment is
# that of each. C++ squares the complex gradient itself, g * g and not |g|^2, and divides by the complex square root: the
# step turns in the complex plane, and an imaginary gradient moves the real part. The same source goes downhill from
# Python and elsewhere from C++. AdamW of C++ does likewise.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q --no-warn-conflicts --no-deps torch==2.11.0 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
torch=$(echo venv/lib/python3*/site-packages/torch)
cat >adam.cpp <<'CPP'
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/version.h>
#include <ATen/ATen.h>
#include <iostream>

// One step from w = 0 with the gradient g = i.
template <class Optimizer>
c10::complex<double> step_of(Optimizer&& optimizer, at::Tensor& w) {
  w.mutable_grad() = at::full({1}, c10::complex<double>(0, 1), at::kComplexDouble);
  optimizer.step();
  return w.template item<c10::complex<double>>();
}

int main() {
  auto w = at::zeros({1}, at::kComplexDouble).requires_grad_(), v = at::zeros({1}, at::kComplexDouble).requires_grad_();
  const auto adam = step_of(torch::optim::Adam({w}, torch::optim::AdamOptions(0.1)), w);
  const auto adamw = step_of(torch::optim::AdamW({v}, torch::optim::AdamWOptions(0.1).weight_decay(0)), v);
  // The same parameter as two real numbers: what Python does.
  auto real = at::zeros({1, 2}, at::kDouble).requires_grad_();
  real.mutable_grad() = at::view_as_real(at::full({1}, c10::complex<double>(0, 1), at::kComplexDouble)).clone();
  torch::optim::Adam({real}, torch::optim::AdamOptions(0.1)).step();
  std::cout << "LibTorch " << TORCH_VERSION << "\nAdam " << adam << "\nAdamW " << adamw << "\nAdam of two real numbers "
            << real[0][0].item<double>() << ' ' << real[0][1].item<double>() << "\n";
  const bool differs = std::abs(adam.imag() + 0.1) > 0.01 && std::abs(adamw.imag() + 0.1) > 0.01;
  const bool right = std::abs(real[0][1].item<double>() + 0.1) < 1e-6 && real[0][0].item<double>() == 0;
  return differs && right ? 0 : 1;
}
CPP
g++ -std=c++20 -O0 -w adam.cpp -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include" \
  -L"$torch/lib" -ltorch_cpu -lc10 -Wl,-rpath,"$PWD/$torch/lib" -o adam
./adam
# Seen: LibTorch 2.11.0
#       Adam (-0.1,-1e-09)
#       AdamW (-0.1,-1e-09)
#       Adam of two real numbers 0 -0.1
