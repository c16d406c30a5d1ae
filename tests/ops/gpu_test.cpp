// Compares arrays on GPUs, if the machine has any, with those on the CPU. Ranks share the GPUs of their node.
#include "../support.hpp"

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/heatpp.hpp>

namespace {

using Function = ht::DNDarray (*)(const ht::DNDarray&);

const Function functions[] = {
    [](const ht::DNDarray& x) { return x * x + 1; },
    [](const ht::DNDarray& x) { return x + ht::sum(x, 0); },
    [](const ht::DNDarray& x) { return ht::std(x, 1); },
    [](const ht::DNDarray& x) { return ht::argmax(x, {.axis = 0}); },
    [](const ht::DNDarray& x) { return ht::cumsum(x, 0); },
    [](const ht::DNDarray& x) { return ht::sort(x, {.axis = 0}); },
    [](const ht::DNDarray& x) { return ht::unique(x); },
    [](const ht::DNDarray& x) {
      return ht::convolve(x, ht::array({1., -2.}).to_device(x.device()));
    },
    [](const ht::DNDarray& x) {
      return ht::percentile(x, {25, 50});
    },
    [](const ht::DNDarray& x) { return x(x > 0); },
    [](const ht::DNDarray& x) { return x(ht::slice(std::nullopt, std::nullopt, -1), 1); },
    [](const ht::DNDarray& x) {
      return x(ht::array({3, 0, 3}));
    },
    [](const ht::DNDarray& x) { return ht::where(x > 0, x, -x); },
    [](const ht::DNDarray& x) {
      return ht::concatenate({x, x}, 1);
    },
    [](const ht::DNDarray& x) {
      return ht::reshape(x, {2, -1});
    },
    [](const ht::DNDarray& x) { return ht::matmul(x, ht::transpose(x)); },
    [](const ht::DNDarray& x) { return ht::resplit(x, 1); },
    [](const ht::DNDarray& x) { return ht::random::permutation(x); },
    [](const ht::DNDarray& x) { return ht::random::normal(x, 2, {}, {.device = x.device()}); },
};

}  // namespace

TEST_CASE("Functions of arrays on GPUs give what they give on processors", "[ops][gpu]") {
  if (ht::gpu_count() == 0) {
    CHECK(message_of<ht::ValueError>([] { return ht::ones({2}).to_device(ht::gpu(1)); }) ==
          "[to_device] got cuda:1; expected the number of a GPU, of which there are 0");
    WARN("this machine has no GPU, or LibTorch is used without CUDA: nothing was compared");
    return;
  }
  const auto gpu = ht::gpu(ht::world().rank() % ht::gpu_count());
  const auto global = at::tensor({3, -1, 4, 1, -5, 9, 2, -6, 5, 3, -5, 8, 9, 7, -9, 3, 2, 3, 8, -4}, at::kFloat);
  for (const auto& layout : every_layout({5, 4})) {
    const auto x = distribute(global.view({5, 4}), layout);
    const auto there = x.to_device(gpu);
    REQUIRE(there.device() == gpu);
    CHECK(same(there.to_device(ht::cpu), global.view({5, 4})));
    for (std::size_t i = 0; i < std::size(functions); ++i) {
      const auto function = functions[i];
      INFO("function " << i << ", split " << layout.split().value_or(-1));
      ht::random::seed(7);
      const auto expected = function(x);
      ht::random::seed(7);
      const auto found = function(there);
      CHECK(found.device() == gpu);
      CHECK(close(found.to_device(ht::cpu), gathered(expected), 1e-5));
    }
  }
}
