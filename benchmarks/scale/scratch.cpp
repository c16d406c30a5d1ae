// Takes the place of heatpp/comm/detail/scratch.cpp: all simulated ranks live in one process, and what large scratch
// memory holds does not matter, so that all of it can be the same few pages, which SimGrid then does not copy either.
#include <heatpp/comm/detail/scratch.hpp>

#include <smpi/smpi.h>

#include <array>
#include <bit>
#include <vector>

namespace heatpp::detail {
namespace {

constexpr int shared_log2 = 16;
std::array<std::vector<std::byte*>, 64> kept;  // by the logarithm of their size

std::byte* make(int log2) {
  const auto bytes = std::size_t{1} << log2;
  return static_cast<std::byte*>(log2 < shared_log2 ? std::malloc(bytes) : SMPI_SHARED_MALLOC(bytes));
}

}  // namespace

Scratch::Scratch(std::int64_t bytes) {
  if (bytes == 0) return;
  log2_ = std::bit_width(static_cast<std::uint64_t>(bytes - 1));
  auto& blocks = kept[static_cast<std::size_t>(log2_)];
  if (blocks.empty()) blocks.push_back(make(log2_));
  data_ = blocks.back();
  blocks.pop_back();
}

Scratch::~Scratch() {
  if (data_) kept[static_cast<std::size_t>(log2_)].push_back(data_);
}

}  // namespace heatpp::detail
