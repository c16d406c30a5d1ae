#include <heatpp/core/factories.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/detail/cuts/layout_of.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heatpp {
namespace {

using detail::to_torch;
using detail::wrap;

/// Makes the array whose local block is make(local shape, tensor options).
template <class Make>
DNDarray build(const char* op, const Shape& shape, Dtype dtype, const ArrayOptions& options, Make make) {
  const auto& comm = comm_of(options.comm);
  auto layout = detail::layout_of(op, shape, options, comm);
  const auto local = layout.local_shape(comm.rank());
  const auto type = at::TensorOptions().dtype(to_torch(dtype)).device(to_torch(options.device));
  auto block = detail::allocated(op, layout, type, comm, [&] { return make(at::IntArrayRef(local), type); });
  return wrap(std::move(block), std::move(layout), comm);
}

/// Returns the range of global indices of a 1-d array that this rank computes.
std::pair<std::int64_t, std::int64_t> my_range(const char* op, std::int64_t n, const ArrayOptions& options) {
  const auto& comm = comm_of(options.comm);
  const auto layout = detail::layout_of(op, {n}, options, comm);
  const auto first = layout.local_offset(comm.rank())[0];
  return {first, first + layout.local_shape(comm.rank())[0]};
}

/// Returns the number of steps in a range of whole numbers, which may exceed the range of double and int64.
std::uint64_t whole_steps(const ArangeRange& range) {
  const auto start = range.start.to<std::int64_t>(), stop = range.stop.to<std::int64_t>(),
             step = range.step.to<std::int64_t>();
  const bool rising = step > 0;
  if (rising ? start >= stop : start <= stop) return 0;
  const auto from = static_cast<std::uint64_t>(start), to = static_cast<std::uint64_t>(stop),
             each = static_cast<std::uint64_t>(step);
  return ((rising ? to - from : from - to) - 1) / (rising ? each : 0 - each) + 1;
}

/// Returns the first number of `dtype` and the step: as in NumPy, that from the first to the second, without fractions.
std::pair<Scalar, Scalar> converted(const ArangeRange& range, bool whole, std::int64_t n, Dtype dtype) {
  const auto number = [dtype](const Scalar& value) {
    detail::check_in_range("arange", value, dtype);
    return value.to<std::int64_t>();
  };
  const auto first = n > 0 ? number(range.start) : 0;
  if (n < 2) return {first, 0};
  if (whole) return {first, number(first + range.step.to<std::int64_t>()) - first};
  return {first, number(range.start.to<double>() + range.step.to<double>()) - first};
}

/// Computes start + step * index in the memory of `index`, whose values it overwrites.
template <class T>
at::Tensor on_line(at::Tensor index, T start, T step) {
  if (step != 1) index.mul_(step);
  if (start != 0) index.add_(start);
  return index;
}

/// Throws for a number that an element of `dtype` cannot hold.
void check_element(const char* op, const Scalar& value, Dtype dtype) {
  if (dtype != bool_) detail::check_real(op, value.default_dtype(), dtype);
  detail::check_in_range(op, value, dtype);
}

/// Returns numbers of `dtype`, or of a dtype that holds them all before a conversion.
at::Tensor tensor_of(const Literal& literal, Dtype dtype) {
  const auto& values = literal.values();
  const auto rank = [](const Scalar& s) { return s.is_complex() ? 3 : s.is_floating() ? 2 : s.is_integral() ? 1 : 0; };
  int kind = values.empty() ? 2 : 0;
  for (const auto& value : values) kind = std::max(kind, rank(value));
  if (kind == 2 && is_integral(dtype)) kind = 1;  // double does not hold all of these
  const auto fill = [&]<class T>(at::ScalarType type, T) {
    auto tensor = at::empty(literal.shape(), type);
    std::ranges::transform(values, tensor.data_ptr<T>(), [](const Scalar& s) {
      if constexpr (std::is_same_v<T, c10::complex<double>>) return T(s.to<std::complex<double>>());
      else return s.to<T>();
    });
    return tensor;
  };
  if (kind == 0) return fill(at::kBool, bool{});
  if (kind == 1) return fill(at::kLong, std::int64_t{});
  if (kind == 2) return fill(at::kDouble, double{});
  return fill(at::kComplexDouble, c10::complex<double>{});
}

}  // namespace

DNDarray empty(const Shape& shape, const ArrayOptions& options) {
  return build("empty", shape, options.dtype.value_or(get_default_dtype()), options,
               [](auto local, const auto& o) { return at::empty(local, o); });
}
DNDarray zeros(const Shape& shape, const ArrayOptions& options) {
  return build("zeros", shape, options.dtype.value_or(get_default_dtype()), options,
               [](auto local, const auto& o) { return at::zeros(local, o); });
}
DNDarray ones(const Shape& shape, const ArrayOptions& options) {
  return build("ones", shape, options.dtype.value_or(get_default_dtype()), options,
               [](auto local, const auto& o) { return at::ones(local, o); });
}
DNDarray full(const Shape& shape, const Scalar& value, const ArrayOptions& options) {
  const auto dtype = options.dtype.value_or(value.default_dtype());
  check_element("full", value, dtype);
  return build("full", shape, dtype, options, [element = detail::element_of(value, dtype)](auto local, const auto& o) {
    return at::full(local, element, o);
  });
}

