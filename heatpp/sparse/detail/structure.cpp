#include <heatpp/sparse/detail/structure.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <ATen/Parallel.h>
#include <algorithm>

namespace heatpp::sparse::detail {
namespace {

constexpr std::int64_t sorted_rows_of_a_thread = 1024;

/// The positions of triples in the order of their rows, and the start of each row: a stable counting sort.
struct ByRow {
  at::Tensor row_ptr, positions;
};

ByRow by_row(const at::Tensor& rows, std::int64_t first, std::int64_t n) {
  ByRow result{at::zeros({n + 1}, at::kLong), at::empty({rows.numel()}, at::kLong)};
  auto* const ptr = result.row_ptr.data_ptr<std::int64_t>();
  auto* const positions = result.positions.data_ptr<std::int64_t>();
  const auto* const row = rows.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < rows.numel(); ++i) ++ptr[row[i] - first + 1];
  std::partial_sum(ptr, ptr + n + 1, ptr);
  std::vector<std::int64_t> next(ptr, ptr + n);
  for (std::int64_t i = 0; i < rows.numel(); ++i) positions[next[static_cast<std::size_t>(row[i] - first)]++] = i;
  return result;
}

void sort_rows_by_column(const ByRow& order, const at::Tensor& columns) {
  const auto* const column = columns.const_data_ptr<std::int64_t>();
  const auto* const ptr = order.row_ptr.const_data_ptr<std::int64_t>();
  auto* const positions = order.positions.mutable_data_ptr<std::int64_t>();
  const auto before = [=](std::int64_t a, std::int64_t b) {
    return column[a] != column[b] ? column[a] < column[b] : a < b;
  };
  at::parallel_for(0, order.row_ptr.numel() - 1, sorted_rows_of_a_thread, [=](std::int64_t begin, std::int64_t end) {
    for (auto row = begin; row < end; ++row) {
      auto* const from = positions + ptr[row];
      auto* const to = positions + ptr[row + 1];
      if (!std::is_sorted(from, to, before)) std::sort(from, to, before);
    }
  });
}

/// Returns for each ordered triple the number of its place, from 0; the pointers become those of places.
at::Tensor places_of(const char* op, ByRow& order, const at::Tensor& columns, std::int64_t first,
                     Duplicates duplicates) {
  auto places = at::empty_like(order.positions);
  auto* const place = places.data_ptr<std::int64_t>();
  auto* const ptr = order.row_ptr.data_ptr<std::int64_t>();
  const auto* const position = order.positions.const_data_ptr<std::int64_t>();
  const auto* const column = columns.const_data_ptr<std::int64_t>();
  std::int64_t found = 0, begin = 0;
  for (std::int64_t row = 0; row + 1 < order.row_ptr.numel(); ++row) {
    const auto end = ptr[row + 1];
    for (auto i = begin; i < end; ++i) {
      const bool again = i > begin && column[position[i]] == column[position[i - 1]];
      if (again && duplicates == Duplicates::refused)
        raise<ValueError>(op, "got several entries for row {} and column {}; expected one", first + row,
                          column[position[i]]);
      found += !again;
      place[i] = found - 1;
    }
    begin = end;
    ptr[row + 1] = found;
  }
  return places;
}

/// Whether triples are sorted by row and then by column, without duplicates.
bool are_in_order(const Triples& triples) {
  const auto* const row = triples.rows.const_data_ptr<std::int64_t>();
  const auto* const column = triples.columns.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 1; i < triples.count(); ++i)
    if (row[i] < row[i - 1] || (row[i] == row[i - 1] && column[i] <= column[i - 1])) return false;
  return true;
}

/// Copies sorted triples to a block.
CsrBlock block_in_order(const Triples& triples, std::int64_t first, std::int64_t rows) {
  auto row_ptr = at::empty({rows + 1}, at::kLong);
  auto* const ptr = row_ptr.data_ptr<std::int64_t>();
  const auto* const row = triples.rows.const_data_ptr<std::int64_t>();
  std::int64_t i = 0;
  for (std::int64_t at = 0; at <= rows; ++at) {
    while (i < triples.count() && row[i] - first < at) ++i;
    ptr[at] = i;
  }
  return {row_ptr, triples.columns.clone(), triples.values.clone()};
}

