#include "support.hpp"

#include <dlfcn.h>

#include <heatpp/core/detail/relayout.hpp>

#include <cstdlib>
#include <set>

std::vector<ht::Layout> every_layout(const ht::Shape& shape) {
  const int ranks = ht::world().size();
  std::vector<ht::Layout> layouts{ht::Layout(shape, std::nullopt, ranks)};
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
    layouts.emplace_back(shape, axis, ranks);
    const auto n = shape[static_cast<std::size_t>(axis)];
    std::set<std::vector<std::int64_t>> cuts;
    std::vector<std::int64_t> last(static_cast<std::size_t>(ranks) + 1, 0), uneven(last), gaps(last);
    for (int r = 1; r <= ranks; ++r) {
      const auto i = static_cast<std::size_t>(r);
      last[i] = r == ranks ? n : 0;
      uneven[i] = r == ranks ? n : std::min<std::int64_t>(n, 1 + (r - 1) * 2);
      gaps[i] = r == ranks ? n : (r / 2) * n / std::max(1, ranks / 2 + 1);
    }
    for (const auto& cut : std::set{last, uneven, gaps}) layouts.emplace_back(shape, axis, cut);
  }
  return layouts;
}

namespace {

std::string_view wanted_device() {
  const char* const wanted = std::getenv("HEATPP_TEST_DEVICE");
  return wanted ? wanted : "cpu";
}

#ifdef HEATPP_STANDIN_GPU
// Before LibTorch is used, which looks for CUDA once.
const bool standin_is_loaded = wanted_device() == "standin" && [] {
  for (const char* library : {"HEATPP_CUDART", "HEATPP_CUDA", "HEATPP_NCCL"}) ::setenv(library, HEATPP_STANDIN, 1);
  if (::dlopen(HEATPP_STANDIN_GPU, RTLD_NOW | RTLD_GLOBAL)) return true;
  throw std::runtime_error(::dlerror());
}();
#endif

/// Where tests have their arrays: with HEATPP_TEST_DEVICE=gpu on the first GPU of the node, which its ranks share, with
/// HEATPP_TEST_DEVICE=standin on what takes a GPU's place.
ht::Device test_device() { return wanted_device() == "cpu" ? ht::cpu : ht::gpu(0); }

}  // namespace

ht::DNDarray distribute(const at::Tensor& global, const ht::Layout& layout) {
  const ht::Shape shape(global.sizes().begin(), global.sizes().end());
  const auto whole = ht::detail::wrap(global, ht::Layout(shape, std::nullopt, ht::world().size()), ht::world());
  const auto block = ht::detail::relayout(whole, layout).clone(at::MemoryFormat::Contiguous);
  return ht::detail::wrap(block, layout, ht::world()).to_device(test_device());
}

at::Tensor gathered(const ht::DNDarray& x) { return ht::resplit(x, std::nullopt).larray().cpu(); }

namespace {

bool fits(const ht::DNDarray& x, const at::Tensor& all, const at::Tensor& expected) {
  const auto local = x.layout().local_shape(x.comm().rank());
  return x.larray().sizes() == at::IntArrayRef(local) && all.scalar_type() == expected.scalar_type() &&
         all.sizes() == expected.sizes();
}

}  // namespace

bool same(const ht::DNDarray& x, const at::Tensor& expected) {
  const auto all = gathered(x);
  if (!fits(x, all, expected)) return false;
  return at::logical_or(all == expected, at::logical_and(all != all, expected != expected)).all().item<bool>();
}

bool close(const ht::DNDarray& x, const at::Tensor& expected, double tolerance) {
  const auto all = gathered(x);
  return fits(x, all, expected) && at::allclose(all, expected, tolerance, tolerance, /*equal_nan=*/true);
}
