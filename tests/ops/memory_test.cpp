// The most memory that a rank has in use during a call, beside its block of the array, as Linux counts it, and the most
// that it has allocated.
#include "../../benchmarks/counts/memory.hpp"
#include "../scratch_path.hpp"
#include "../support.hpp"

#include <heatpp/fft/fft.hpp>
#include <heatpp/linalg/products/product.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/elementwise/operators.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/sorting/sets.hpp>
#include <heatpp/ops/sorting/sort.hpp>
#include <heatpp/ops/statistics/order.hpp>
#include <heatpp/random/random.hpp>
#include <heatpp_io/heatpp_io.hpp>

#include <filesystem>
#include <fstream>
#include <functional>

namespace {

constexpr std::int64_t mebi = 1 << 20;

std::int64_t bytes_of(const std::string& line) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == line + ":") {
      std::int64_t kibi = 0;
      status >> kibi;
      return kibi << 10;
    }
  throw std::runtime_error("no " + line);
}

/// The most that any rank has during a call, beyond what it had before, per byte of its block, which counts once.
struct Peak {
  double in_use, allocated;
};
Peak peak_of(const ht::DNDarray& x, const std::function<void()>& work) {
  ht::world().barrier();
  const auto before = bytes_of("VmRSS"), held = memory::held();
  std::ofstream("/proc/self/clear_refs") << "5" << std::flush;  // the peak begins again
  memory::forget_peak();
  work();
  const auto allocated = memory::peak() - held, used = bytes_of("VmHWM") - before;
  const auto block = static_cast<double>(x.larray().nbytes());
  std::array<double, 2> peak{1 + static_cast<double>(used) / block, 1 + static_cast<double>(allocated) / block};
  ht::world().allreduce(peak, ht::ReduceOp::max);
  return {peak[0], peak[1]};
}

}  // namespace

TEST_CASE("calls take no more memory than a few times their data", "[ops][memory]") {
  const std::int64_t n = 32 * mebi;  // 128 MiB of float32
  const auto x = ht::random::rand({n}, {.dtype = ht::float32, .split = 0});
  const auto square = ht::random::rand({n / 4096, 4096}, {.dtype = ht::float32, .split = 0});
  const auto factor = ht::random::rand({4096, 512}, {.dtype = ht::float32, .split = 0});
  const auto complex = ht::random::rand({n / 8192, 4096}, {.dtype = ht::float32, .split = 0}).astype(ht::complex64);
  const auto keys = (x * 1e9).astype(ht::int64);
  const auto file = scratch_path("heatpp_memory") + ".npy";
  ht::io::save(x, file);

  const auto check = [](const char* name, const ht::DNDarray& data, const Peak& most,
                        const std::function<void()>& work) {
    const auto peak = peak_of(data, work);
    INFO(name << " takes " << peak.in_use << " times its data, and allocates " << peak.allocated << " times");
    CHECK(peak.in_use <= most.in_use);
    CHECK(peak.allocated <= most.allocated);
  };
  check("sort", x, {3.1, 3.1}, [&] { const auto y = ht::sort(x); });
  check("argsort", x, {5.2, 5.2}, [&] { const auto y = ht::argsort(x); });
  check("unique", x, {3.1, 3.3}, [&] { const auto y = ht::unique(x); });
  check("unique of integers", keys, {3.1, 3.3}, [&] { const auto y = ht::unique(keys); });
  check("resplit", square, {2.1, 2.1}, [&] { const auto y = ht::resplit(square, 1); });
  check("matmul", square, {1.5, 1.5}, [&] { const auto y = ht::matmul(square, factor); });
  check("fft along the split", complex, {3.2, 3.2}, [&] { const auto y = ht::fft::fft(complex, {.axis = 0}); });
  {
    const auto large = ht::ones({n / 4096, 6144}, {.dtype = ht::complex64, .split = 0});  // 128 MiB on each rank
    check("fft along the split, large", large, {2.1, 2.1}, [&] { const auto y = ht::fft::fft(large, {.axis = 0}); });
  }
  check("fft along another axis", complex, {2.1, 2.1}, [&] { const auto y = ht::fft::fft(complex, {.axis = 1}); });
  {
    const auto a = x + 0, b = a * 2;
    static_cast<void>(a.larray());
    static_cast<void>(b.larray());
    check("formula", x, {2.1, 2.1}, [&] {
      const auto y = ht::sqrt(a * a + b * b) * x - a / (b * b + 1);
      static_cast<void>(y.larray());
    });
  }
  check("percentile", x, {1.2, 1.2}, [&] { const auto y = ht::percentile(x, 30); });
  check("mask", x, {1.9, 1.9}, [&] { const auto y = x(x > 0.5); });
  check("load", x, {2.1, 2.1}, [&] { const auto y = ht::io::load(file, {.split = 0}); });
  ht::world().barrier();
  if (ht::world().rank() == 0) std::filesystem::remove(file);
}
