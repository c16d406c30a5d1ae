#include <heatpp/linalg/solvers/detail/grid_factor.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/linalg/solvers/detail/block_cyclic.hpp>

#include <algorithm>
#include <array>

namespace heatpp::detail {
namespace {

/// Decomposes panel `k` of a matrix in place. Returns this rank's rows of the factor behind the corner, on all ranks of
/// its row of the grid, and in one more row whether the corner was not positive definite.
at::Tensor factored_panel(BlockCyclic& m, std::int64_t k) {
  const auto count = m.extent_of_block(0, k), below = m.before(0, k + 1), rows = m.local().size(0) - below;
  at::Tensor panel;
  if (m.owns(1, k)) {
    const auto column = m.local().narrow(1, m.before(1, k), count);
    at::Tensor corner;
    if (m.owns(0, k)) {
      const auto mine = column.narrow(0, m.before(0, k), count);
      const auto [factor, info] = at::linalg_cholesky_ex(mine);
      mine.copy_(factor);
      corner = at::cat({factor, info.to(factor.scalar_type()).expand({1, count})});
    }
    corner = shared_matrix(m.ranks_with_same(1), corner, {count + 1, count}, column.options(), k % m.ranks(0));
    const auto behind = column.narrow(0, below, rows);
    const auto upper = corner.narrow(0, 0, count).mH();
    if (rows > 0) behind.copy_(at::linalg_solve_triangular(upper, behind, /*upper=*/true, /*left=*/false));
    panel = at::cat({behind, corner.narrow(0, count, 1)});
  }
  return shared_matrix(m.ranks_with_same(0), panel, {rows + 1, count}, m.local().options(), k % m.ranks(1));
}

/// Returns the rows of panel `k` with the numbers of this rank's columns behind it; `rows` are those of its rows.
at::Tensor rows_for_columns(BlockCyclic& m, const at::Tensor& rows, std::int64_t k) {
  const auto& group = m.ranks_with_same(1);
  const auto below = m.before(0, k + 1), width = rows.size(1);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(group.size()), 0), next(counts.size(), 0);
  std::vector<at::Tensor> mine{rows.narrow(0, 0, 0)}, ordered{mine};
  m.for_each_block(1, k + 1, [&](std::int64_t number, std::int64_t, std::int64_t count) {
    counts[static_cast<std::size_t>(number % group.size())] += count * width;
    if (m.owns(0, number)) mine.push_back(rows.narrow(0, m.before(0, number) - below, count));
  });
  const auto own = at::cat(mine).cpu().contiguous();
  std::int64_t total = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    next[rank] = total / width;
    total += counts[rank];
  }
  const auto all = at::empty({total / width, width}, own.options());
  if (total > 0) group.allgather(buffer_of(own), buffer_of(all), counts);
  m.for_each_block(1, k + 1, [&](std::int64_t number, std::int64_t, std::int64_t count) {
    auto& first = next[static_cast<std::size_t>(number % group.size())];
    ordered.push_back(all.narrow(0, first, count).to(rows.device()));
    first += count;
  });
  return at::cat(ordered);
}

/// Subtracts the products of a panel's rows from the lower triangle behind it.
void update_behind(BlockCyclic& m, const at::Tensor& rows, const at::Tensor& columns, std::int64_t k) {
  const auto above = m.before(0, k + 1), before = m.before(1, k + 1);
  m.for_each_block(1, k + 1, [&](std::int64_t number, std::int64_t first, std::int64_t count) {
    const auto row = m.before(0, number);
    m.local()
        .slice(0, row)
        .narrow(1, first, count)
        .addmm_(rows.slice(0, row - above), columns.narrow(0, first - before, count).mH(), 1, -1);
  });
}

/// Sets what is above the diagonal to 0.
void clear_above(BlockCyclic& m) {
  m.for_each_block(1, 0, [&](std::int64_t number, std::int64_t first, std::int64_t count) {
    const auto columns = m.local().narrow(1, first, count);
    columns.slice(0, 0, m.before(0, number)).zero_();
    if (m.owns(0, number)) columns.narrow(0, m.before(0, number), count).tril_();
  });
}

/// Whether the lower triangle is finite on all ranks.
bool is_finite_below(const DNDarray& a) {
  const auto origin = a.layout().local_offset(a.comm().rank());
  std::array<std::int64_t, 1> others{!at::isfinite(a.larray().tril(origin[0] - origin[1])).all().item<bool>()};
  a.comm().allreduce(others, ReduceOp::max);
  return others[0] == 0;
}

}  // namespace

bool is_on_grid(const DNDarray& x) {
  return x.ndim() == 2 && x.layout().is_grid() && x.layout().grid_cut().copies() == 1;
}

DNDarray adjoint_on_grid(const DNDarray& x) {
  const std::array axes{1, 0};
  auto layout = x.layout().along({x.shape()[1], x.shape()[0]}, axes);
  return wrap(x.larray().mH().resolve_conj(), std::move(layout), x.comm());
}

DNDarray cholesky_on_grid(const DNDarray& a, std::int64_t width) {
  const auto check = [](bool failed) {
    if (failed) raise<LinAlgError>("cholesky", "got a matrix that is not positive definite; expected one that is");
  };
  check(!is_finite_below(a));
  BlockCyclic m(a, a.layout(), width);
  for (std::int64_t k = 0; k < m.blocks(0); ++k) {
    const auto panel = factored_panel(m, k);
    const auto last = panel.size(0) - 1;
    check(panel.select(0, last).abs().max().item<double>() != 0);
    const auto rows = panel.narrow(0, 0, last);
    if (k + 1 < m.blocks(0)) update_behind(m, rows, rows_for_columns(m, rows, k), k);
  }
  clear_above(m);
  return m.array(a.layout());
}

DNDarray solve_triangular_on_grid(const DNDarray& a, const DNDarray& b, const linalg::TriangularOptions& options,
                                  std::int64_t width) {
  BlockCyclic m(a, a.layout(), width), x(b, a.layout(), width);
  for (std::int64_t step = 0; step < m.blocks(0); ++step) {
    const auto k = options.upper ? m.blocks(0) - 1 - step : step;
    const auto count = m.extent_of_block(0, k), above = m.before(0, k), below = m.before(0, k + 1);
    // This rank's rows of the block and behind it, in the order in which they are solved.
    const auto first = options.upper ? 0 : above, last = options.upper ? below : m.local().size(0);
    const auto mine = m.owns(1, k) ? m.local().narrow(1, m.before(1, k), count).slice(0, first, last) : at::Tensor();
    const auto panel =
        shared_matrix(m.ranks_with_same(0), mine, {last - first, count}, m.local().options(), k % m.ranks(1));
    at::Tensor solved;
    if (m.owns(0, k)) {
      const auto right = x.local().narrow(0, above, count);
      solved = at::linalg_solve_triangular(panel.narrow(0, above - first, count), right, options.upper, /*left=*/true,
                                           options.unit_diagonal);
      right.copy_(solved);
    }
    solved =
        shared_matrix(m.ranks_with_same(1), solved, {count, x.local().size(1)}, x.local().options(), k % m.ranks(0));
    const auto rest = options.upper ? x.local().slice(0, 0, above) : x.local().slice(0, below);
    if (rest.numel() > 0)
      rest.addmm_(options.upper ? panel.slice(0, 0, above) : panel.slice(0, below - first), solved, 1, -1);
  }
  return x.array(b.layout());
}

}  // namespace heatpp::detail
