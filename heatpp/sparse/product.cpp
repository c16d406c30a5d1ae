#include <heatpp/sparse/product.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/sparse/detail/halo.hpp>
#include <heatpp/sparse/detail/placed.hpp>
#include <heatpp/sparse/detail/spmv.hpp>

namespace heatpp::sparse {

using namespace detail;

namespace {

void check_operand(const char* op, const DCSRMatrix& a, const DNDarray& x, std::int64_t extent) {
  if (x.ndim() < 1 || x.ndim() > 2 || x.shape()[0] != extent)
    raise<ValueError>(op, "got shapes {} and {}; expected a vector or matrix of {} rows beside the matrix",
                      to_string(a.shape()), to_string(x.shape()), extent);
  heatpp::detail::check_same_comm(op, a.comm(), x.comm());
}

Shape result_shape(std::int64_t rows, const DNDarray& x) {
  auto shape = x.shape();
  shape[0] = rows;
  return shape;
}

/// A product in a dtype that has kernels.
struct Computed {
  Dtype result, in;
  CsrBlock block;
  Computed(const DCSRMatrix& a, const DNDarray& x)
      : result(promote_types(a.dtype(), x.dtype())), in(product_dtype(result)), block(block_of(a)) {
    block.values = block.values.to(heatpp::detail::to_torch(in));
  }
  [[nodiscard]] at::Tensor operand(const at::Tensor& x) const {
    return x.to(at::kCPU, heatpp::detail::to_torch(in)).contiguous();
  }
  [[nodiscard]] at::Tensor empty_result(const Shape& shape) const {
    return at::empty(shape, at::TensorOptions(heatpp::detail::to_torch(in)));
  }
  [[nodiscard]] at::Tensor finished(const at::Tensor& y) const {
    return result == Dtype::bool_ ? y.ne(0) : y.to(heatpp::detail::to_torch(result));
  }
};

/// Multiplies this rank's rows by a vector that every rank has.
DNDarray times_replicated(const DCSRMatrix& a, const DNDarray& x, const Layout& layout) {
  const Computed computed(a, x);
  const auto operand = computed.operand(x.larray());
  auto y = computed.empty_result(layout.local_shape(a.comm().rank()));
  multiply_rows(computed.block, {computed.block.columns, {}}, {operand, {}, operand.size(0)}, y, 0,
                computed.block.rows());
  return heatpp::detail::wrap(computed.finished(y), layout, a.comm());
}

/// If most rows wait, this rank's elements are copied next to the arriving ones, which costs less than a distinction at
/// each entry.
at::Tensor times_gathered(const Computed& computed, const HaloPlan& plan, const at::Tensor& x, at::Tensor y,
                          const Communicator& comm) {
  const auto all = at::empty({plan.own + plan.received}, x.options());
  Halo halo(plan, x, comm, all.narrow(0, plan.own, plan.received));
  all.narrow(0, 0, plan.own).copy_(x);
  static_cast<void>(halo.wait());
  multiply_rows(computed.block, plan.columns, {all, {}, all.numel()}, y, 0, computed.block.rows());
  return y;
}

DNDarray times_cut(const DCSRMatrix& a, const DNDarray& x, const Layout& layout) {
  const auto plan = halo_plan(a, x.layout().cut());
  const Computed computed(a, x);
  const auto operand = computed.operand(x.larray());
  auto y = computed.empty_result(layout.local_shape(a.comm().rank()));
  if (plan->most_wait && operand.dim() == 1)
    return heatpp::detail::wrap(computed.finished(times_gathered(computed, *plan, operand, y, a.comm())), layout,
                                a.comm());
  const auto multiply = [&](const at::Tensor& halo, std::int64_t first, std::int64_t last) {
    if (first < last) multiply_rows(computed.block, plan->columns, {operand, halo, plan->own}, y, first, last);
  };
  Halo halo(*plan, operand, a.comm());
  std::int64_t done = 0;
  for (std::size_t run = 0; run < plan->waiting.size(); run += 2) {
    multiply({}, done, plan->waiting[run]);
    done = plan->waiting[run + 1];
  }
  multiply({}, done, computed.block.rows());
  const auto& arrived = halo.wait();
  for (std::size_t run = 0; run < plan->waiting.size(); run += 2)
    multiply(arrived, plan->waiting[run], plan->waiting[run + 1]);
  return heatpp::detail::wrap(computed.finished(y), layout, a.comm());
}

/// Cuts evenly along the first axis, without a message if every rank has the array.
DNDarray cut_evenly(const DNDarray& x) { return heatpp::detail::brought_to(x, Layout(x.shape(), 0, x.comm().size())); }
DNDarray whole(const DNDarray& x) { return heatpp::detail::brought_to(x, x.layout().replicated(x.shape())); }

}  // namespace

DNDarray matmul(const DCSRMatrix& a, const DNDarray& x) {
  check_operand("matmul", a, x, a.columns());
  const auto shape = result_shape(a.rows(), x);
  if (!a.split() && x.split() == 1) return times_replicated(a, x, x.layout().with(shape, 1));
  if (!a.split()) return times_replicated(a, whole(x), a.layout().replicated(shape));
  const auto layout = a.layout().with(shape, 0);
  const bool fits = block_of(a).columns.scalar_type() == at::kInt;
  if (!x.split() && fits) return times_replicated(a, x, layout);
  return times_cut(a, x.split() == 0 ? x : cut_evenly(x), layout);
}

DNDarray rmatmul(const DCSRMatrix& a, const DNDarray& x) {
  check_operand("rmatmul", a, x, a.rows());
  const auto shape = result_shape(a.columns(), x);
  Computed computed(a, x);
  if (computed.block.values.is_complex()) computed.block.values = computed.block.values.conj().resolve_conj();
  const auto operand = computed.operand(heatpp::detail::relayout(x, a.layout().with(x.shape(), a.split())));
  const auto layout = a.split() ? Layout(shape, 0, a.comm().size()) : a.layout().replicated(shape);
  auto own = computed.empty_result(layout.local_shape(a.comm().rank())).zero_();
  auto others_shape = shape;
  if (!a.split()) {
    others_shape[0] = 0;
    auto none = computed.empty_result(others_shape);
    add_transposed(computed.block, computed.block.columns.to(at::kInt), operand, own, none);
    return heatpp::detail::wrap(computed.finished(own), layout, a.comm());
  }
  const auto plan = halo_plan(a, layout.cut());
  others_shape[0] = plan->received;
  auto halo = computed.empty_result(others_shape).zero_();
  add_transposed(computed.block, plan->columns.places, operand, own, halo);
  add_to_owners(*plan, halo, own, a.comm());
  return heatpp::detail::wrap(computed.finished(own), layout, a.comm());
}

DCSRMatrix::operator linalg::LinearOperator() const {
  linalg::LinearOperator products(
      shape(), [a = *this](const DNDarray& x) { return matmul(a, x); },
      [a = *this](const DNDarray& x) { return rmatmul(a, x); }, dtype());
  products.cut = linalg::VectorCut{layout().with({rows()}, split()), comm()};
  products.of_matrices = true;
  return products;
}

DCSRMatrix transpose(const DCSRMatrix& a) {
  const Shape shape{a.columns(), a.rows()};
  const auto first = first_row(a);
  auto triples = triples_of(block_of(a), first);
  std::swap(triples.rows, triples.columns);
  const auto layout = rows_layout(shape, a.split().has_value(), a.comm().size());
  return placed("transpose", std::move(triples), layout, a.comm(), a.split().has_value());
}

}  // namespace heatpp::sparse
