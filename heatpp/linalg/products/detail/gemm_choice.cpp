#include <heatpp/comm/detail/kept/choice.hpp>
#include <heatpp/linalg/products/detail/gemm.hpp>

#include <ATen/ATen.h>
#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

namespace heatpp::detail {
namespace {

constexpr double worth_a_message = 1 << 26;  // multiplications: about a millisecond

/// Returns the least seconds of a few calls after a first one.
template <class F>
double least_seconds(F f) {
  f();
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

/// Panels must be clearly faster, so that trials on equal machines agree.
std::string faster_product() {
  constexpr double clearly = 0.97;
  constexpr std::int64_t extent = 512;
  const auto a = at::full({extent, extent}, 0.5F), b = at::full({extent, extent}, 2.0F), c = at::empty_like(a);
  const auto by_panels = least_seconds([&] { multiply_by_panels(c, a, b, false); });
  const auto by_torch = least_seconds([&] { at::mm_out(const_cast<at::Tensor&>(c), a, b); });
  return by_panels < clearly * by_torch ? "panels" : "torch";
}

}  // namespace

bool prefers_panels(const Communicator& comm, double multiplications) {
  if (multiplications < worth_a_message) return false;
  static std::mutex mutex;
  static std::map<std::uint64_t, bool> known;
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(comm.group()); found != known.end()) return found->second;
    if (comm.size() == 1 && !known.empty()) return known.begin()->second;  // other results may have to equal this one
  }
  const bool panels = kept_choice(comm, "product_of_float32", faster_product) == "panels";
  const std::lock_guard lock(mutex);
  return known[comm.group()] = panels;
}

}  // namespace heatpp::detail
