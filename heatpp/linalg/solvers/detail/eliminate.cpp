#include <heatpp/linalg/solvers/detail/eliminate.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::detail {
namespace {

/// The rows that a panel's interchanges move, and their origins, both counted from the panel's first row.
struct Interchange {
  std::vector<std::int64_t> to, from;
  int sign = 1;
};

Interchange interchange_of(const at::Tensor& pivots, std::int64_t rows) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  Interchange result;
  const auto* pivot = pivots.const_data_ptr<int>();
  for (std::int64_t i = 0; i < pivots.numel(); ++i) {
    if (pivot[i] - 1 == i) continue;
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(pivot[i] - 1)]);
    result.sign = -result.sign;
  }
  for (std::int64_t i = 0; i < rows; ++i)
    if (order[static_cast<std::size_t>(i)] != i) {
      result.to.push_back(i);
      result.from.push_back(order[static_cast<std::size_t>(i)]);
    }
  return result;
}

/// Subtracts one panel of L from columns whose first row is the panel's.
void eliminate(at::Tensor columns, const at::Tensor& panel, const Interchange& rows) {
  if (columns.numel() == 0) return;
  const auto places = at::TensorOptions(at::kLong).device(columns.device());
  if (!rows.to.empty())
    columns.index_copy_(0, at::tensor(rows.to, places), columns.index_select(0, at::tensor(rows.from, places)));
  const auto width = panel.size(1);
  const auto top = at::linalg_solve_triangular(panel.slice(0, 0, width), columns.slice(0, 0, width), /*upper=*/false,
                                               /*left=*/true, /*unitriangular=*/true);
  columns.slice(0, 0, width).copy_(top);
  columns.slice(0, width).addmm_(panel.slice(0, width), top, 1, -1);
}

}  // namespace

int eliminate(Columns& a, Columns* right) {
  const auto n = a.layout().shape()[0];
  int sign = 1;
  for (const auto& panel : a.panels(n)) {
    const auto rows = n - panel.first;
    at::Tensor factors, pivots;
    if (a.owns(panel)) {
      auto mine = a.columns(panel).slice(0, panel.first);
      std::tie(factors, pivots, std::ignore) = at::linalg_lu_factor_ex(mine);
      mine.copy_(factors);
    }
    factors = a.broadcast(panel, factors, {rows, panel.count}, a.block().scalar_type());
    pivots = a.broadcast(panel, pivots, {panel.count}, at::kInt).cpu();
    const auto moved = interchange_of(pivots, rows);
    sign *= moved.sign;
    eliminate(a.behind(panel).slice(0, panel.first), factors, moved);
    if (right) eliminate(right->block().slice(0, panel.first), factors, moved);
  }
  return sign;
}

at::Tensor upper_diagonal(const Columns& a) { return a.block().diagonal(-a.first_column()); }

}  // namespace heatpp::detail
