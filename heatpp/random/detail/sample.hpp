#pragma once

#include <heatpp/core/detail/torch.hpp>

#include <cmath>
#include <heatpp/ops/operands/operand.hpp>
#include <heatpp/random/detail/continuous.hpp>
#include <heatpp/random/detail/fill.hpp>
#include <heatpp/random/generator.hpp>
#include <limits>

namespace heatpp::random::detail {

/// The shape, layout and dtype of a result with these parameters, before it exists.
struct Target {
  Layout layout;
  Communicator comm;
  Dtype dtype;
  Device device = cpu;

  [[nodiscard]] Shape local_shape() const { return layout.local_shape(comm.rank()); }
  [[nodiscard]] DNDarray wrap(at::Tensor block) const {
    return heatpp::detail::wrap(block.to(heatpp::detail::to_torch(device), heatpp::detail::to_torch(dtype)), layout,
                                comm);
  }
};
/// Throws if the parameters do not broadcast to `shape`, or `dtype` is not of the kind of `fallback`.
[[nodiscard]] Target target_of(const char* op, std::span<const Operand> parameters, const Shape& shape,
                               const ArrayOptions& options, Dtype fallback);

/// A parameter of this rank's elements: one number for all, or one for each.
struct Parameter {
  double number = 0;
  at::Tensor block;  // float64, contiguous, of the local shape

  [[nodiscard]] double at(std::int64_t i) const { return block.defined() ? block.const_data_ptr<double>()[i] : number; }
};
[[nodiscard]] std::vector<Parameter> parameters_of(const char* op, std::span<const Operand> parameters,
                                                   const Target& target);

/// Whether each is one number for all elements.
[[nodiscard]] bool are_numbers(std::span<const Parameter> parameters);

/// Throws ValueError on all ranks unless valid(i) for all elements i of this rank's block.
void check_parameters(const char* op, const char* expected, std::span<const Parameter> parameters, const Target& target,
                      const std::function<bool(std::int64_t)>& valid);

/// Calls f(draws, i) for each of this rank's elements i, with the draws for its index in the whole array.
template <First first = First::words, class F>
void for_each_element(const Target& target, const Stretch& stretch, F f) {
  const Key key(stretch.key);
  for_each_run(target.layout, target.comm.rank(), [&](std::int64_t global, std::int64_t local, std::int64_t count) {
    constexpr std::int64_t groups = 4, batch = groups * lanes;
    const auto fill = [&](std::int64_t start, std::int64_t n) {
      const auto counter = stretch.first + static_cast<std::uint64_t>(global + start);
      std::array<Ahead, groups> ahead;
      draw_ahead<first>(key, counter, (n + lanes - 1) / lanes, ahead.data());
      for (std::int64_t i = 0; i < n; ++i) {
        Draws draws(key, counter + static_cast<std::uint64_t>(i), first, ahead[static_cast<std::size_t>(i / lanes)],
                    i % lanes);
        f(draws, local + start + i);
      }
    };
    constexpr std::int64_t worthwhile = 64;  // batches for one thread
    at::parallel_for(0, (count + batch - 1) / batch, worthwhile, [&](std::int64_t begin, std::int64_t end) {
      for (auto b = begin; b < end; ++b) fill(b * batch, std::min(batch, count - b * batch));
    });
  });
}

/// Returns `scale` times standard exponential numbers, drawn many at a time.
[[nodiscard]] DNDarray exponentials(Generator& generator, const Target& target, const Parameter& scale);

/// Returns what a sampler says that it draws first.
template <class Sampler>
constexpr First first_of() {
  if constexpr (requires { Sampler::first; }) return Sampler::first;
  else return First::words;
}

/// Whether a number drawn with these parameters is NaN: a floating one is if a parameter is.
template <class Number, class... P>
bool is_nan(P... parameters) {
  return std::is_floating_point_v<Number> && (std::isnan(parameters) || ...);
}

/// Makes an array whose elements a sampler draws with the given parameters.
template <class Sampler, std::size_t N>
DNDarray sample(Generator& generator, const char* op, const std::array<Operand, N>& operands, const Shape& shape,
                const ArrayOptions& options) {
  const auto with_parameters = [](const std::vector<Parameter>& p, std::int64_t i, auto f) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return f(p[I].at(i)...); }
    (std::make_index_sequence<N>());
  };
  const auto draw = [](Draws& d, auto... values) {
    using Number = decltype(Sampler::draw(d, values...));
    return is_nan<Number>(values...) ? std::numeric_limits<Number>::quiet_NaN() : Sampler::draw(d, values...);
  };
  const auto draw_with = [&](Draws& d, const std::vector<Parameter>& p, std::int64_t i) {
    return with_parameters(p, i, [&](auto... v) { return draw(d, v...); });
  };
  using Result = decltype(draw_with(std::declval<Draws&>(), std::vector<Parameter>(), 0));
  constexpr bool whole = std::is_same_v<Result, std::int64_t>;
  const auto target = target_of(op, operands, shape, options, whole ? int64 : heatpp::get_default_dtype());
  const auto parameters = parameters_of(op, operands, target);
  check_parameters(op, Sampler::expected, parameters, target, [&](std::int64_t i) {
    return with_parameters(parameters, i,
                           [](auto... values) { return is_nan<Result>(values...) || Sampler::valid(values...); });
  });
  if constexpr (std::is_same_v<Sampler, StandardExponential>)
    return exponentials(generator, target, {.number = 1, .block = {}});
  if constexpr (std::is_same_v<Sampler, Exponential>) return exponentials(generator, target, parameters[0]);
  const auto stretch = generator.reserve(target.comm, target.layout.size());
  const auto fill = [&]<class T>(T) {
    auto block = at::empty(target.local_shape(), heatpp::detail::to_torch(dtype_of<T>()));
    auto* out = block.template data_ptr<T>();
    const auto fill_with = [&](auto draw_at) {
      for_each_element<first_of<Sampler>()>(target, stretch,
                                            [=](Draws& d, std::int64_t i) { out[i] = static_cast<T>(draw_at(d, i)); });
    };
    if (are_numbers(parameters))  // the compiler moves what depends only on these out of the loop
      with_parameters(parameters, 0,
                      [&](auto... v) { fill_with([=](Draws& d, std::int64_t) { return draw(d, v...); }); });
    else fill_with([&](Draws& d, std::int64_t i) { return draw_with(d, parameters, i); });
    return target.wrap(std::move(block));
  };
  if constexpr (whole) return fill(std::int64_t{});
  else return target.dtype == float64 ? fill(double{}) : fill(float{});
}

}  // namespace heatpp::random::detail