DNDarray empty_like(const DNDarray& x, std::optional<Dtype> dtype) {
  const auto type = x.larray().options().dtype(to_torch(dtype.value_or(x.dtype())));
  auto block =
      detail::allocated("empty_like", x.layout(), type, x.comm(), [&] { return at::empty(x.larray().sizes(), type); });
  return wrap(std::move(block), x.layout(), x.comm());
}
DNDarray zeros_like(const DNDarray& x, std::optional<Dtype> dtype) { return full_like(x, 0, dtype); }
DNDarray ones_like(const DNDarray& x, std::optional<Dtype> dtype) { return full_like(x, 1, dtype); }
DNDarray full_like(const DNDarray& x, const Scalar& value, std::optional<Dtype> dtype) {
  check_element("full_like", value, dtype.value_or(x.dtype()));
  const auto result = empty_like(x, dtype);
  result.larray().fill_(detail::element_of(value, result.dtype()));
  return result;
}

DNDarray arange(const Scalar& stop, const ArrayOptions& options) { return arange(ArangeRange{.stop = stop}, options); }

DNDarray arange(const ArangeRange& range, const ArrayOptions& options) {
  for (const auto& number : {range.start, range.stop, range.step})
    if (number.is_complex()) detail::raise<TypeError>("arange", "got a complex number; expected real ones");
  const auto start = range.start.to<double>(), stop = range.stop.to<double>(), step = range.step.to<double>();
  if (step == 0 || !std::isfinite(start) || !std::isfinite(stop) || !std::isfinite(step))
    detail::raise<ValueError>(
        "arange", "got start {}, stop {}, step {}; expected finite numbers and a step other than 0", start, stop, step);
  const bool whole = !range.start.is_floating() && !range.stop.is_floating() && !range.step.is_floating();
  const auto steps = whole ? static_cast<double>(whole_steps(range)) : std::ceil((stop - start) / step);
  if (!(steps < 0x1p63))
    detail::raise<ValueError>("arange",
                              "got start {}, stop {}, step {}, which are {} numbers; expected fewer than 2^63", start,
                              stop, step, steps);
  const auto n = whole ? static_cast<std::int64_t>(whole_steps(range))
                       : std::max<std::int64_t>(0, static_cast<std::int64_t>(steps));
  const auto dtype = options.dtype.value_or(whole ? int64 : get_default_dtype());
  if (dtype == bool_ && n > 2) detail::raise<TypeError>("arange", "got {} numbers as bool; expected at most 2", n);
  const auto [from, each] = is_integral(dtype) ? converted(range, whole, n, dtype) : std::pair(range.start, range.step);
  const auto [first, last] = my_range("arange", n, options);
  return build("arange", {n}, dtype, options, [&](auto, const auto& o) {
    // Each value follows from its global index, so that it does not depend on the number of ranks.
    const bool exact = whole || is_integral(dtype);
    const auto index = at::arange(first, last, o.dtype(exact ? at::kLong : at::kDouble));
    if (exact) return on_line(index, from.to<std::int64_t>(), each.to<std::int64_t>()).to(o);
    return on_line(index, start, step).to(o);
  });
}

DNDarray linspace(double start, double stop, std::int64_t num, const ArrayOptions& options) {
  return linspace(LinspaceRange{.start = start, .stop = stop, .num = num}, options);
}

DNDarray linspace(const LinspaceRange& range, const ArrayOptions& options) {
  const auto& [start, stop, num, endpoint] = range;
  if (num < 0) detail::raise<ValueError>("linspace", "got num {}; expected num >= 0", num);
  const auto [first, last] = my_range("linspace", num, options);
  const auto steps = num - (endpoint ? 1 : 0);
  const auto step = steps > 0 ? (stop - start) / static_cast<double>(steps) : 0.0;
  const auto dtype = options.dtype.value_or(get_default_dtype());
  return build("linspace", {num}, dtype, options,
               [&, first = first, last = last, stop = stop, start = start](auto, const auto& o) {
                 auto index = at::arange(first, last, o.dtype(at::kDouble));
                 // As in NumPy, also if the step between different ends is rounded to 0.
                 const auto parts = static_cast<double>(std::max<std::int64_t>(1, steps));
                 auto values =
                     step != 0 ? on_line(index, start, step) : on_line(index.div_(parts), start, stop - start);
                 if (range.endpoint && last == range.num && last > 1 && last > first) values[-1] = stop;
                 return (is_integral(dtype) ? values.floor_() : values).to(o);
               });
}

DNDarray eye(std::int64_t rows, std::optional<std::int64_t> columns, const ArrayOptions& options) {
  return eye(rows, columns, 0, options);
}
DNDarray eye(std::int64_t rows, std::optional<std::int64_t> columns, std::int64_t k, const ArrayOptions& options) {
  const Shape shape{rows, columns.value_or(rows)};
  const auto& comm = comm_of(options.comm);
  const auto first = detail::layout_of("eye", shape, options, comm).local_offset(comm.rank());
  // The diagonal has this column minus row in the block.
  const auto shift = std::clamp(k, -shape[0], shape[1]) + first[0] - first[1];
  return build("eye", shape, options.dtype.value_or(get_default_dtype()), options, [&](auto local, const auto& o) {
    auto block = at::zeros(local, o);
    if (shift < local[1] && -shift < local[0]) block.diagonal(shift).fill_(1);
    return block;
  });
}

DNDarray array(const Literal& values, const ArrayOptions& options) {
  const auto dtype = options.dtype.value_or(values.dtype());
  for (const auto& value : values.values()) check_element("array", value, dtype);
  const auto all = tensor_of(values, dtype);
  const auto& comm = comm_of(options.comm);
  return build("array", values.shape(), dtype, options, [&](auto, const auto& o) {
    const auto layout = detail::layout_of("array", values.shape(), options, comm);
    const auto whole = wrap(all, layout.replicated(values.shape()), comm);
    return detail::relayout(whole, layout).to(o).contiguous();
  });
}

}  // namespace heatpp
