#include <heatpp/ml/decomposition/detail/snapshots.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/decompositions/qr.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ml/detail/pieces.hpp>
#include <heatpp/ml/detail/state.hpp>

#include <algorithm>

namespace heatpp::ml::detail {
namespace {

using heatpp::detail::raise;

/// Directions in which fields are smaller than this part of the total are left out.
constexpr double rounding = 1e-13;

void check_real(const char* op, const DNDarray& x) {
  if (is_complex(x.dtype())) raise<TypeError>(op, "got snapshots of {}; expected real numbers", name(x.dtype()));
}

/// Returns the layout of one of the fields along the last axis of `x`.
Layout layout_of_one(const DNDarray& x) {
  auto shape = x.shape();
  shape.pop_back();
  const auto split = x.layout().is_grid() ? std::optional(x.ndim() - 1) : x.split();
  if (split && *split == x.ndim() - 1) {
    const auto longest = std::ranges::max_element(shape) - shape.begin();
    return {shape, static_cast<int>(longest), x.comm().size()};
  }
  return x.layout().with(shape, split);
}

Dtype floating(Dtype dtype) { return inexact_type(dtype) == float64 ? float64 : float32; }

Shape joined(Shape shape, const Shape& extents) {
  shape.insert(shape.end(), extents.begin(), extents.end());
  return shape;
}

}  // namespace

Snapshots::Snapshots(Layout layout, Communicator comm, Dtype dtype)
    : layout_(std::move(layout)), comm_(std::move(comm)), dtype_(dtype) {
  std::int64_t points = 1;
  for (const auto extent : layout_.local_shape(comm_.rank())) points *= extent;
  basis_ = at::empty({0, points}, at::kDouble);
  coordinates_ = at::empty({0, 0}, at::kDouble);
}

Snapshots::Snapshots(const char* op, const DNDarray& fields)
    : Snapshots(fields.ndim() < 2 ? Layout({0}, std::nullopt, 1) : layout_of_one(fields), fields.comm(),
                floating(fields.dtype())) {
  if (fields.ndim() < 2 || fields.size() == 0)
    raise<ValueError>(op, "got an array of shape {}; expected (points..., time), at least one of each",
                      to_string(fields.shape()));
  check_real(op, fields);
  add(op, block(op, fields, true));
}

Snapshots Snapshots::with(const char* op, const std::optional<Snapshots>& before, const DNDarray& field) {
  check_real(op, field);
  if (field.ndim() < 1 || field.size() == 0)
    raise<ValueError>(op, "got an array of shape {}; expected a field of at least one point", to_string(field.shape()));
  auto all = before ? *before : Snapshots(field.layout(), field.comm(), floating(field.dtype()));
  all.add(op, all.block(op, field, false));
  return all;
}

/// Returns this rank's points of the fields, one row for each point.
at::Tensor Snapshots::block(const char* op, const DNDarray& fields, bool many) const {
  const auto count = many ? fields.shape().back() : 1;
  const auto expected = many ? joined(shape(), {count}) : shape();
  if (fields.shape() != expected)
    raise<ValueError>(op, "got a field of shape {}; expected {}", to_string(fields.shape()), to_string(expected));
  const auto mine = heatpp::detail::relayout_operand(op, fields, layout_.with(expected, layout_.split()), comm_);
  return mine.to(at::kCPU, at::kDouble).reshape({basis_.size(1), count}).t();
}

at::Tensor Snapshots::projections(const at::Tensor& rows) const {
  const auto sums = at::mm(basis_, rows.t());
  if (distributed()) comm_.allreduce(heatpp::detail::buffer_of(sums));
  return sums;
}

/// Returns orthonormal fields, and the coordinates of the rows in them, in decreasing order of size.
std::pair<at::Tensor, at::Tensor> Snapshots::directions_of(const at::Tensor& rows) const {
  const auto points = layout_.size();
  auto cut = Layout({points, rows.size(0)}, std::nullopt, comm_.size());
  if (layout_.split()) {
    std::vector<std::int64_t> counts;
    const auto row = points / std::max<std::int64_t>(1, shape()[static_cast<std::size_t>(*layout_.split())]);
    for (int r = 0; r < comm_.size(); ++r) counts.push_back(layout_.count(r) * row);
    cut = Layout::from_counts({points, rows.size(0)}, 0, counts);
  }
  const auto matrix = heatpp::detail::wrap(rows.t().contiguous(), cut, comm_);
  const auto [q, r] = linalg::qr(matrix);
  const auto triangle = heatpp::detail::relayout(r, Layout(r.shape(), std::nullopt, comm_.size()));
  const auto [u, s, vh] = at::linalg_svd(triangle, /*full_matrices=*/false);
  const auto mine = heatpp::detail::relayout(q, cut.with(q.shape(), cut.split()));
  return {at::mm(u.t(), mine.t()), s.unsqueeze(1) * vh};
}

/// Uses Gram-Schmidt twice, since rounding leaves a rest after the first time.
void Snapshots::add(const char* op, at::Tensor rows) {
  const auto check = [&] {
    if (!rows.isfinite().all().item<bool>())
      raise<ValueError>(op, "got a number that is not finite beside {} snapshots; expected finite numbers", count());
  };
  if (distributed()) all_or_none(comm_, check);
  else check();
  auto known = at::zeros({basis_.size(0), rows.size(0)}, at::kDouble);
  for (int turn = 0; turn < 2 && basis_.size(0) > 0; ++turn) {
    const auto part = projections(rows);
    rows = rows - at::mm(part.t(), basis_);
    known += part;
  }
  const auto [basis, beyond] = directions_of(rows);
  const auto all = coordinates_.square().sum() + known.square().sum() + beyond.square().sum();
  const auto size = all.sqrt().item<double>();
  const auto kept = (beyond.square().sum(1).sqrt() > rounding * size).sum().item<std::int64_t>();
  const auto above = at::cat({coordinates_, known}, 1);
  const auto below = at::cat({at::zeros({kept, count()}, at::kDouble), beyond.slice(0, 0, kept)}, 1);
  coordinates_ = at::cat({above, below});
  basis_ = at::cat({basis_, basis.slice(0, 0, kept)});
}

Snapshots::Snapshots(const StateReader& read)
    : layout_({0}, std::nullopt, 1), comm_(default_comm()), dtype_(read.option<Dtype>("dtype")) {
  const auto coordinates = read.array("coordinates", {-1, -1});
  auto fields = read.fields("directions", coordinates.shape()[0]);
  if (fields.split() == fields.ndim() - 1) fields = resplit(fields, std::nullopt);
  layout_ = layout_of_one(fields);
  comm_ = fields.comm();
  coordinates_ = coordinates.larray().to(at::kCPU, at::kDouble).contiguous();
  basis_ = fields.larray().to(at::kCPU, at::kDouble).reshape({-1, coordinates_.size(0)}).t().contiguous();
}

void Snapshots::write(ModelState& state) const {
  state.options["dtype"] = text_of(dtype_);
  const auto count = basis_.size(0);
  const auto block = basis_.t().reshape(joined(layout_.local_shape(comm_.rank()), {count})).contiguous();
  const auto fields = heatpp::detail::wrap(block, layout_.with(joined(shape(), {count}), layout_.split()), comm_);
  state.arrays.insert({{"coordinates", replicated(coordinates_, float64, comm_)}, {"directions", fields}});
}

at::Tensor Snapshots::coordinates_of(const char* op, const DNDarray& fields) const {
  check_real(op, fields);
  return projections(block(op, fields, fields.ndim() > layout_.ndim()));
}

DNDarray Snapshots::fields(const at::Tensor& coordinates, const Shape& extents) const {
  const auto points = at::mm(basis_.t().to(coordinates.scalar_type()), coordinates);
  const bool single = dtype_ == float32;
  const auto type = coordinates.is_complex() ? (single ? at::kComplexFloat : at::kComplexDouble)
                                             : (single ? at::kFloat : at::kDouble);
  const auto local = joined(layout_.local_shape(comm_.rank()), extents);
  return heatpp::detail::wrap(points.to(type).reshape(local), layout_.with(joined(shape(), extents), layout_.split()),
                              comm_);
}

}  // namespace heatpp::ml::detail
