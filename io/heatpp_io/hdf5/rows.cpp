#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp_io/hdf5/rows.hpp>

#include <future>
#include <numeric>

namespace heatpp::io {
namespace {

constexpr std::int64_t stretch_bytes = std::int64_t{4} << 20;

class Stored final : public RowSource {
 public:
  Stored(StoredRows rows, std::int64_t first) : rows_(std::move(rows)), first_(first) {}

  [[nodiscard]] at::Tensor read(std::int64_t first, std::int64_t count) const override {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), first_ + first);
    return rows_.read(numbers);
  }

  void pass(std::int64_t count, std::int64_t features, const Visit& f) const override {
    const auto row_bytes = std::max<std::int64_t>(1, features * static_cast<std::int64_t>(itemsize(rows_.dtype())));
    const auto stretch = std::max<std::int64_t>(1, stretch_bytes / row_bytes);
    const auto ahead = [&](std::int64_t first) {
      return std::async(std::launch::async, [=, this] { return read(first, std::min(stretch, count - first)); });
    };
    if (count == 0) return;
    auto next = ahead(0);
    for (std::int64_t first = 0; first < count; first += stretch) {
      const auto block = next.get();
      if (first + stretch < count) next = ahead(first + stretch);
      f(first, block);
    }
  }

 private:
  StoredRows rows_;
  std::int64_t first_;
};

}  // namespace

Rows rows(const StoredRows& x) {
  if (x.shape().size() != 2)
    heatpp::detail::raise<ValueError>("rows", "got a stored array of shape {}; expected (samples, features)",
                                      to_string(x.shape()));
  if (is_complex(x.dtype()))
    heatpp::detail::raise<TypeError>("rows", "got a stored array of {}; expected real numbers", name(x.dtype()));
  const Layout layout(x.shape(), 0, x.comm().size());
  const auto first = layout.offset(x.comm().rank());
  return Rows(std::make_shared<Stored>(x, first), layout, x.dtype(), x.comm());
}

}  // namespace heatpp::io
