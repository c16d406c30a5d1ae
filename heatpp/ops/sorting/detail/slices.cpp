#include <heatpp/core/detail/route.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/operands/detail/element_type.hpp>
#include <heatpp/ops/sorting/detail/keys.hpp>
#include <heatpp/ops/sorting/detail/slices.hpp>

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
    return width_ == 0 ? 0 : std::memcmp(row(i), other, width_);  // elements of nothing have no address
  }

  /// Whether two rows are one: none with NaN is.
  [[nodiscard]] bool same(std::int64_t a, std::int64_t b) const { return compare(a, row(b)) == 0 && !has_nan(a); }

  /// The distinct rows in order; those with NaN all are distinct.
  [[nodiscard]] Strings distinct() const {
    std::vector<std::int64_t> order(static_cast<std::size_t>(size()));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](auto a, auto b) { return compare(a, row(b)) < 0; });
    order.erase(std::unique(order.begin(), order.end(), [&](auto a, auto b) { return same(a, b); }), order.end());
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

/// How many of the rows, which rise, belong to each rank: those before its successor's first one.
template <class T>
std::vector<std::int64_t> shares(const Strings<T>& rows, const Strings<T>& samples, int ranks) {
  std::vector<std::int64_t> send;
  std::int64_t first = 0;
  for (int r = 1; r <= ranks; ++r) {
    auto last = rows.size();
    if (r < ranks) {
      const auto* splitter = samples.size() > 0 ? samples.row(samples.size() * r / ranks) : nullptr;
      for (last = first; last < rows.size() && splitter && rows.compare(last, splitter) < 0;) ++last;
    }
    send.push_back(last - first);
    first = last;
  }
  return send;
}

template <class T>
Strings<T> distinct_across(const Strings<T>& mine, const Communicator& comm) {
  const auto rows = mine.distinct();
  const auto send = shares(rows, samples_of(rows, comm), comm.size());
  return Strings<T>(exchange_rows(rows.bytes(), send, comm.alltoall(send), comm)).distinct();
}

/// The slices as rows, and what they are slices of.
struct Rows2d {
  DNDarray x;  ///< split along the axis, or not at all
  at::Tensor rows;
  Shape slice;
};
Rows2d rows_of(const DNDarray& array, int axis) {
  const auto x = array.split() && array.split() != axis ? resplit(array, axis) : array;
  const auto front = x.larray().cpu().movedim(axis, 0);
  std::int64_t width = 1;
  for (std::int64_t i = 1; i < front.dim(); ++i) width *= front.size(i);
  return {x, front.reshape({front.size(0), width}).contiguous(), Shape(front.sizes().begin() + 1, front.sizes().end())};
}

/// The rows as slices of an array along `axis`.
DNDarray from_rows(const at::Tensor& found, const Rows2d& from, int axis) {
  auto shape = from.slice;
  shape.insert(shape.begin(), found.size(0));
  const auto block = found.view(shape).movedim(0, axis).contiguous().to(from.x.larray().device());
  shape = from.x.shape();
  shape[static_cast<std::size_t>(axis)] = found.size(0);
  if (!from.x.split()) return wrap(block, from.x.layout().replicated(shape), from.x.comm());
  return wrap(block, Layout::from_counts(shape, axis, from.x.comm().allgather(found.size(0))), from.x.comm());
}

/// Rows in order, equal ones by their indices.
template <class T>
struct Ordered {
  Strings<T> rows;
  at::Tensor indices;

  static Ordered of(const Strings<T>& rows, const at::Tensor& indices) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(rows.size()));
    std::iota(order.begin(), order.end(), 0);
    const auto* index = indices.const_data_ptr<std::int64_t>();
    std::ranges::sort(order, [&](auto a, auto b) {
      const auto compared = rows.compare(a, rows.row(b));
      return compared != 0 ? compared < 0 : index[a] < index[b];
    });
    const auto picked = at::tensor(order, at::kLong);
    return {Strings<T>(rows.bytes().index_select(0, picked)), indices.index_select(0, picked)};
  }
};

