#include <heatpp/ml/neighbors/detail/entries.hpp>

#include <ATen/Parallel.h>

#include <heatpp/ml/detail/around.hpp>
#include <heatpp/ml/preprocessing/scalers.hpp>
#include <heatpp/sparse/construction.hpp>
#include <heatpp/sparse/elementwise.hpp>

namespace heatpp::ml::detail {
namespace {

/// Packs rows for a message: a line with the first row's number, their count and features, and a line for each entry
/// with its row among these, column and value.
at::Tensor packed(const sparse::DCSRMatrix& a) {
  const auto& block = sparse::detail::block_of(a);
  const auto rows = at::arange(block.rows(), at::kLong).repeat_interleave(block.row_ptr.diff());
  const auto entries = at::stack({rows.to(at::kDouble), block.columns.to(at::kDouble), block.values}, 1);
  const std::array head{static_cast<double>(sparse::detail::first_row(a)), static_cast<double>(block.rows()),
                        static_cast<double>(a.columns())};
  return at::cat({at::tensor(head, at::kDouble).unsqueeze(0), entries}).contiguous();
}

/// Rows by column: those that have an entry in it.
class ByColumn {
 public:
  explicit ByColumn(const at::Tensor& lines)
      : first_(number(lines, 0)),
        rows_(number(lines, 1)),
        ptr_(static_cast<std::size_t>(number(lines, 2) + 2), 0),
        row_(static_cast<std::size_t>(lines.size(0) - 1)),
        value_(row_.size()) {
    const auto* const line = lines.const_data_ptr<double>() + 3;
    const auto column = [&](std::size_t i) { return static_cast<std::size_t>(line[3 * i + 1]); };
    for (std::size_t i = 0; i < row_.size(); ++i) ++ptr_[column(i) + 2];
    for (std::size_t j = 2; j < ptr_.size(); ++j) ptr_[j] += ptr_[j - 1];
    for (std::size_t i = 0; i < row_.size(); ++i) {
      const auto at = ptr_[column(i) + 1]++;
      row_[at] = static_cast<std::int32_t>(line[3 * i]);
      value_[at] = line[3 * i + 2];
    }
  }
  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  /// Adds: products += value * the column.
  void add(std::int32_t column, double value, std::vector<double>& products) const {
    const auto j = static_cast<std::size_t>(column);
    for (auto i = ptr_[j]; i < ptr_[j + 1]; ++i) products[static_cast<std::size_t>(row_[i])] += value * value_[i];
  }

 private:
  [[nodiscard]] static std::int64_t number(const at::Tensor& lines, std::int64_t i) {
    return static_cast<std::int64_t>(lines.const_data_ptr<double>()[i]);
  }
  std::int64_t first_, rows_;
  std::vector<std::size_t> ptr_;
  std::vector<std::int32_t> row_;
  std::vector<double> value_;
};

void search_block(const sparse::detail::CsrBlock& asking, const ByColumn& fitted, const Search& search) {
  const auto* const column = asking.columns.const_data_ptr<std::int32_t>();
  const auto* const value = asking.values.const_data_ptr<double>();
  at::parallel_for(0, asking.rows(), 64, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> products(static_cast<std::size_t>(fitted.rows()));
    for (auto i = begin; i < end; ++i) {
      std::ranges::fill(products, 0.0);
      for (auto e = asking.ptr()[i]; e < asking.ptr()[i + 1]; ++e) fitted.add(column[e], value[e], products);
      auto bound = search.bound(i);
      for (std::size_t r = 0; r < products.size(); ++r) {
        const auto apart = std::max(0.0, 2 - 2 * products[r]);
        if (!(apart <= bound)) continue;
        search.take(i, {apart, fitted.first() + static_cast<std::int64_t>(r)});
        bound = search.bound(i);
      }
    }
  });
}

}  // namespace

sparse::DCSRMatrix unit_rows(const Rows& rows) {
  const auto* const matrix = sparse_rows(rows);
  return normalize(matrix ? sparse::astype(*matrix, float64)
                          : sparse::from_dense(as_rows(rows, block_of(rows, float64))));
}

void search_entries(const sparse::DCSRMatrix& asking, const sparse::DCSRMatrix& fitted, const Search& search) {
  const auto lines = packed(fitted);
  const auto layout = fitted.split() ? Layout::from_counts({0, 3}, 0, fitted.comm().allgather(lines.size(0)))
                                     : fitted.layout().replicated({lines.size(0), 3});
  around(lines, layout, fitted.comm(), [&](const at::Tensor& block, std::int64_t) {
    search_block(sparse::detail::block_of(asking), ByColumn(block), search);
  });
}

}  // namespace heatpp::ml::detail
