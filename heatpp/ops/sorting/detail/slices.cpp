#include <heatpp/ops/sorting/detail/slices.hpp>

#include <heatpp/core/detail/route.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/operands/detail/element_type.hpp>
#include <heatpp/ops/operands/detail/lines.hpp>
#include <heatpp/ops/sorting/detail/keys.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace heatpp::detail {
namespace {

/// Rows of `width` keys each, whose bytes have the highest first, so that comparing bytes compares keys.
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
    return width_ == 0 ? 0 : std::memcmp(row(i), other, width_);  // empty rows have no address
  }

  /// Whether two rows are equal. A row with NaN equals none.
  [[nodiscard]] bool same(std::int64_t a, std::int64_t b) const { return compare(a, row(b)) == 0 && !has_nan(a); }

  /// Returns the distinct rows in order; those with NaN are all distinct.
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

constexpr std::int64_t sampled_bytes = std::int64_t{4} << 20;

/// Returns how many of `total` rows of `width` bytes all ranks see: as many as fit into 4 MiB, at least one for each
/// rank and at most one of each rank for each.
std::int64_t samples_among(std::int64_t total, std::int64_t width, std::int64_t ranks) {
  const auto room = sampled_bytes / std::max<std::int64_t>(1, width);
  return std::min(total, std::clamp(room, ranks, ranks * ranks));
}

/// Returns rows of all ranks, in order: one of each of many equal parts, at places that are spread over a part. The
/// rows of each rank are in order, so rows at one place of all parts would be near each other in the whole.
template <class T>
Strings<T> samples_of(const Strings<T>& rows, const Communicator& comm) {
  auto counts = comm.allgather(rows.size());
  const auto total = std::reduce(counts.begin(), counts.end()), width = rows.bytes().size(1);
  const auto wanted = samples_among(total, width, comm.size());
  constexpr double golden = 0.6180339887498949;  // its multiples are spread evenly, modulo 1
  std::vector<std::int64_t> chosen, bytes(counts.size());
  std::size_t rank = 0;
  std::int64_t first = 0;  // of the rank
  for (std::int64_t s = 0; s < wanted; ++s) {
    const auto begin = total / wanted * s + total % wanted * s / wanted;
    const auto within = static_cast<double>(s) * golden - std::floor(static_cast<double>(s) * golden);
    const auto place = begin + static_cast<std::int64_t>(within * static_cast<double>(total / wanted));
    while (place >= first + counts[rank]) first += counts[rank++];
    bytes[rank] += width;
    if (static_cast<int>(rank) == comm.rank()) chosen.push_back(place - first);
  }
  const auto mine = rows.bytes().index_select(0, at::tensor(chosen, at::kLong));
  auto all = at::empty({wanted, width}, at::kByte);
  comm.allgather(buffer_of(mine), buffer_of(all), bytes);
  return Strings<T>(all).distinct();
}

/// Returns how many of the rising rows belong to each rank: those before its successor's first one.
template <class T>
std::vector<RowsOfRank> shares(const Strings<T>& rows, const Strings<T>& samples, int ranks) {
  std::vector<RowsOfRank> send;
  std::int64_t first = 0;
  for (int r = 1; r <= ranks; ++r) {
    auto last = rows.size();
    if (r < ranks) {
      const auto* splitter = samples.size() > 0 ? samples.row(samples.size() * r / ranks) : nullptr;
      for (last = first; last < rows.size() && splitter && rows.compare(last, splitter) < 0;) ++last;
    }
    if (last > first) send.push_back({r - 1, last - first});
    first = last;
  }
  return send;
}

template <class T>
Strings<T> distinct_across(const Strings<T>& mine, const Communicator& comm) {
  const auto rows = mine.distinct();
  auto send = shares(rows, samples_of(rows, comm), comm.size());
  return Strings<T>(route_in_order(std::move(send), comm).there(rows.bytes())).distinct();
}

/// Returns an array that is split along the axis, or not at all, and its slices as rows.
std::pair<DNDarray, at::Tensor> rows_of(const DNDarray& array, int axis) {
  const bool moves = array.layout().is_grid() || (array.split() && array.split() != axis);
  const auto x = moves ? resplit(array, axis) : array;
  std::vector<std::int64_t> others;
  for (int other = 0; other < x.ndim(); ++other)
    if (other != axis) others.push_back(other);
  return {x, lines_along(x.larray(), others)};
}

/// Returns the rows as slices of an array along `axis`.
DNDarray from_rows(const at::Tensor& found, const DNDarray& x, int axis) {
  auto shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = found.size(0);
  const auto layout =
      x.split() ? Layout::from_counts(shape, axis, x.comm().allgather(found.size(0))) : x.layout().replicated(shape);
  return from_lines(found.t(), axis, layout, x);
}

/// Orders rows, equal ones by their indices.
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
  const auto route = route_in_order(shares(mine.rows, samples_of(mine.rows.distinct(), comm), comm.size()), comm);
  return Ordered<T>::of(Strings<T>(route.there(mine.rows.bytes())), route.there(mine.indices));
}

/// Sends the place of each slice to the rank that has the slice.
at::Tensor sent_home(const at::Tensor& indices, const at::Tensor& places, const Layout& layout,
                     const Communicator& comm) {
  const auto answers = route_to(owners_of(indices, layout.cut()), comm).there(at::stack({indices, places}, 1));
  auto result = at::empty({layout.count(comm.rank())}, at::kLong);
  return result.index_put_({answers.select(1, 0) - layout.offset(comm.rank())}, answers.select(1, 1));
}

}  // namespace

DNDarray unique_slices(const DNDarray& array, int axis) {
  const auto [x, rows] = rows_of(array, axis);
  const auto found = with_element_type(rows.scalar_type(), [&, &x = x, &rows = rows]<class T>() {
    const auto strings = Strings<T>::of(rows);
    return (x.split() ? distinct_across(strings, x.comm()) : strings.distinct()).elements();
  });
  return from_rows(found, x, axis);
}

SliceGroups group_slices(const DNDarray& array, int axis) {
  const auto [x, rows] = rows_of(array, axis);
  const auto& comm = x.comm();
  const bool across = x.split() && comm.size() > 1;
  const auto offset = x.split() ? x.layout().offset(comm.rank()) : 0;
  return with_element_type(rows.scalar_type(), [&, &x = x, &rows = rows]<class T>() {
    auto all = Ordered<T>::of(Strings<T>::of(rows), at::arange(offset, offset + rows.size(0)));
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
    const auto values = from_rows(Strings<T>(all.rows.bytes().index_select(0, heads)).elements(), x, axis);
    const auto vector = [&](const at::Tensor& block, const Layout& like, std::int64_t extent, bool split) {
      const auto layout = like.with({extent}, split ? std::optional(0) : std::nullopt);
      return wrap(block.to(x.larray().device()), layout, comm);
    };
    const bool split = x.split().has_value();
    auto places = at::tensor(group, at::kLong) + (split ? values.layout().offset(comm.rank()) : 0);
    if (across) places = sent_home(all.indices, places, x.layout(), comm);
    else places = at::empty_like(places).index_put_({all.indices - offset}, places);
    const auto found = values.shape()[static_cast<std::size_t>(axis)];
    return SliceGroups{values, vector(all.indices.index_select(0, heads), values.layout(), found, split),
                       vector(places, x.layout(), x.shape()[static_cast<std::size_t>(axis)], split),
                       vector(at::tensor(counts, at::kLong), values.layout(), found, split)};
  });
}

}  // namespace heatpp::detail