template <class T>
Ordered<T> ordered_across(const Ordered<T>& mine, const Communicator& comm) {
  const auto send = shares(mine.rows, samples_of(mine.rows.distinct(), comm), comm.size());
  const auto receive = comm.alltoall(send);
  return Ordered<T>::of(Strings<T>(exchange_rows(mine.rows.bytes(), send, receive, comm)),
                        exchange_rows(mine.indices, send, receive, comm));
}

/// The places of the slices, each sent to the rank that has the slice.
at::Tensor sent_home(const at::Tensor& indices, const at::Tensor& places, const Layout& layout,
                     const Communicator& comm) {
  const auto [rising, order] = at::sort(indices);
  std::vector<std::int64_t> send(static_cast<std::size_t>(comm.size()), 0);
  for (std::int64_t i = 0; i < rising.numel(); ++i)
    ++send[static_cast<std::size_t>(layout.owner(rising.const_data_ptr<std::int64_t>()[i]))];
  const auto answers =
      exchange_rows(at::stack({rising, places.index_select(0, order)}, 1), send, comm.alltoall(send), comm);
  auto result = at::empty({layout.count(comm.rank())}, at::kLong);
  return result.index_put_({answers.select(1, 0) - layout.offset(comm.rank())}, answers.select(1, 1));
}

}  // namespace

DNDarray unique_slices(const DNDarray& array, int axis) {
  const auto from = rows_of(array, axis);
  const auto found = with_element_type(from.rows.scalar_type(), [&]<class T>() {
    const auto strings = Strings<T>::of(from.rows);
    return (from.x.split() ? distinct_across(strings, from.x.comm()) : strings.distinct()).elements();
  });
  return from_rows(found, from, axis);
}

SliceGroups group_slices(const DNDarray& array, int axis) {
  const auto from = rows_of(array, axis);
  const auto& comm = from.x.comm();
  const bool across = from.x.split() && comm.size() > 1;
  const auto offset = from.x.split() ? from.x.layout().offset(comm.rank()) : 0;
  return with_element_type(from.rows.scalar_type(), [&]<class T>() {
    auto all = Ordered<T>::of(Strings<T>::of(from.rows), at::arange(offset, offset + from.rows.size(0)));
    if (across) all = ordered_across(all, comm);
    std::vector<std::int64_t> first, counts, group;
    for (std::int64_t i = 0; i < all.rows.size(); ++i) {
      if (i == 0 || !all.rows.same(i - 1, i)) {
        first.push_back(i);
        counts.push_back(0);
      }
      ++counts.back();
      group.push_back(std::ssize(first) - 1);
    }
    const auto heads = at::tensor(first, at::kLong);
    const auto values = from_rows(Strings<T>(all.rows.bytes().index_select(0, heads)).elements(), from, axis);
    const auto vector = [&](const at::Tensor& block, const Layout& like, std::int64_t extent, bool split) {
      const auto layout = like.with({extent}, split ? std::optional(0) : std::nullopt);
      return wrap(block.to(from.x.larray().device()), layout, comm);
    };
    const bool split = from.x.split().has_value();
    auto places = at::tensor(group, at::kLong) + (split ? values.layout().offset(comm.rank()) : 0);
    if (across) places = sent_home(all.indices, places, from.x.layout(), comm);
    else places = at::empty_like(places).index_put_({all.indices - offset}, places);
    const auto found = values.shape()[static_cast<std::size_t>(axis)];
    return SliceGroups{values, vector(all.indices.index_select(0, heads), values.layout(), found, split),
                       vector(places, from.x.layout(), from.x.shape()[static_cast<std::size_t>(axis)], split),
                       vector(at::tensor(counts, at::kLong), values.layout(), found, split)};
  });
}

}  // namespace heatpp::detail
