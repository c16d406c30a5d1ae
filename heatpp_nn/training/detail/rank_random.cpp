#include <heatpp_nn/training/detail/rank_random.hpp>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

namespace heatpp::nn::detail {
namespace {

at::Generator generator_of(const at::Device& device) { return at::globalContext().defaultGenerator(device); }

/// Draws from the program's generator, so that the next training uses other numbers.
std::uint64_t drawn() {
  auto cpu = generator_of(at::kCPU);
  const std::lock_guard lock(cpu.mutex());
  return at::check_generator<at::CPUGeneratorImpl>(cpu)->random64();
}

}  // namespace

RankRandom::RankRandom(const Communicator& comm, const at::Device& device) {
  if (comm.size() == 1) return;
  // The factor is odd, so seeds differ in their lower half; the CPU's generator uses only this half.
  const auto seed = drawn() + std::uint64_t{0x9e3779b97f4a7c15} * static_cast<std::uint64_t>(comm.rank() + 1);
  std::vector<at::Generator> generators{generator_of(at::kCPU)};
  if (!device.is_cpu()) generators.push_back(generator_of(device));
  for (auto& generator : generators) {
    const std::lock_guard lock(generator.mutex());
    kept_.push_back({generator, generator.get_state()});
    generator.set_current_seed(seed);
  }
}

RankRandom::~RankRandom() {
  for (auto& [generator, state] : kept_) {
    const std::lock_guard lock(generator.mutex());
    generator.set_state(state);
  }
}

}  // namespace heatpp::nn::detail
