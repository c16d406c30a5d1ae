#include <heatpp/linalg/products/product.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/products/detail/contract.hpp>
#include <heatpp/linalg/products/detail/exact_dot.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/detail/checked_axes.hpp>
#include <heatpp/ops/reductions/detail/exact_reduction.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/shape/reshape.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp {
namespace {

using detail::contract;
using detail::Labelled;
using detail::raise;
using Labels = std::vector<int>;

Labels counted(int count, int first = 0) {
  Labels labels(static_cast<std::size_t>(count));
  std::iota(labels.begin(), labels.end(), first);
  return labels;
}

[[noreturn]] void refuse(const char* op, const DNDarray& a, const DNDarray& b, const char* expected) {
  raise<ValueError>(op, "got arrays of shapes {} and {}; expected {}", to_string(a.shape()), to_string(b.shape()),
                    expected);
}

void check_axes(const char* op, const DNDarray& a, const DNDarray& b, int least_a, int least_b) {
  if (a.ndim() < least_a || b.ndim() < least_b)
    raise<ValueError>(op, "got arrays of shapes {} and {}; expected at least {} and {} axes", to_string(a.shape()),
                      to_string(b.shape()), least_a, least_b);
}

/// Labels the leading axes of both, before the `core` last ones, so that they broadcast: equal extents get one label,
/// an extent of 1 against another is dropped. Labels count from the right. Returns the result's.
Labels label_leading(const char* op, Labelled& a, Labelled& b, std::size_t core_a, std::size_t core_b) {
  const auto leading = [](const Labelled& x, std::size_t core) {
    return Shape(x.array.shape().begin(), x.array.shape().end() - static_cast<std::ptrdiff_t>(core));
  };
  const auto of_a = leading(a, core_a), of_b = leading(b, core_b);
  const auto shape = broadcast_shapes(of_a, of_b, op);
  const auto label = [&](Labelled& x, const Shape& mine) {
    Labels labels;
    for (auto i = static_cast<int>(mine.size()) - 1; i >= 0; --i) {
      const auto from_right = mine.size() - static_cast<std::size_t>(i);
      if (mine[static_cast<std::size_t>(i)] != shape[shape.size() - from_right]) x.array = squeeze(x.array, i);
      else labels.insert(labels.begin(), static_cast<int>(from_right) - 1);
    }
    x.labels.insert(x.labels.begin(), labels.begin(), labels.end());
  };
  label(a, of_a);
  label(b, of_b);
  auto out = counted(static_cast<int>(shape.size()));
  std::ranges::reverse(out);
  return out;
}

// Labels of the last axes, beyond those of leading ones.
constexpr int rows = 1000, summed = 1001, columns = 1002;

/// Multiplies over the axis `summed`; the operands' last axes have the given labels, and earlier ones broadcast.
DNDarray core_product(const char* op, const DNDarray& a, const Labels& core_a, const DNDarray& b,
                      const Labels& core_b) {
  const auto extent = [](const DNDarray& x, const Labels& core) {
    const auto from_right = core.end() - std::ranges::find(core, summed);
    return x.shape()[static_cast<std::size_t>(x.ndim() - from_right)];
  };
  if (extent(a, core_a) != extent(b, core_b)) refuse(op, a, b, "equal extents of the axes that are summed over");
  Labelled left{a, core_a}, right{b, core_b};
  auto out = label_leading(op, left, right, core_a.size(), core_b.size());
  if (left.has(rows)) out.push_back(rows);
  if (right.has(columns)) out.push_back(columns);
  return contract(op, left, right, out);
}

/// Returns the conjugate for a product: real arrays without a copy, and bool not as numbers.
DNDarray conjugate_of(const DNDarray& x) { return is_complex(x.dtype()) ? conj(x) : x; }

/// Returns an array with every rank's elements in blocks of another shape.
DNDarray with_layout(const DNDarray& x, Layout layout) {
  auto block = x.larray().reshape(layout.local_shape(x.comm().rank()));
  return detail::wrap(std::move(block), std::move(layout), x.comm());
}

/// Merges (i, j, k, l, ...) to (i * j, k * l, ...), for an array split along the first axis of a pair, or not.
DNDarray merged_pairs(const DNDarray& x) {
  Shape shape;
  for (std::size_t i = 0; i < x.shape().size(); i += 2) shape.push_back(x.shape()[i] * x.shape()[i + 1]);
  auto layout = x.layout().replicated(shape);
  if (x.split()) {
    const auto second = x.shape()[static_cast<std::size_t>(*x.split()) + 1];
    layout = Layout(std::move(shape), *x.split() / 2, x.layout().cut().scaled(second));
  }
  return with_layout(x, std::move(layout));
}

Labels matrix_labels(const DNDarray& x, Labels labels, std::size_t kept) {
  return x.ndim() == 1 ? Labels{labels[kept]} : labels;
}

/// Does tensordot; its errors name `op`.
DNDarray over_pairs(const char* op, const DNDarray& a, const DNDarray& b, const TensordotAxes& axes) {
  Labelled left{a, counted(a.ndim())}, right{b, counted(b.ndim(), a.ndim())};
  bool fits = axes.a.size() == axes.b.size();
  for (std::size_t i = 0; fits && i < axes.a.size(); ++i) {
    const auto of_a = static_cast<std::size_t>(sanitize_axis(axes.a[i], a.ndim(), op));
    const auto of_b = static_cast<std::size_t>(sanitize_axis(axes.b[i], b.ndim(), op));
    fits = a.shape()[of_a] == b.shape()[of_b] && right.labels[of_b] >= a.ndim() && !right.has(left.labels[of_a]);
    right.labels[of_b] = left.labels[of_a];
  }
  if (!fits) refuse(op, a, b, "different axes in pairs of equal extents");
  Labels out;
  for (const auto label : left.labels)
    if (!right.has(label)) out.push_back(label);
  for (const auto label : right.labels)
    if (label >= a.ndim()) out.push_back(label);
  return contract(op, left, right, out);
}

/// Whether the sum of products is exact. If that is requested, the result must be one number.
bool is_exact(const char* op, const DNDarray& a, const DNDarray& b, bool one, const DotOptions& options) {
  if (options.reproducible && !one) refuse(op, a, b, "vectors where reproducible = true");
  return one && detail::sums_exactly(a.comm(), promote_types(a.dtype(), b.dtype()), options.reproducible);
}
bool are_vectors(const DNDarray& a, const DNDarray& b) { return a.ndim() == 1 && a.shape() == b.shape(); }

}  // namespace