at::Tensor summed(const at::Tensor& values, const at::Tensor& places, std::int64_t count) {
  if (values.scalar_type() == at::kBool)
    return at::zeros({count}, at::kInt).index_add_(0, places, values.to(at::kInt)).ne(0);
  return at::zeros({count}, values.options()).index_add_(0, places, values);
}

}  // namespace

at::Tensor byte_rows(const at::Tensor& x) {
  const auto elements = x.contiguous().as_strided({x.numel()}, {1});  // one element may have any stride
  return elements.view(at::kByte).view({x.numel(), static_cast<std::int64_t>(x.element_size())});
}

CsrBlock block_from(const char* op, const Triples& triples, std::int64_t first, std::int64_t rows,
                    Duplicates duplicates) {
  if (are_in_order(triples)) return block_in_order(triples, first, rows);
  auto order = by_row(triples.rows, first, rows);
  sort_rows_by_column(order, triples.columns);
  const auto places = places_of(op, order, triples.columns, first, duplicates);
  const auto count = order.row_ptr.const_data_ptr<std::int64_t>()[rows];
  const auto columns = triples.columns.index_select(0, order.positions);
  const auto values = triples.values.index_select(0, order.positions);
  if (count == triples.count()) return {order.row_ptr, columns, values};
  auto of_places = at::empty({count}, at::kLong);
  auto* const out = of_places.data_ptr<std::int64_t>();
  const auto* const place = places.const_data_ptr<std::int64_t>();
  const auto* const column = columns.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < triples.count(); ++i) out[place[i]] = column[i];
  return {order.row_ptr, of_places, summed(values, places, count)};
}

Triples triples_of(const CsrBlock& block, std::int64_t first) {
  const auto rows = at::arange(first, first + block.rows(), at::kLong).repeat_interleave(block.row_ptr.diff());
  return {rows, block.columns.to(at::kLong), block.values};
}

Merged merged(const CsrBlock& a, const CsrBlock& b, bool either) {
  const auto a_columns = a.columns.to(at::kLong), b_columns = b.columns.to(at::kLong);
  const auto* const of_a = a_columns.const_data_ptr<std::int64_t>();
  const auto* const of_b = b_columns.const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> columns, from_a, to_a, from_b, to_b;
  columns.reserve(static_cast<std::size_t>(either ? a.entries() + b.entries() : std::min(a.entries(), b.entries())));
  auto row_ptr = at::zeros({a.rows() + 1}, at::kLong);
  for (std::int64_t row = 0; row < a.rows(); ++row) {
    auto i = a.ptr()[row], j = b.ptr()[row];
    const auto a_end = a.ptr()[row + 1], b_end = b.ptr()[row + 1];
    while (either ? i < a_end || j < b_end : i < a_end && j < b_end) {
      const bool has_a = i < a_end && (j == b_end || of_a[i] <= of_b[j]);
      const bool has_b = j < b_end && (i == a_end || of_b[j] <= of_a[i]);
      if (either || (has_a && has_b)) {
        const auto place = std::ssize(columns);
        columns.push_back(has_a ? of_a[i] : of_b[j]);
        if (has_a) from_a.push_back(i), to_a.push_back(place);
        if (has_b) from_b.push_back(j), to_b.push_back(place);
      }
      i += has_a;
      j += has_b;
    }
    row_ptr.data_ptr<std::int64_t>()[row + 1] = std::ssize(columns);
  }
  const auto tensor = [](const std::vector<std::int64_t>& numbers) { return at::tensor(numbers, at::kLong); };
  return {row_ptr, tensor(columns), tensor(from_a), tensor(to_a), tensor(from_b), tensor(to_b)};
}

}  // namespace heatpp::sparse::detail
