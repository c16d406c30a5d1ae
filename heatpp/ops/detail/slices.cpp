#include <heatpp/core/detail/route.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/detail/keys.hpp>
#include <heatpp/ops/detail/slices.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace heatpp::detail {
namespace {

/// Rows of `width` keys each, whose bytes stand with the highest first, so that comparing bytes compares keys.
template <class T>
class Strings {
 public:
  using K = KeyOf<T>;
  explicit Strings(at::Tensor bytes) : bytes_(std::move(bytes)), width_(static_cast<std::size_t>(bytes_.size(1))) {}

  static Strings of(const at::Tensor& rows) {
    Strings strings(at::empty({rows.size(0), rows.size(1) * std::int64_t{sizeof(K)}}, at::kByte));
    const auto* in = rows.const_data_ptr<T>();
    auto* out = strings.bytes_.template data_ptr<std::uint8_t>();
    for (std::int64_t i = 0; i < rows.numel(); ++i) {
      const auto key = Keys<T>::of(in[i]);
      for (int shift = 8 * (sizeof(K) - 1); shift >= 0; shift -= 8) *out++ = static_cast<std::uint8_t>(key >> shift);
    }
    return strings;
  }

  [[nodiscard]] at::Tensor elements() const {
    auto rows = at::empty({size(), static_cast<std::int64_t>(width_ / sizeof(K))}, c10::CppTypeToScalarType<T>::value);
    const auto* in = data();
    auto* out = rows.template data_ptr<T>();
    for (std::int64_t i = 0; i < rows.numel(); ++i, in += sizeof(K)) out[i] = Keys<T>::element(key(in));
    return rows;
  }

  [[nodiscard]] std::int64_t size() const { return bytes_.size(0); }
  [[nodiscard]] const at::Tensor& bytes() const { return bytes_; }
  [[nodiscard]] const std::uint8_t* row(std::int64_t i) const { return data() + static_cast<std::size_t>(i) * width_; }
  [[nodiscard]] int compare(std::int64_t i, const std::uint8_t* other) const {
    return std::memcmp(row(i), other, width_);
  }

  /// The distinct rows in order; those with NaN all are distinct.
  [[nodiscard]] Strings distinct() const {
    std::vector<std::int64_t> order(static_cast<std::size_t>(size()));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](auto a, auto b) { return compare(a, row(b)) < 0; });
    const auto same = [&](auto a, auto b) { return compare(a, row(b)) == 0 && !has_nan(a); };
    order.erase(std::unique(order.begin(), order.end(), same), order.end());
    return Strings(bytes_.index_select(0, at::tensor(order, at::kLong)));
  }

 private:
  static K key(const std::uint8_t* bytes) {
    K key = 0;
    for (std::size_t b = 0; b < sizeof(K); ++b)
      key = static_cast<K>(static_cast<K>(key << (sizeof(K) > 1 ? 8 : 0)) | bytes[b]);
    return key;
  }
  [[nodiscard]] bool has_nan(std::int64_t i) const {
    for (std::size_t at = 0; at < width_; at += sizeof(K))
      if (is_nan_key<T>(key(row(i) + at))) return true;
    return false;
  }
  [[nodiscard]] const std::uint8_t* data() const { return bytes_.const_data_ptr<std::uint8_t>(); }

  at::Tensor bytes_;
  std::size_t width_;
};

/// Rows at regular distances, of all ranks, in order.
template <class T>
Strings<T> samples_of(const Strings<T>& rows, const Communicator& comm) {
  const auto wanted = std::min<std::int64_t>(rows.size(), comm.size());
  std::vector<std::int64_t> chosen;
  for (std::int64_t s = 0; s < wanted; ++s) chosen.push_back(rows.size() * s / wanted);
  const auto mine = rows.bytes().index_select(0, at::tensor(chosen, at::kLong));
  auto counts = comm.allgather(mine.size(0));
  auto all = at::empty({std::reduce(counts.begin(), counts.end()), mine.size(1)}, at::kByte);
  for (auto& count : counts) count *= mine.size(1);
  comm.allgather(buffer_of(mine), buffer_of(all), counts);
  return Strings<T>(all).distinct();
}

template <class T>
Strings<T> distinct_across(const Strings<T>& mine, const Communicator& comm) {
  const auto rows = mine.distinct();
  const auto samples = samples_of(rows, comm);
  std::vector<std::int64_t> send;
  std::int64_t first = 0;
  for (int r = 1; r <= comm.size(); ++r) {
    auto last = rows.size();
    if (r < comm.size()) {
      const auto* splitter = samples.size() > 0 ? samples.row(samples.size() * r / comm.size()) : nullptr;
      for (last = first; last < rows.size() && splitter && rows.compare(last, splitter) < 0;) ++last;
    }
    send.push_back(last - first);
    first = last;
  }
  return Strings<T>(exchange_rows(rows.bytes(), send, comm.alltoall(send), comm)).distinct();
}

}  // namespace

DNDarray unique_slices(const DNDarray& array, int axis) {
  const auto x = array.split() && array.split() != axis ? resplit(array, axis) : array;
  const auto front = x.larray().cpu().movedim(axis, 0);
  const auto n = front.size(0);
  std::int64_t width = 1;
  for (std::int64_t i = 1; i < front.dim(); ++i) width *= front.size(i);
  const auto rows = front.reshape({n, width}).contiguous();
  const auto found = with_element_type(rows.scalar_type(), [&]<class T>() {
    const auto strings = Strings<T>::of(rows);
    return (x.split() ? distinct_across(strings, x.comm()) : strings.distinct()).elements();
  });
  auto shape = front.sizes().vec();
  shape[0] = found.size(0);
  const auto block = found.view(shape).movedim(0, axis).contiguous().to(x.larray().device());
  shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = found.size(0);
  if (!x.split()) return wrap(block, x.layout().replicated(shape), x.comm());
  return wrap(block, Layout::from_counts(shape, axis, x.comm().allgather(found.size(0))), x.comm());
}

}  // namespace heatpp::detail
