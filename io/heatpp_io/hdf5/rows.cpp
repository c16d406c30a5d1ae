#include <heatpp_io/hdf5/rows.hpp>

#include <ATen/ATen.h>

#include <heatpp_io/detail/shards/stored_source.hpp>

#include <numeric>

namespace heatpp::io {
namespace {

class Stored final : public detail::StoredSource {
 public:
  Stored(StoredRows rows, std::int64_t first)
      : StoredSource(first, rows.shape()[1] * static_cast<std::int64_t>(itemsize(rows.dtype()))),
        rows_(std::move(rows)) {}

  [[nodiscard]] at::Tensor read(std::int64_t begin, std::int64_t count) const override {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), first() + begin);
    return rows_.read(numbers);
  }

 private:
  StoredRows rows_;
};

}  // namespace

Rows rows(const StoredRows& x) {
  const auto layout = detail::layout_of_rows("rows", x.shape(), x.dtype(), x.comm());
  return Rows(std::make_shared<Stored>(x, layout.offset(x.comm().rank())), layout, x.dtype(), x.comm());
}

}  // namespace heatpp::io
