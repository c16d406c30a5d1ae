#include "../catch.hpp"

#include <heatpp/comm/detail/schedule/wire.hpp>

#include <cmath>
#include <limits>
#include <vector>

using heatpp::Wire;
using heatpp::wire_bytes;

namespace {

std::vector<float> through(Wire wire, const std::vector<float>& values) {
  const auto n = std::ssize(values);
  std::vector<std::byte> code(static_cast<std::size_t>(wire_bytes(wire, n)));
  std::vector<float> back(values.size());
  heatpp::detail::encode(wire, values.data(), n, code.data());
  heatpp::detail::decode(wire, code.data(), n, back.data());
  return back;
}

}  // namespace

TEST_CASE("Wires have the bytes of their values and scales", "[comm][wire]") {
  CHECK(wire_bytes(Wire::float32, 100) == 400);
  CHECK(wire_bytes(Wire::bfloat16, 100) == 200);
  CHECK(wire_bytes(Wire::int8, 300) == 300 + 2 * 4);
  CHECK(wire_bytes(Wire::int4, 129) == 2 * (2 + 32) + 2 + 1);
  CHECK(wire_bytes(Wire::float4, 65) == 2 * (1 + 16) + 1 + 1);
  for (const auto wire : {Wire::int8, Wire::int4, Wire::float4}) CHECK(wire_bytes(wire, 0) == 0);
}

TEST_CASE("Values of a format travel unchanged, at every length", "[comm][wire]") {
  for (const std::size_t n : {1U, 2U, 31U, 32U, 33U, 64U, 65U, 200U, 257U}) {
    std::vector<float> whole(n), halves(n);
    const float numbers[] = {6, -4, 3, -2, 1.5F, -1, 0.5F, 0};
    for (std::size_t i = 0; i < n; ++i) {
      whole[i] = static_cast<float>(7 - static_cast<int>(i % 64 % 15)) * 0.25F;  // each block begins with 7
      halves[i] = numbers[i % 8] * 0.125F;
    }
    CHECK(through(Wire::int4, whole) == whole);
    CHECK(through(Wire::float4, halves) == halves);
  }
}

TEST_CASE("Four bits round to the nearest number", "[comm][wire]") {
  CHECK(through(Wire::int4, {7, 2.4F, -2.6F, 0.4F}) == std::vector<float>{7, 2, -3, 0});
  CHECK(through(Wire::float4, {6, 5.1F, -2.4F, 0.3F, 0.2F, 1.2F}) == std::vector<float>{6, 6, -2, 0.5F, 0, 1});
  CHECK(through(Wire::float4, {6.5F, 1}) == std::vector<float>{6, 1});  // scaled by 2, where 3.25 becomes 3
}

TEST_CASE("A block with a value that is not finite becomes NaN, and tiny values become 0", "[comm][wire]") {
  for (const auto wire : {Wire::int8, Wire::int4, Wire::float4}) {
    for (const auto bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      std::vector<float> values(300, 1.F);
      values[5] = bad;
      const auto back = through(wire, values);
      CHECK(std::isnan(back[5]));
      CHECK(std::isnan(back[6]));
      CHECK(std::abs(back[299] - 1) < 0.01F);  // a scale of int4 has 8 bits
    }
    CHECK(through(wire, {1e-44F, -1e-44F, 0}) == std::vector<float>(3, 0.F));
    const auto huge = 0.8F * std::numeric_limits<float>::max();
    CHECK(std::isfinite(through(wire, {huge, -huge})[1]));
  }
}