DNDarray matmul(const DNDarray& a, const DNDarray& b) {
  check_axes("matmul", a, b, 1, 1);
  return core_product("matmul", a, matrix_labels(a, {rows, summed}, 1), b, matrix_labels(b, {summed, columns}, 0));
}

DNDarray matvec(const DNDarray& a, const DNDarray& x) {
  check_axes("matvec", a, x, 2, 1);
  return core_product("matvec", a, {rows, summed}, x, {summed});
}

DNDarray vecmat(const DNDarray& x, const DNDarray& a) {
  check_axes("vecmat", x, a, 1, 2);
  return core_product("vecmat", conjugate_of(x), {summed}, a, {summed, columns});
}

DNDarray tensordot(const DNDarray& a, const DNDarray& b, const TensordotAxes& axes) {
  return over_pairs("tensordot", a, b, axes);
}

DNDarray tensordot(const DNDarray& a, const DNDarray& b, int axes) {
  if (axes > std::min(a.ndim(), b.ndim()))
    raise<ValueError>("tensordot", "got {} axes for arrays of shapes {} and {}; expected at most {}", axes,
                      to_string(a.shape()), to_string(b.shape()), std::min(a.ndim(), b.ndim()));
  axes = std::max(0, axes);
  return tensordot(a, b, {counted(axes, a.ndim() - axes), counted(axes)});
}

DNDarray dot(const DNDarray& a, const DNDarray& b, const DotOptions& options) {
  if (a.ndim() == 0 || b.ndim() == 0) return multiply(a, b);
  if (is_exact("dot", a, b, are_vectors(a, b), options)) return detail::exact_dot("dot", a, b, false);
  return over_pairs("dot", a, b, {{-1}, {b.ndim() == 1 ? 0 : -2}});
}

DNDarray inner(const DNDarray& a, const DNDarray& b, const DotOptions& options) {
  if (a.ndim() == 0 || b.ndim() == 0) return multiply(a, b);
  if (is_exact("inner", a, b, are_vectors(a, b), options)) return detail::exact_dot("inner", a, b, false);
  return over_pairs("inner", a, b, {{-1}, {-1}});
}

DNDarray vdot(const DNDarray& a, const DNDarray& b, const DotOptions& options) {
  if (a.size() != b.size()) refuse("vdot", a, b, "equally many elements");
  const auto flat = [](const DNDarray& x) { return flatten(detail::one_cut("vdot", x)); };
  if (a.shape() != b.shape()) return vdot(flat(a), flat(b), options);
  if (is_exact("vdot", a, b, true, options)) return detail::exact_dot("vdot", a, b, true);
  return contract("vdot", {conjugate_of(a), counted(a.ndim())}, {b, counted(b.ndim())}, {});
}

