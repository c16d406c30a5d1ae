#include <heatpp/ml/tree/detail/histogram.hpp>

#include <ATen/Parallel.h>

#include <algorithm>

namespace heatpp::ml::detail {
namespace {

constexpr std::size_t ahead = 16;  // rows whose bins are prefetched

std::uint32_t row_of(std::uint32_t row) { return row; }
std::uint32_t row_of(const Drawn& drawn) { return drawn.row; }

/// Calls f(i, row's bins) for all rows of an order.
template <class T, class F>
void for_rows(const BinnedRows& rows, std::span<const T> order, F f) {
  const auto* data = rows.data();
  const auto stride = static_cast<std::size_t>(rows.stride);
  for (std::size_t i = 0; i < order.size(); ++i) {
    __builtin_prefetch(data + row_of(order[std::min(i + ahead, order.size() - 1)]) * stride);
    f(i, data + row_of(order[i]) * stride);
  }
}

/// Adds the pairs of rows to those of their bins.
void add_pairs(const BinnedRows& rows, const Bins& bins, const Pair* pairs, std::span<const std::uint32_t> order,
               std::int64_t first, std::int64_t last, Pair* cells) {
  const auto* offsets = bins.offsets.data();
  for_rows(rows, order, [&](std::size_t i, const std::uint8_t* x) {
    __builtin_prefetch(pairs + order[std::min(i + ahead, order.size() - 1)]);
    const auto pair = pairs[order[i]];
#pragma GCC unroll 4
    for (auto j = first; j < last; ++j) cells[offsets[j] + x[j]] += pair;
  });
}

}  // namespace

void sum_pairs(const BinnedRows& rows, const Bins& bins, const Pair* pairs, const Units& units,
               std::span<const std::uint32_t> order, std::int64_t first, std::int64_t last, Pair* room, Cell* cells) {
  const auto begin = bins.offsets[static_cast<std::size_t>(first)], end = bins.offsets[static_cast<std::size_t>(last)];
  std::fill(cells + begin, cells + end, Cell{});
  const auto together = static_cast<std::size_t>(units.rows_together());
  for (std::size_t from = 0; from < order.size(); from += together) {
    std::fill(room + begin, room + end, Pair{});
    add_pairs(rows, bins, pairs, order.subspan(from, std::min(together, order.size() - from)), first, last, room);
    for (auto c = begin; c < end; ++c) cells[c] += units.cell(room[c]);
  }
}

template <class T>
std::int64_t parted(const BinnedRows& rows, std::int64_t feature, const std::uint8_t* left, std::span<T> order,
                    T* spare) {
  const auto n = std::ssize(order);
  constexpr std::int64_t few = 1 << 14;
  const auto parts = n < few ? std::int64_t{1} : static_cast<std::int64_t>(at::get_num_threads());
  const auto begin = [&](std::int64_t part) { return n * part / parts; };
  std::vector<std::int64_t> lefts(static_cast<std::size_t>(parts), 0);
  const auto* column = rows.column(feature);
  at::parallel_for(0, parts, 1, [&](std::int64_t p, std::int64_t last) {
    for (; p < last; ++p) {  // left rows to the front of this part, others to the spare room
      auto *to = order.data() + begin(p), *aside = spare + begin(p);
      for (auto i = begin(p); i < begin(p + 1); ++i) {
        const auto item = order[static_cast<std::size_t>(i)];
        const std::int64_t goes = left[column[row_of(item)]];
        *to = item;
        *aside = item;
        to += goes;
        aside += 1 - goes;
      }
      lefts[static_cast<std::size_t>(p)] = to - (order.data() + begin(p));
    }
  });
  auto all = lefts[0];
  for (std::int64_t p = 1; p < parts; ++p) {
    const auto from = order.begin() + begin(p);
    std::copy(from, from + lefts[static_cast<std::size_t>(p)], order.begin() + all);
    all += lefts[static_cast<std::size_t>(p)];
  }
  auto to = order.begin() + all;
  for (std::int64_t p = 0; p < parts; ++p) {
    const auto others = begin(p + 1) - begin(p) - lefts[static_cast<std::size_t>(p)];
    to = std::copy_n(spare + begin(p), others, to);
  }
  return all;
}
template std::int64_t parted(const BinnedRows&, std::int64_t, const std::uint8_t*, std::span<std::uint32_t>,
                             std::uint32_t*);
template std::int64_t parted(const BinnedRows&, std::int64_t, const std::uint8_t*, std::span<Drawn>, Drawn*);

namespace {

/// Returns the first cell of each of some features among the cells of all of them.
std::vector<std::int64_t> starts_of(const Bins& bins, std::span<const std::int32_t> features) {
  std::vector<std::int64_t> starts;
  std::int64_t at = 0;
  for (const auto j : features) {
    starts.push_back(at);
    at += bins.cells_of(j);
  }
  return starts;
}

}  // namespace

void add_drawn_pairs(const BinnedRows& rows, const Bins& bins, const Pair* pairs, const ForestUnits& units,
                     std::span<const Drawn> order, std::span<const std::int32_t> features, std::int64_t* cells) {
  const auto starts = starts_of(bins, features);
  const auto one = units.one(), lanes = units.lanes();
  for_rows(rows, order, [&](std::size_t i, const std::uint8_t* x) {
    const auto times = static_cast<std::int64_t>(order[i].times());
    const auto pair = pairs[order[i].row];
    const std::int64_t gradient = times * pair[0], weight = times * pair[1] + one;
    for (std::size_t k = 0; k < features.size(); ++k) {
      auto* cell = cells + lanes * (starts[k] + x[features[k]]);
      cell[0] += gradient;
      cell[1] += weight;
      if (lanes > 2) cell[2] += 1;
    }
  });
}

void add_drawn_classes(const BinnedRows& rows, const Bins& bins, const std::int64_t* weights, const ForestUnits& units,
                       std::span<const Drawn> order, std::span<const std::int32_t> features, std::int64_t* cells) {
  const auto starts = starts_of(bins, features);
  const auto one = units.one(), lanes = units.lanes(), counts = lanes - 1;
  const bool apart = units.apart();
  for_rows(rows, order, [&](std::size_t i, const std::uint8_t* x) {
    const auto weight = static_cast<std::int64_t>(order[i].times()) * weights[order[i].row] + one;
    auto* of_class = cells + order[i].label();
    for (std::size_t k = 0; k < features.size(); ++k) of_class[(starts[k] + x[features[k]]) * lanes] += weight;
    for (std::size_t k = 0; apart && k < features.size(); ++k)
      cells[(starts[k] + x[features[k]]) * lanes + counts] += 1;
  });
}

}  // namespace heatpp::ml::detail
