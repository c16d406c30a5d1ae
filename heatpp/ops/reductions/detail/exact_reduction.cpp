#include <heatpp/ops/reductions/detail/exact_reduction.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/reproducible/allreduce.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/reductions/detail/exact_across.hpp>
#include <heatpp/ops/reductions/detail/exact_sums.hpp>
#include <heatpp/ops/reductions/detail/reduced.hpp>

#include <cmath>

namespace heatpp::detail {
namespace {

/// Returns a block as real numbers: the parts of complex ones lie along a last axis.
at::Tensor real_view(const at::Tensor& block) {
  return readable(block.is_complex() ? at::view_as_real(block.resolve_conj()) : block);
}

/// The exact sums for each element of this rank's block of a result, and the shape of that block.
class ExactSums {
 public:
  ExactSums(const char* op, const DNDarray& x, const ReduceOptions& options)
      : x_(x), reduced_(reduced_axes(op, x, options)) {
    auto block = x.larray();
    if (options.where) {
      mask_ = mask_block(op, x, *options.where);
      block = at::where(mask_, block, at::zeros({}, block.options()));
    }
    const auto view = around_axes(real_view(reduced_.counted(block)), reduced_.axes);
    sums_.resize(static_cast<std::size_t>(view.extents.others()));
    if (view.data.scalar_type() == at::kDouble) add_exactly(view.data.const_data_ptr<double>(), view.extents, data());
    else add_exactly(view.data.const_data_ptr<float>(), view.extents, data());
    sums_ = view.order.restored(std::move(sums_), view.kept);
    if (crosses_ranks()) add_across(*reduced_.across, sums_);
  }

  void add(c10::complex<double> initial) {
    const bool complex = is_complex(x_.dtype());
    for (std::size_t i = 0; i < sums_.size(); ++i)
      sums_[i].add(complex && i % 2 == 1 ? initial.imag() : initial.real());
  }

  /// Returns how many elements each result has: one number, or one for each.
  [[nodiscard]] at::Tensor counts() const {
    if (!mask_.defined()) return at::full({}, reduced_.count, at::kLong);
    auto counts = at::sum(reduced_.counted(mask_), reduced_.axes, true, at::kLong).cpu().contiguous();
    if (crosses_ranks()) reduced_.across->allreduce(buffer_of(counts));
    return (is_complex(x_.dtype()) ? counts.unsqueeze(-1).expand(real_shape()) : counts).reshape({-1}).contiguous();
  }

  /// Returns f(sum, i) for each result i, as an array of that dtype.
  template <class F>
  [[nodiscard]] DNDarray map(Dtype dtype, F f) {
    auto block = at::empty({std::ssize(sums_)}, at::kDouble);
    for (std::size_t i = 0; i < sums_.size(); ++i) block.data_ptr<double>()[i] = f(sums_[i], i);
    auto layout = reduced_.result_layout(x_.layout());
    const auto shape = layout.local_shape(x_.comm().rank());
    block = is_complex(x_.dtype()) ? at::view_as_complex(block.view({-1, 2})).view(shape) : block.view(shape);
    return wrap(block.to(x_.larray().device(), to_torch(dtype)), std::move(layout), x_.comm());
  }

 private:
  [[nodiscard]] ExactSum* data() { return sums_.data(); }
  [[nodiscard]] bool crosses_ranks() const { return reduced_.across && reduced_.across->size() > 1; }
  [[nodiscard]] std::vector<std::int64_t> real_shape() const {
    auto shape = x_.larray().sizes().vec();
    for (const auto axis : reduced_.axes) shape[static_cast<std::size_t>(axis)] = 1;
    shape.push_back(2);
    return shape;
  }

  const DNDarray& x_;
  ReducedAxes reduced_;
  at::Tensor mask_ = {};
  std::vector<ExactSum> sums_ = {};
};

double mean_of(ExactSum& sum, std::int64_t count) {
  if (count == 0) return NAN;
  const auto [mantissa, exponent] = sum.rounded(53, -(1 << 20));
  return std::ldexp(mantissa / static_cast<double>(count), exponent);
}

}  // namespace

bool sums_exactly(const Communicator& comm, Dtype dtype, bool asked) {
  return !is_whole(dtype) && (asked || wants_exact_sums(comm));
}

double rounded_to(Dtype dtype, ExactSum& sum) {
  switch (real_type(dtype)) {
    case Dtype::float16: return sum.value(11, -24);
    case Dtype::bfloat16: return sum.value(8, -133);
    case Dtype::float32: return sum.value(24, -149);
    default: return sum.value();
  }
}

DNDarray exact_sum(const char* op, const DNDarray& x, const ReduceOptions& options) {
  ExactSums sums(op, x, options);
  if (options.initial) sums.add(element_of(*options.initial, x.dtype()).toComplexDouble());
  return sums.map(x.dtype(), [&](ExactSum& sum, std::size_t) { return rounded_to(x.dtype(), sum); });
}

DNDarray exact_mean(const char* op, const DNDarray& x, const ReduceOptions& options) {
  if (options.initial) raise<ValueError>(op, "got an initial value; expected none");
  ExactSums sums(op, x, options);
  const auto counts = sums.counts();
  const bool one = counts.dim() == 0;
  const auto* const count = counts.const_data_ptr<std::int64_t>();
  return sums.map(x.dtype(), [&](ExactSum& sum, std::size_t i) { return mean_of(sum, count[one ? 0 : i]); });
}

}  // namespace heatpp::detail
