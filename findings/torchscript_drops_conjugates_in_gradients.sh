#!/usr/bin/env bash
# TorchScript's gradients of complex functions are right in the first call and lack conjugates from the second call on.
#
# The first call of a function is recorded. Afterwards, TorchScript differentiates parts of it by formulas of its own, for
# real numbers: the gradient of z * z is grad * z, without the conjugate of autograd, and goes uphill along the imaginary
# axis without a word. The formula of abs raises an error. A test that differentiates once sees neither. A function
# that has one differentiable operation alone is not affected. pytorch/pytorch#154324 and #90885 report it for Python.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q --no-warn-conflicts --no-deps torch==2.11.0 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
torch=$(echo venv/lib/python3*/site-packages/torch)
cat >gradients.cpp <<'CPP'
#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/jit.h>
#include <torch/version.h>
#include <iostream>

using Complex = c10::complex<double>;

// The gradient of a function at 3 + 4i.
template <class Function>
Complex gradient(Function&& function) {
  const auto z = at::full({1}, Complex(3, 4), at::kComplexDouble).requires_grad_();
  function(z).backward();
  return z.grad().template item<Complex>();
}

int main() {
  const auto unit = torch::jit::compile(R"(
def square(z: Tensor):
    return (z * z).mean().real
def magnitude(z: Tensor):
    return (torch.abs(z) + 1).sum()
)");
  const auto script = [&](const char* name) {
    return gradient([&](const at::Tensor& z) { return unit->run_method(name, z).toTensor(); });
  };
  const auto right = gradient([](const at::Tensor& z) { return at::real((z * z).mean()); });
  const auto first = script("square"), second = script("square"), third = script("square");
  std::cout << "LibTorch " << TORCH_VERSION << "\nsquare: by autograd " << right << ", by TorchScript " << first << ' '
            << second << ' ' << third << "\nmagnitude: by TorchScript " << script("magnitude");
  bool fails = false;
  try {
    script("magnitude");
  } catch (const std::exception& error) {
    fails = std::string(error.what()).find("torch.sign is not intended to support complex") != std::string::npos;
    std::cout << ", then an error of torch.sign\n";
  }
  const Complex conjugate(right.real(), -right.imag());
  return first == right && second == conjugate && third == conjugate && fails ? 0 : 1;
}
CPP
g++ -std=c++20 -O0 -w gradients.cpp -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include" \
  -L"$torch/lib" -ltorch_cpu -lc10 -Wl,-rpath,"$PWD/$torch/lib" -o gradients
./gradients
# Seen: square: by autograd (6,-8), by TorchScript (6,-8) (6,8) (6,8)
#       magnitude: by TorchScript (0.6,0.8), then an error of torch.sign
