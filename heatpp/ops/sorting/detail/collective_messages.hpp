#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp/ops/sorting/detail/splitters.hpp>

namespace heatpp::detail {

/// Collectives of a communicator. Numbers travel in as few bytes as their sums need.
template <class K>
class CollectiveMessages : public SplitterMessages<K> {
 public:
  explicit CollectiveMessages(Communicator comm) : comm_(std::move(comm)) {}
  void sum(std::span<std::int64_t> values, std::int64_t most) override;
  void sum_before(std::span<std::int64_t> values, std::int64_t most) override;
  void join(std::span<K> keys) override;

 private:
  Communicator comm_;
};

/// Calls f.operator()<T>() with the narrowest type of whole numbers up to `most`.
template <class F>
auto with_count_type(std::int64_t most, F f) {
  if (most <= std::numeric_limits<std::uint8_t>::max()) return f.template operator()<std::uint8_t>();
  if (most <= std::numeric_limits<std::int16_t>::max()) return f.template operator()<std::int16_t>();
  if (most <= std::numeric_limits<std::int32_t>::max()) return f.template operator()<std::int32_t>();
  return f.template operator()<std::int64_t>();
}

}  // namespace heatpp::detail
