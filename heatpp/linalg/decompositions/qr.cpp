#include <heatpp/linalg/decompositions/qr.hpp>

#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/linalg/decompositions/detail/columns.hpp>
#include <heatpp/linalg/decompositions/detail/tall.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/padding/pad.hpp>

#include <cmath>

namespace heatpp::linalg {
namespace {

using detail::Columns;

/// The reflections of a panel as LAPACK stores them, on every rank.
struct Reflections {
  at::Tensor vectors, factors;
};

Reflections broadcast(const Columns& a, const Columns::Panel& panel, const Reflections& mine) {
  const auto rows = a.layout().shape()[0] - panel.first, count = std::min(rows, panel.count);
  const auto type = a.block().scalar_type();
  return {a.broadcast(panel, mine.vectors, {rows, count}, type), a.broadcast(panel, mine.factors, {count}, type)};
}

void reflect(at::Tensor columns, const Reflections& by, bool transposed) {
  if (columns.numel() > 0) columns.copy_(at::ormqr(by.vectors, by.factors, columns, /*left=*/true, transposed));
}

/// Leaves R in the upper triangle of `a` and the vectors below it. Returns the factors of this rank's panels.
std::vector<at::Tensor> triangularise(const Columns& a, std::int64_t k) {
  std::vector<at::Tensor> factors;
  for (const auto& panel : a.panels(k)) {
    Reflections mine;
    if (a.owns(panel)) {
      auto columns = a.columns(panel).slice(0, panel.first);
      std::tie(mine.vectors, mine.factors) = at::geqrf(columns);
      columns.copy_(mine.vectors);
    }
    factors.push_back(mine.factors);
    reflect(a.behind(panel).slice(0, panel.first), broadcast(a, panel, mine), true);
  }
  return factors;
}

/// Applies the reflections to the first k columns of the identity.
DNDarray accumulate(const Columns& a, const std::vector<at::Tensor>& factors, std::int64_t k) {
  const auto m = a.layout().shape()[0];
  const Layout layout({m, k}, 1, a.comm().size());
  auto q = at::zeros({layout.count(a.comm().rank()), m}, a.block().options()).t();
  q.diagonal(-layout.offset(a.comm().rank())).fill_(1);
  const auto panels = a.panels(k);
  for (auto i = std::ssize(panels) - 1; i >= 0; --i) {
    const auto& panel = panels[static_cast<std::size_t>(i)];
    Reflections mine;
    if (a.owns(panel)) mine = {a.columns(panel).slice(0, panel.first), factors[static_cast<std::size_t>(i)]};
    reflect(q.slice(0, panel.first), broadcast(a, panel, mine), false);
  }
  return detail::wrap(q.contiguous(), layout, a.comm());
}

/// Decomposes whole matrices; those with elements that are not finite become NaN.
std::tuple<at::Tensor, at::Tensor> of_blocks(const at::Tensor& matrices) {
  const auto finite = detail::finite_matrices(matrices);
  if (finite.all().item<bool>()) return at::linalg_qr(matrices);
  const auto [q, r] = at::linalg_qr(at::where(finite, matrices, 0));
  return {at::where(finite, q, NAN), at::where(finite, r, NAN).triu()};
}

QR by_panels(const DNDarray& x, QrMode mode) {
  const auto k = std::min(x.shape()[0], x.shape()[1]);
  const Columns a(x);
  const bool finite = detail::all_finite(x);
  const auto factors = triangularise(a, k);
  auto q = accumulate(a, factors, mode == QrMode::r ? 0 : k);
  if (!finite)
    for (const auto& block : {q.larray(), a.block()}) block.fill_(NAN);
  auto r = a.block().slice(0, 0, k).triu(-a.first_column()).contiguous();
  const auto layout = a.layout().with({k, x.shape()[1]}, 1);
  return {x.split() == 1 ? q : detail::cut_along(q, *x.split()), detail::wrap(std::move(r), layout, x.comm())};
}

}  // namespace

QR qr(const DNDarray& array, QrMode mode) {
  detail::check_matrices("qr", array);
  const auto x = detail::one_cut("qr", array);
  const auto missing = *(x.shape().end() - 2) - x.shape().back();
  if (mode == QrMode::complete && missing > 0) {
    PadWidths widths(x.shape().size(), {0, 0});
    widths.back().second = missing;
    const auto [q, r] = qr(pad(x, widths));
    return {q, r.index({ellipsis, slice(0, x.shape().back())})};
  }
  const auto values = detail::decomposable(x);
  if (detail::is_local(values)) {
    const auto [q, r] = of_blocks(values.larray());
    return {detail::stack_like(values, mode == QrMode::r ? q.slice(-1, 0, 0) : q), detail::stack_like(values, r)};
  }
  if (!detail::is_tall(values)) return by_panels(values, mode);
  const auto rows = detail::cut_along(values, 0);
  auto [q, r] = detail::tall_qr(rows);
  if (mode == QrMode::r) q = q.slice(1, 0, 0);
  const auto split_by_rows = detail::wrap(q, rows.layout().with({x.shape()[0], q.size(1)}, rows.split()), x.comm());
  return {x.split() == 0 ? split_by_rows : detail::cut_along(split_by_rows, 1), detail::replicated(r, x.comm())};
}

}  // namespace heatpp::linalg
