#include <heatpp/core/slice.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <cstdlib>

namespace heatpp {

ResolvedSlice resolve(const Slice& slice, std::int64_t extent, const char* op) {
  if (slice.step == 0) detail::raise<ValueError>(op, "got a slice with step 0; expected another step");
  const bool forward = slice.step > 0;
  // The ends that Python allows: 0 .. extent for positive steps, -1 .. extent - 1 for negative ones.
  const auto low = forward ? 0 : std::int64_t{-1}, high = forward ? extent : extent - 1;
  const auto limit = [&](std::int64_t end) { return std::clamp(end < 0 ? end + extent : end, low, high); };
  const auto start = slice.start ? limit(*slice.start) : (forward ? low : high);
  const auto stop = slice.stop ? limit(*slice.stop) : (forward ? high : low);
  const auto distance = forward ? stop - start : start - stop, longest = std::max<std::int64_t>(1, extent);
  const auto step = std::clamp(slice.step, -longest, longest);  // a longer step also takes one index
  return {start, distance > 0 ? (distance - 1) / std::abs(step) + 1 : 0, step};
}

}  // namespace heatpp
