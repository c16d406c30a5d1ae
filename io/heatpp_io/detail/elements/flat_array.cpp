#include <heatpp_io/detail/elements/flat_array.hpp>

#include <ATen/ATen.h>

#include <algorithm>

namespace heatpp::io::detail {
namespace {

constexpr std::int64_t staging_bytes = std::int64_t{4} << 20;
// Reading this many bytes costs as much as another call.
constexpr std::int64_t small_gap = std::int64_t{64} << 10;

class FlatReader {
 public:
  FlatReader(const FlatFile& file, const at::Tensor& out) : file_(file), array_(file.array) {
    const auto ndim = array_.shape.size();
    strides_.resize(ndim);
    for (std::size_t i = 0; i < ndim; ++i) slowest_first_.push_back(array_.fortran ? ndim - 1 - i : i);
    std::int64_t stride = 1;
    for (auto i = ndim; i-- > 0; stride *= array_.shape[slowest_first_[i]]) strides_[slowest_first_[i]] = stride;
    direct_ = out.scalar_type() == array_.type.in_memory && out.is_contiguous() && (!array_.fortran || ndim < 2);
  }

  /// The axes before `level`, in the order of their strides, have one position each.
  void read(const Selection& box, const at::Tensor& out, std::size_t level = 0) {
    if (out.numel() == 0) return;
    const auto bytes = span(box) * array_.type.bytes;
    if (direct_ && out.numel() == span(box)) return read_run(box, out);
    if (level == box.size()) return read_staged(box, out);
    const auto axis = slowest_first_[level];
    const auto distance = strides_[axis] * box[axis].step * array_.type.bytes;
    const bool together = out.numel() * array_.type.bytes * 4 >= bytes || distance < small_gap;
    if (together && bytes <= staging_bytes) return read_staged(box, out);
    const auto rows = together ? std::clamp<std::int64_t>(staging_bytes / distance, 1, box[axis].count) : 1;
    for (std::int64_t first = 0; first < box[axis].count; first += rows) {
      const auto count = std::min(rows, box[axis].count - first);
      const auto dim = static_cast<int>(axis);
      read(narrow(box, dim, first, count), out.narrow(dim, first, count), count == 1 ? level + 1 : level);
    }
  }

 private:
  /// Returns the number of elements from the first to the last of the box.
  [[nodiscard]] std::int64_t span(const Selection& box) const {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < box.size(); ++i) last += (box[i].count - 1) * box[i].step * strides_[i];
    return last + 1;
  }
  [[nodiscard]] std::int64_t offset(const Selection& box) const {
    std::int64_t first = 0;
    for (std::size_t i = 0; i < box.size(); ++i) first += box[i].start * strides_[i];
    return array_.offset + first * array_.type.bytes;
  }

  void fetch(std::int64_t offset, std::int64_t count, void* to) {
    file_.bytes.read(offset, count * array_.type.bytes, to);
    to_native(array_.type, to, count);
  }

  void put(const at::Tensor& values, const at::Tensor& out) const {
    if (array_.type.element.may_overflow) copy_uint64(values, out, file_.path, file_.op);
    else if (!values.is_same(out)) out.copy_(values);
  }

  /// Reads in pieces, so that the elements are in the cache when they are converted.
  void read_run(const Selection& box, const at::Tensor& out) {
    const auto piece = staging_bytes / array_.type.bytes;
    const auto flat = out.view({-1});
    for (std::int64_t first = 0; first < out.numel(); first += piece) {
      const auto part = flat.narrow(0, first, std::min(piece, out.numel() - first));
      fetch(offset(box) + first * array_.type.bytes, part.numel(), part.data_ptr());
      put(part, part);
    }
  }

  void read_staged(const Selection& box, const at::Tensor& out) {
    const auto count = span(box);
    if (!staging_.defined()) staging_ = at::empty({staging_bytes}, at::kByte);
    fetch(offset(box), count, staging_.data_ptr());
    Shape sizes, strides;
    for (std::size_t i = 0; i < box.size(); ++i) {
      sizes.push_back(box[i].count);
      strides.push_back(box[i].step * strides_[i]);
    }
    const auto values = at::from_blob(staging_.data_ptr(), sizes, strides, at::TensorOptions(array_.type.in_memory));
    put(values, out);
  }

  const FlatFile& file_;
  const FlatArray& array_;
  Shape strides_;  // counted in elements
  std::vector<std::size_t> slowest_first_;
  bool direct_;
  at::Tensor staging_;
};

}  // namespace

void read_flat(const FlatFile& file, const Selection& box, const at::Tensor& out) {
  FlatReader(file, out).read(box, out);
}

}  // namespace heatpp::io::detail
