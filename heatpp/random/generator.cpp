#include <heatpp/random/generator.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/operands/detail/align.hpp>
#include <heatpp/random/detail/sample.hpp>

#include <random>
#include <utility>

namespace heatpp::random {
namespace {

using namespace detail;

/// Fills an array from a source of numbers T in the target's dtype, converted in pieces if that differs.
template <class T, class Source>
DNDarray filled(const Target& target, Source source) {
  constexpr std::int64_t piece = 1 << 18;
  const auto from = heatpp::detail::to_torch(dtype_of<T>()), to = heatpp::detail::to_torch(target.dtype);
  auto block = at::empty(target.local_shape(), to);
  if (from == to) {
    auto* const out = block.template data_ptr<T>();
    for_each_run(target.layout, target.comm.rank(), [&](std::int64_t global, std::int64_t local, std::int64_t count) {
      source.fill(global, count, out + local);
    });
    return target.wrap(std::move(block));
  }
  const auto buffer = at::empty({std::min(piece, block.numel())}, from), flat = block.view({-1});
  std::int64_t done = 0, waiting = 0;
  const auto convert = [&] {
    flat.narrow(0, done, waiting).copy_(buffer.narrow(0, 0, waiting));
    done += std::exchange(waiting, 0);
  };
  for_each_run(target.layout, target.comm.rank(), [&](std::int64_t global, std::int64_t, std::int64_t count) {
    for (const auto end = global + count; global < end;) {
      const auto n = std::min(end - global, buffer.numel() - waiting);
      source.fill(global, n, buffer.template data_ptr<T>() + waiting);
      global += n;
      waiting += n;
      if (waiting == buffer.numel()) convert();
    }
  });
  convert();
  return target.wrap(std::move(block));
}

/// Fills an array by a kernel in the target's dtype; float16 and bfloat16 take float32 numbers.
template <template <class> class Kernels>
DNDarray fill(const Target& target, const Stretch& stretch, double shift, double scale) {
  const auto make = [&]<class T>(T) {
    const auto kernel = [&](std::uint64_t counter, std::int64_t chunks, T* out) {
      Kernels<T>::kernel(Key(stretch.key), counter, chunks, static_cast<T>(shift), static_cast<T>(scale), out);
    };
    return filled<T>(target, ChunkSource<T>(kernel, stretch.first));
  };
  return target.dtype == float64 ? make(double{}) : make(float{});
}

template <class T>
struct Uniforms {
  static constexpr ChunkKernel<T> kernel = &uniform_chunks<T>;
};
template <class T>
struct Normals {
  static constexpr ChunkKernel<T> kernel = &normal_chunks<T>;
};
template <class T>
struct Exponentials {
  static constexpr ChunkKernel<T> kernel = &exponential_chunks<T>;
};

at::Tensor values_of(const Parameter& p) {
  return p.block.defined() ? p.block : at::scalar_tensor(p.number, at::kDouble);
}

Parameter difference(const Parameter& a, const Parameter& b) {
  if (!a.block.defined() && !b.block.defined()) return {.number = a.number - b.number, .block = {}};
  return {.number = 0, .block = values_of(a) - values_of(b)};
}

/// Whether the largest number of `uniform_chunks` from low to high is rounded to high.
bool reaches(double low, double high, Dtype dtype) {
  const auto rounded = [&]<class T>(T) {
    const auto shift = static_cast<T>(low), scale = static_cast<T>(high - low);
    const auto most = 1 - std::numeric_limits<T>::epsilon() / 2;
    return std::max(shift + scale * most, std::fma(scale, most, shift)) >= static_cast<T>(high);
  };
  if (dtype == float64) return rounded(double{});
  return dtype != float32 || rounded(float{});
}

/// Whether elements of `dtype` hold all numbers from low to high.
bool holds(Dtype dtype, std::int64_t low, std::int64_t high) {
  if (dtype == bool_) return low >= 0 && high <= 1;
  const auto limits = iinfo(dtype);
  return low >= limits.min && high <= limits.max;
}

Target of_integers(std::span<const Operand> limits, const Shape& shape, const ArrayOptions& options) {
  const auto dtype = options.dtype.value_or(int64);
  if (!is_whole(dtype))
    heatpp::detail::raise<TypeError>("integers", "got dtype {}; expected a whole-number one or bool", name(dtype));
  auto wide = options;
  wide.dtype = int64;
  auto target = target_of("integers", limits, shape, wide, int64);
  target.dtype = dtype;
  return target;
}

/// Returns shift + scale * z with parameters that may be arrays.
template <template <class> class Kernels>
DNDarray shifted(Generator& generator, const Target& target, const Parameter& shift, const Parameter& scale) {
  const auto stretch = generator.reserve(target.comm, target.layout.size());
  if (!shift.block.defined() && !scale.block.defined())
    return fill<Kernels>(target, stretch, shift.number, scale.number);
  const auto z = fill<Kernels>(target, stretch, 0, 1);
  const auto& block = z.larray();
  block.mul_(values_of(scale).to(block.device())).add_(values_of(shift).to(block.device()));
  return z;
}

}  // namespace

DNDarray detail::exponentials(Generator& generator, const Target& target, const Parameter& scale) {
  return shifted<Exponentials>(generator, target, {}, scale);
}

Stretch Generator::reserve(const Communicator& comm, std::int64_t counters) {
  const auto group = by_group_ ? comm.group() : 0;
  auto key = state_.key;
  if (by_group_ && group != heatpp::detail::default_group()) key = derived(key, group, Purpose::group);
  auto& position = group == 0 ? state_.position : state_.positions_of_groups[group];
  return {key, std::exchange(position, position + static_cast<std::uint64_t>((counters + lanes - 1) / lanes * lanes))};
}

std::vector<Generator> Generator::spawn(int n) {
  if (n < 0) heatpp::detail::raise<ValueError>("spawn", "got n {}; expected n >= 0", n);
  std::vector<Generator> children;
  for (int i = 0; i < n; ++i) children.emplace_back(derived(state_.key, state_.spawned++, Purpose::spawn));
  return children;
}

Generator Generator::jumped(int times) const {
  auto result = *this;
  result.state_.position += static_cast<std::uint64_t>(times) << 48;
  return result;
}

DNDarray Generator::random(const Shape& shape, const ArrayOptions& options) {
  auto target = target_of("random", {}, shape, options, heatpp::get_default_dtype());
  const auto digits = 2 / finfo(target.dtype).eps;
  const auto dtype = std::exchange(target.dtype, target.dtype == float64 ? float64 : float32);
  const auto x = shifted<Uniforms>(*this, target, {}, {.number = 1, .block = {}});
  if (dtype == target.dtype) return x;
  x.larray().mul_(digits).floor_().div_(digits);  // The nearest number of 16 bits might be 1.
  return x.astype(dtype);
}

DNDarray Generator::standard_normal(const Shape& shape, const ArrayOptions& options) {
  return shifted<Normals>(*this, target_of("standard_normal", {}, shape, options, heatpp::get_default_dtype()), {},
                          {.number = 1, .block = {}});
}

DNDarray Generator::uniform(const Operand& low, const Operand& high, const Shape& shape, const ArrayOptions& options) {
  const Operand operands[] = {low, high};
  const auto target = target_of("uniform", operands, shape, options, heatpp::get_default_dtype());
  const auto parameters = parameters_of("uniform", operands, target);
  const auto most = finfo(target.dtype).max;
  check_parameters("uniform", "low <= high, within the dtype's range as their difference", parameters, target,
                   [&](std::int64_t i) {
                     const auto from = parameters[0].at(i), to = parameters[1].at(i);
                     return -most <= from && from <= to && to <= most && to - from <= most;
                   });
  const auto x = shifted<Uniforms>(*this, target, parameters[0], difference(parameters[1], parameters[0]));
  if (are_numbers(parameters) && !reaches(parameters[0].number, parameters[1].number, target.dtype)) return x;
  // Numbers rounded up to the end replace the numbers around the beginning, half of which are missing.
  const auto& block = x.larray();
  const auto low_end = values_of(parameters[0]).to(block.device()),
             high_end = values_of(parameters[1]).to(block.device());
  block.copy_(at::where(block < high_end, block, low_end));
  return x;
}

DNDarray Generator::normal(const Operand& loc, const Operand& scale, const Shape& shape, const ArrayOptions& options) {
  const Operand operands[] = {loc, scale};
  const auto target = target_of("normal", operands, shape, options, heatpp::get_default_dtype());
  const auto parameters = parameters_of("normal", operands, target);
  check_parameters("normal", "scale >= 0", parameters, target, [&](std::int64_t i) {
    return not_negative(parameters[1].at(i)) || std::isnan(parameters[1].at(i));
  });
  return shifted<Normals>(*this, target, parameters[0], parameters[1]);
}

DNDarray Generator::integers(std::int64_t low, std::optional<std::int64_t> high, const Shape& shape,
                             const ArrayOptions& options) {
  return integers(IntegerRange{.low = high ? low : 0, .high = high.value_or(low)}, shape, options);
}

DNDarray Generator::integers(const IntegerRange& range, const Shape& shape, const ArrayOptions& options) {
  const auto& [first, end, endpoint] = range;
  const auto target = of_integers({}, shape, options);
  if (target.layout.size() == 0) return target.wrap(at::empty(target.local_shape(), at::kLong));
  if (first > end || (first == end && !endpoint))
    heatpp::detail::raise<ValueError>("integers", "got low {}, high {}; expected low {} high", first, end,
                                      endpoint ? "<=" : "<");
  if (!holds(target.dtype, first, endpoint ? end : end - 1))
    heatpp::detail::raise<ValueError>("integers", "got low {}, high {} for {}; expected a dtype that holds them", first,
                                      end, name(target.dtype));
  const auto stretch = reserve(target.comm, target.layout.size());
  const auto span = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(first) + std::uint64_t{endpoint};
  if (span > 0 && span <= std::numeric_limits<std::uint32_t>::max()) {
    const auto kernel = [&, low = first](std::uint64_t counter, std::int64_t chunks, std::int64_t* to) {
      integer_chunks(Key(stretch.key), counter, chunks, low, static_cast<std::uint32_t>(span), to);
    };
    return filled<std::int64_t>(target, ChunkSource<std::int64_t, integers_per_chunk>(kernel, stretch.first));
  }
  auto block = at::empty(target.local_shape(), at::kLong);
  auto* out = block.data_ptr<std::int64_t>();
  for_each_element(target, stretch, [&, low = first](Draws& d, std::int64_t i) {
    out[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + d.below(span));
  });
  return target.wrap(std::move(block));
}

DNDarray Generator::integers(const DNDarray& low, const Operand& high, const Shape& shape,
                             const ArrayOptions& options) {
  return integers_between(low, high, shape, options);
}
DNDarray Generator::integers(const Scalar& low, const DNDarray& high, const Shape& shape, const ArrayOptions& options) {
  return integers_between(low, high, shape, options);
}

DNDarray Generator::integers_between(const Operand& low, const Operand& high, const Shape& shape,
                                     const ArrayOptions& options) {
  const Operand operands[] = {low, high};
  const auto target = of_integers(operands, shape, options);
  const auto local = target.local_shape();
  std::optional<double> beyond;  // int64
  const auto limits = [&](const Operand& limit) {
    const auto block = heatpp::detail::align_to("integers", target.layout, target.comm,
                                                limit.array() ? Operand(limit.array()->to_device(cpu)) : limit);
    if (block.is_floating_point()) {
      const auto wide = block.to(at::kDouble), wrong = wide.masked_select((at::abs(wide) <= 0x1p63).logical_not());
      if (wrong.numel() > 0) beyond = wrong[0].item<double>();
    }
    return block.to(at::kLong).expand(local).contiguous();
  };
  const auto from = limits(low), to = limits(high);
  const auto *first = from.const_data_ptr<std::int64_t>(), *end = to.const_data_ptr<std::int64_t>();
  all_or_none(target.comm, [&] {
    if (beyond) heatpp::detail::raise<ValueError>("integers", "got the limit {}; expected numbers of int64", *beyond);
    for (std::int64_t i = 0; i < from.numel(); ++i)
      if (first[i] >= end[i] || !holds(target.dtype, first[i], end[i] - 1))
        heatpp::detail::raise<ValueError>("integers", "got low {}, high {} for {}; expected low < high, in its range",
                                          first[i], end[i], name(target.dtype));
  });
  const auto stretch = reserve(target.comm, target.layout.size());
  auto block = at::empty(local, at::kLong);
  auto* out = block.data_ptr<std::int64_t>();
  for_each_element(target, stretch, [&](Draws& d, std::int64_t i) {
    const auto lowest = static_cast<std::uint64_t>(first[i]);
    out[i] = static_cast<std::int64_t>(lowest + d.below(static_cast<std::uint64_t>(end[i]) - lowest));
  });
  return target.wrap(std::move(block));
}

DNDarray Generator::bytes(std::int64_t n, const ArrayOptions& options) {
  auto as_bytes = options;
  as_bytes.dtype = uint8;
  return integers(256, std::nullopt, {n}, as_bytes);
}

Generator& default_generator() {
  static Generator generator = [] {
    Generator made;
    made.by_group_ = true;
    return made;
  }();
  return generator;
}

void seed(std::uint64_t value) { set_state({.key = value}); }

void seed() {
  std::random_device entropy;
  std::array<std::int64_t, 1> value{static_cast<std::int64_t>(joined(entropy(), entropy()))};
  default_comm().broadcast(value, 0);
  seed(static_cast<std::uint64_t>(value[0]));
}

State get_state() { return default_generator().get_state(); }
void set_state(const State& state) { default_generator().set_state(state); }

}  // namespace heatpp::random
