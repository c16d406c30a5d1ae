#include <heatpp/linalg/decompositions/detail/columns.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

#include <algorithm>
#include <cmath>

namespace heatpp::detail {

Dtype decomposition_type(Dtype dtype) { return std::max(float32, inexact_type(dtype)); }

double real_epsilon(Dtype dtype) {
  return real_type(dtype) == float64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}

double power_of_2(double size, Dtype dtype) {
  const auto limits = finfo(dtype);
  return std::ldexp(1.0, std::ilogb(std::clamp(size, limits.tiny, limits.max)));
}

void check_finite(const char* op, bool finite) {
  if (!finite) raise<ValueError>(op, "got elements that are not finite; expected finite ones");
}

namespace {

Length length_of_block(const at::Tensor& block, Dtype dtype) {
  if (block.numel() == 0) return {power_of_2(0, dtype), 0};
  const auto largest = at::linalg_vector_norm(block, INFINITY).item<double>();
  if (!std::isfinite(largest)) return {INFINITY, 0};
  const auto scale = power_of_2(largest, dtype);
  return {scale, at::linalg_vector_norm(block / scale).item<double>()};
}

void merge_lengths(const void* in, void* inout, std::int64_t) {
  const auto& a = *static_cast<const Length*>(in);
  auto& b = *static_cast<Length*>(inout);
  const auto scale = std::max(a.scale, b.scale);
  b = {scale, std::hypot(a.relative * (a.scale / scale), b.relative * (b.scale / scale))};
}

}  // namespace

Length length_of(const char* op, const DNDarray& x) {
  auto length = length_of_block(x.larray(), x.dtype());
  if (x.split()) x.comm().allreduce_records(&length, 1, sizeof length, &merge_lengths);
  check_finite(op, std::isfinite(length.scale));
  return length;
}

bool all_finite(const DNDarray& x) {
  std::array<std::int64_t, 1> others{!at::isfinite(x.larray()).all().item<bool>()};
  if (x.split()) x.comm().allreduce(others, ReduceOp::max);
  return others[0] == 0;
}

at::Tensor finite_matrices(const at::Tensor& blocks) {
  return at::isfinite(blocks).all(-1, /*keepdim=*/true).all(-2, /*keepdim=*/true);
}

void check_matrices(const char* op, const DNDarray& x, bool square) {
  const auto& shape = x.shape();
  if (shape.size() < 2 || (square && shape[shape.size() - 1] != shape[shape.size() - 2]))
    raise<ValueError>(op, "got an array of shape {}; expected {}", to_string(shape),
                      square ? "square matrices" : "matrices");
}

bool is_local(const DNDarray& x) { return !x.split() || *x.split() < x.ndim() - 2; }

DNDarray decomposable(const DNDarray& x) {
  const auto values = x.astype(decomposition_type(x.dtype()));
  if (x.layout().is_grid() && x.ndim() == 2) return one_cut("matrix", values);
  if (!x.layout().is_grid() && (is_local(x) || x.ndim() == 2)) return values;
  const auto leading = std::span(x.shape()).first(x.shape().size() - 2);
  const auto longest = static_cast<int>(std::ranges::max_element(leading) - leading.begin());
  return cut_along(values, longest);
}

DNDarray adjoint(const DNDarray& x) { return conj(matrix_transpose(x)); }

DNDarray replicated(const at::Tensor& value, const Communicator& comm) {
  const Shape shape(value.sizes().begin(), value.sizes().end());
  return wrap(value.contiguous(), Layout(shape, std::nullopt, comm.size()), comm);
}

DNDarray stack_like(const DNDarray& like, const at::Tensor& block) {
  Shape shape(block.sizes().begin(), block.sizes().end());
  if (like.split())
    shape[static_cast<std::size_t>(*like.split())] = like.shape()[static_cast<std::size_t>(*like.split())];
  return wrap(block.contiguous(), like.layout().with(std::move(shape), like.split()), like.comm());
}

DNDarray cut_along(const DNDarray& x, int split) {
  if (!x.layout().is_grid() && x.split() == split) return x;
  return brought_to(x, Layout(x.shape(), split, x.comm().size()));
}

Columns::Columns(const DNDarray& x) : layout_(x.layout()), comm_(x.comm()) {
  const auto cut = cut_along(x, 1);
  layout_ = cut.layout();
  block_ = cut.larray().t().clone(at::MemoryFormat::Contiguous).t();
}

std::vector<Columns::Panel> Columns::panels(std::int64_t count) const {
  constexpr std::int64_t width = 64;
  std::vector<Panel> panels;
  for (int owner = 0; owner < comm_.size(); ++owner) {
    const auto end = std::min(count, layout_.offset(owner + 1));
    for (auto first = layout_.offset(owner); first < end; first += width)
      panels.push_back({owner, first, std::min(width, end - first)});
  }
  return panels;
}

at::Tensor Columns::columns(const Panel& panel) const {
  return block_.narrow(1, panel.first - first_column(), panel.count);
}

at::Tensor Columns::behind(const Panel& panel) const {
  const auto mine = layout_.count(comm_.rank());
  return block_.slice(1, std::clamp<std::int64_t>(panel.first + panel.count - first_column(), 0, mine), mine);
}

DNDarray Columns::array() const { return wrap(block_.contiguous(), layout_, comm_); }

at::Tensor Columns::broadcast(const Panel& panel, const at::Tensor& value, at::IntArrayRef shape,
                              at::ScalarType type) const {
  const auto host = owns(panel) ? value.cpu().contiguous() : at::empty(shape, type);
  comm_.broadcast(buffer_of(host), panel.owner);
  return host.to(block_.device());
}

}  // namespace heatpp::detail
