#include "functions.hpp"

#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/elementwise/operators.hpp>

namespace {

/// Returns the bytes that all ranks hand to communication in `calls`.
std::int64_t bytes_of(const std::function<void()>& calls) {
  const auto before = ht::comm_report().bytes;
  calls();
  std::array<std::int64_t, 1> bytes{ht::comm_report().bytes - before};
  ht::world().allreduce(bytes);
  return bytes[0];
}

}  // namespace

TEST_CASE("a mask on a grid moves only what it keeps", "[grids]") {
  const ht::Shape shape{24, 20, 16};
  const auto global = numbered(shape);
  for (const auto& layout : every_grid(shape)) {
    const auto x = distribute(global, layout);
    for (const double least : {990.0, 500.0, -1.0, 2000.0}) {
      const auto mask = x > least;
      ht::DNDarray kept;
      const auto bytes = bytes_of([&] { kept = x(mask); });
      CHECK(same(kept, global.masked_select(global > least)));
      if (!layout.is_grid()) continue;
      const auto counts = 8 * 24 * 20 * layout.grid()[2] + 8 * ranks() * ranks();
      CHECK(bytes <= 8 * kept.size() + counts);
    }
    const auto bits = (x > 500).astype(ht::uint8);
    CHECK(same(bits(x > 700), (global > 500).to(at::kByte).masked_select(global > 700)));
    CHECK(same(x(ht::resplit(x > 500, 1)), global.masked_select(global > 500)));
  }
}