DNDarray vecdot(const DNDarray& a, const DNDarray& b, int axis) {
  check_axes("vecdot", a, b, 1, 1);
  const auto last = [axis](const DNDarray& x) {
    return moveaxis(x, sanitize_axis(axis, x.ndim(), "vecdot"), x.ndim() - 1);
  };
  return core_product("vecdot", conjugate_of(last(a)), {summed}, last(b), {summed});
}

DNDarray outer(const DNDarray& a, const DNDarray& b) {
  const auto flat = [](const DNDarray& x) { return x.ndim() == 1 ? x : flatten(detail::one_cut("outer", x)); };
  return contract("outer", {flat(a), {0}}, {flat(b), {1}}, {0, 1});
}

DNDarray kron(const DNDarray& first, const DNDarray& second) {
  const auto a = detail::one_cut("kron", first), b = detail::one_cut("kron", second);
  const auto ndim = std::max(a.ndim(), b.ndim());
  const auto padded = [ndim](const DNDarray& x) {
    auto shape = x.shape();
    shape.insert(shape.begin(), static_cast<std::size_t>(ndim - x.ndim()), 1);
    const auto split = x.split() ? std::optional(*x.split() + ndim - x.ndim()) : std::nullopt;
    auto layout = x.layout().with(std::move(shape), split);
    return with_layout(x, std::move(layout));
  };
  Labels out;
  for (int i = 0; i < ndim; ++i) out.insert(out.end(), {i, ndim + i});
  const auto pairs =
      contract("kron", {padded(a), counted(ndim)}, {padded(b), counted(ndim, ndim)}, out, {.along_a = true});
  return merged_pairs(pairs);
}

namespace linalg {
namespace {

/// Finds where to cut each product of matrices first .. last (dynamic programming over the operations).
class Order {
 public:
  explicit Order(std::vector<std::int64_t> extents) : extents_(std::move(extents)), n_(extents_.size() - 1) {
    cost_.assign(n_ * n_, 0);
    cut_.assign(n_ * n_, 0);
    for (std::size_t length = 2; length <= n_; ++length)
      for (std::size_t first = 0; first + length <= n_; ++first) find_cut(first, first + length - 1);
  }

  [[nodiscard]] DNDarray multiply(const std::vector<DNDarray>& matrices, std::size_t first, std::size_t last) const {
    if (first == last) return matrices[first];
    const auto cut = cut_[first * n_ + last];
    return matmul(multiply(matrices, first, cut), multiply(matrices, cut + 1, last));
  }

 private:
  void find_cut(std::size_t first, std::size_t last) {
    auto& best = cost_[first * n_ + last];
    best = std::numeric_limits<double>::infinity();
    for (auto cut = first; cut < last; ++cut) {
      const auto own = static_cast<double>(extents_[first]) * static_cast<double>(extents_[cut + 1]) *
                       static_cast<double>(extents_[last + 1]);
      const auto cost = cost_[first * n_ + cut] + cost_[(cut + 1) * n_ + last] + own;
      if (cost >= best) continue;
      best = cost;
      cut_[first * n_ + last] = cut;
    }
  }

  std::vector<std::int64_t> extents_;
  std::size_t n_;
  std::vector<double> cost_;
  std::vector<std::size_t> cut_;
};

}  // namespace

DNDarray outer(const DNDarray& a, const DNDarray& b) {
  if (a.ndim() != 1 || b.ndim() != 1)
    raise<ValueError>("outer", "got arrays of shapes {} and {}; expected vectors", to_string(a.shape()),
                      to_string(b.shape()));
  return heatpp::outer(a, b);
}

DNDarray multi_dot(const std::vector<DNDarray>& matrices) {
  if (matrices.size() < 2) raise<ValueError>("multi_dot", "got {} arrays; expected at least two", matrices.size());
  std::vector<std::int64_t> extents{matrices.front().ndim() == 1 ? 1 : matrices.front().shape()[0]};
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const auto& shape = matrices[i].shape();
    const bool end = i == 0 || i + 1 == matrices.size();
    if (shape.size() != 2 && !(end && shape.size() == 1))
      raise<ValueError>("multi_dot", "got array {} of shape {}; expected matrices, or vectors at the ends", i,
                        to_string(shape));
    const auto rows_of = i == 0 && shape.size() == 1 ? 1 : shape[0];
    if (rows_of != extents.back()) refuse("multi_dot", matrices[i - 1], matrices[i], "matrices that can be multiplied");
    extents.push_back(shape.size() == 2 ? shape[1] : i == 0 ? shape[0] : 1);
  }
  return Order(std::move(extents)).multiply(matrices, 0, matrices.size() - 1);
}

}  // namespace linalg
}  // namespace heatpp
