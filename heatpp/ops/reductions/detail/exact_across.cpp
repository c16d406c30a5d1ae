#include <heatpp/ops/reductions/detail/exact_across.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

namespace heatpp::detail {
namespace {

/// Values that are not finite, as the sum of the numbers of the ranks that have them.
constexpr int rank_bits = 20;
std::int64_t code_of(double special) {
  if (special == 0) return 0;
  const int field = special != special ? 2 : special > 0 ? 1 : 0;
  return std::int64_t{1} << (field * rank_bits);
}
double special_of(std::int64_t code) {
  const auto has = [code](int field) { return (code >> (field * rank_bits) & ((1 << rank_bits) - 1)) != 0; };
  return has(2) || (has(0) && has(1)) ? NAN : has(1) ? INFINITY : has(0) ? -INFINITY : 0;
}

/// The range of the digits of all sums, over all ranks, and whether one is not finite.
struct Span {
  int low, high;
  bool special;
};
Span span_of(const Communicator& comm, std::span<ExactSum> sums) {
  constexpr std::int64_t none = -1000;
  std::array<std::int64_t, 3> span{none, none, 0};
  for (auto& sum : sums) {
    sum.carry();
    span[2] |= sum.special() != 0;
    if (sum.low() == sum.high()) continue;
    span[0] = std::max<std::int64_t>(span[0], -sum.low());
    span[1] = std::max<std::int64_t>(span[1], sum.high());
  }
  comm.allreduce(span, ReduceOp::max);
  if (span[1] == none) return {0, 0, span[2] != 0};
  return {static_cast<int>(-span[0]), static_cast<int>(span[1]), span[2] != 0};
}

}  // namespace

void add_across(const Communicator& comm, std::span<ExactSum> sums) {
  const auto [low, high, special] = span_of(comm, sums);
  const int bits = 62 - std::bit_width(static_cast<unsigned>(comm.size()));
  const auto each = static_cast<std::size_t>((32 * (high - low) + bits - 1) / bits);
  const auto all = each + (special ? 1 : 0);
  std::vector<std::int64_t> words(sums.size() * all);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::span mine(words.data() + i * all, all);
    sums[i].pack(low, bits, mine.first(each));
    if (special) mine.back() = code_of(sums[i].special());
  }
  if (!words.empty()) comm.allreduce(words);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] = ExactSum();
    const std::span mine(words.data() + i * all, all);
    for (std::size_t word = 0; word < each; ++word)
      sums[i].add_at(mine[word], 32 * low + static_cast<int>(word) * bits);
    if (special) sums[i].add(special_of(mine.back()));
  }
}

}  // namespace heatpp::detail
