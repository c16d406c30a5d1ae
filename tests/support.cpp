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
// This runs before LibTorch is used, because LibTorch looks for CUDA only once.
const bool standin_is_loaded = wanted_device() == "standin" && [] {
  for (const char* library : {"HEATPP_CUDART", "HEATPP_CUDA", "HEATPP_NCCL"}) ::setenv(library, HEATPP_STANDIN, 1);
  if (::dlopen(HEATPP_STANDIN_GPU, RTLD_NOW | RTLD_GLOBAL)) return true;
  throw std::runtime_error(::dlerror());
}();
#endif

/// Returns the device of the tests' arrays: with HEATPP_TEST_DEVICE=gpu the first GPU of the node, which its ranks
/// share; with HEATPP_TEST_DEVICE=standin the stand-in for a GPU.
ht::Device test_device() { return wanted_device() == "cpu" ? ht::cpu : ht::gpu(0); }

}  // namespace

ht::DNDarray distribute(const at::Tensor& global, const ht::Layout& layout) {
  const ht::Shape shape(global.sizes().begin(), global.sizes().end());
  const auto whole = ht::detail::wrap(global, ht::Layout(shape, std::nullopt, ht::world().size()), ht::world());
  const auto block = ht::detail::relayout(whole, layout).clone(at::MemoryFormat::Contiguous);
  return ht::detail::wrap(block, layout, ht::world()).to_device(test_device());
}

ht::Layout layout_of(const at::Tensor& x, std::optional<int> split) {
  return {ht::Shape(x.sizes().begin(), x.sizes().end()), split, ht::world().size()};
}
ht::DNDarray even(const at::Tensor& x) { return distribute(x, layout_of(x, 0)); }
ht::DNDarray on_all(const at::Tensor& x) { return distribute(x, layout_of(x, std::nullopt)); }

at::Tensor gathered(const ht::DNDarray& x) { return ht::resplit(x, std::nullopt).larray().cpu(); }

namespace {

/// Describes the layout of `x` for a check that failed on this rank.
std::string cut_of(const ht::DNDarray& x) {
  std::string text = "rank " + std::to_string(x.comm().rank()) + ", " + ht::cut_text(x.layout());
  if (x.layout().is_grid() || !x.split()) return text;
  text += ", cut at";
  for (int rank = 0; rank < x.comm().size(); ++rank) text += " " + std::to_string(x.layout().offset(rank));
  return text;
}

/// Compares all of `x` by `compare`, and the shape of this rank's block with the layout.
template <class Compare>
Agreement agreement(const ht::DNDarray& x, Compare compare) {
  const auto all = gathered(x);
  const auto local = x.layout().local_shape(x.comm().rank());
  const auto found = x.larray().sizes() == at::IntArrayRef(local)
                         ? compare(all)
                         : Agreement{false, "got another block than the layout has"};
  return found ? found : Agreement{false, cut_of(x) + ": " + found.difference};
}

}  // namespace

Agreement same(const ht::DNDarray& x, const at::Tensor& expected) {
  const auto right = [](const at::Tensor& a, const at::Tensor& b) {
    return at::logical_or(a == b, at::logical_and(a != a, b != b));
  };
  return agreement(x, [&](const at::Tensor& all) { return compared(all, expected, right); });
}

Agreement close(const ht::DNDarray& x, const at::Tensor& expected, double tolerance) {
  const auto right = [tolerance](const at::Tensor& a, const at::Tensor& b) {
    return at::isclose(a, b, tolerance, tolerance, /*equal_nan=*/true);
  };
  return agreement(x, [&](const at::Tensor& all) { return compared(all, expected, right); });
}

Agreement equals(const ht::DNDarray& x, const at::Tensor& expected) {
  return agreement(x, [&](const at::Tensor& all) { return equals(all, expected); });
}

Agreement near_to(const ht::DNDarray& x, const at::Tensor& expected, double relative, double absolute) {
  return agreement(x, [&](const at::Tensor& all) { return near_to(all, expected, relative, absolute); });
}
