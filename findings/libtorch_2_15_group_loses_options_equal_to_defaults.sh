#!/usr/bin/env bash
# LibTorch 2.15's optimizers ignore an option of a group of parameters if it has the value its class of options begins with.
#
# A group of parameters may state its own options, e.g. a rate of 0.001 beside 0.1 of the others. In 2.11 the group has
# what it states. In 2.15 the constructor compares each option of the group with that of a fresh object of its class,
# and if both are equal takes the group for one that states nothing, and gives it the value of the other groups. So a
# group at the rate 0.001 of SGD or Adam trains at 0.1, and a group with weight_decay 0 decays as the others do, without
# a word. `set_options` after construction sets what the group states. Python's torch.optim has the value stated.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >groups.cpp <<'CPP'
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>
#include <torch/version.h>

#include <cstdio>
#include <memory>
#include <vector>

namespace optim = torch::optim;

// The group's options after construction. It states `own`, and the optimizer has `common`.
template <class Optimizer, class Options>
Options of_group(const Options& own, const Options& common) {
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<at::Tensor>{at::ones({1}).requires_grad_()}, std::make_unique<Options>(own));
  Optimizer optimizer(std::move(groups), common);
  return static_cast<Options&>(optimizer.param_groups()[0].options());
}

int main() {
  std::printf("LibTorch %s\n", TORCH_VERSION);
  for (const double lr : {0.001, 0.002})
    std::printf("SGD at 0.1, a group at %.3f: trains at %.3f\n", lr,
                of_group<optim::SGD>(optim::SGDOptions(lr), optim::SGDOptions(0.1)).lr());
  std::printf("Adam with weight_decay 0.5, a group with 0: has %.1f\n",
              of_group<optim::Adam>(optim::AdamOptions().weight_decay(0), optim::AdamOptions().weight_decay(0.5)).weight_decay());
}
CPP
printed() {
  python3 -m venv "$1"
  "$1/bin/pip" install -q --no-warn-conflicts --no-deps "torch==$1" nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
  local torch
  torch=$(echo "$1"/lib/python3*/site-packages/torch)
  g++ -std=c++20 -O1 -w groups.cpp -o "groups-$1" -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include" \
    -L"$torch/lib" -Wl,--no-as-needed -ltorch_cpu -lc10 -Wl,-rpath,"$PWD/$torch/lib"
  "./groups-$1"
}
for version in 2.11.0 2.15.0; do printed $version; done | tee seen
grep -A3 'LibTorch 2.11.0' seen | tail -3 | tr '\n' ' ' | grep -q '0.001: trains at 0.001 .*0.002: trains at 0.002 .*0: has 0.0'
grep -A3 'LibTorch 2.15.0' seen | tail -3 | tr '\n' ' ' | grep -q '0.001: trains at 0.100 .*0.002: trains at 0.002 .*0: has 0.5'
# Seen: LibTorch 2.11.0
#       SGD at 0.1, a group at 0.001: trains at 0.001
#       SGD at 0.1, a group at 0.002: trains at 0.002
#       Adam with weight_decay 0.5, a group with 0: has 0.0
#       LibTorch 2.15.0
#       SGD at 0.1, a group at 0.001: trains at 0.100
#       SGD at 0.1, a group at 0.002: trains at 0.002
#       Adam with weight_decay 0.5, a group with 0: has 0.5
