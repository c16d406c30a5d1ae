#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <heatpp/ops/elementwise/detail/convert.hpp>
#include <heatpp/ops/operands/operand.hpp>
#include <memory>

namespace heatpp::detail {

/// One operand's elements of this rank's block, with a stride, in elements, for each of the plan's extents.
struct MapInput {
  const std::byte* data;
  std::vector<std::int64_t> strides;
  std::int64_t item_size;
  bool converted;    ///< whether the elements are converted to another dtype
  Converter reader;  ///< reads that dtype
};

/// The order in which blocks of operands that were brought together are read.
struct MapPlan {
  Layout layout;
  Communicator comm;
  Shape extents;  ///< extents of the block, at least one: neighboring axes are joined if all operands allow it
  std::int64_t size = 0;
  std::vector<MapInput> inputs;
  std::shared_ptr<const void> blocks;  ///< keeps the memory of the inputs
};

/// Aligns the operands. Each has a dtype in which it is read.
[[nodiscard]] MapPlan plan_map(const char* op, const std::vector<Operand>& operands, std::span<const Dtype> dtypes);
/// Makes an array of the plan's layout, not initialized, with a contiguous block.
[[nodiscard]] DNDarray map_result(const MapPlan& plan, Dtype dtype);
[[nodiscard]] void* data_of(const DNDarray& x);
/// Calls f(first, last) for ranges that make up 0 .. n, on all threads.
void in_parallel(std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& f);

/// Elements that are read at once: few enough to fit in the first-level cache.
inline constexpr std::int64_t map_piece_size = 2048;

template <class... A>
struct Arguments {
  static constexpr std::size_t count = sizeof...(A);
  static constexpr std::array<Dtype, count> dtypes{dtype_of<A>()...};
};

/// The parameters of a lambda or function, and its result.
template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...)> : Signature<R (*)(A...)> {};
template <class R, class... A>
struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...) const noexcept> : Signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Result = std::decay_t<R>;
  using In = Arguments<std::decay_t<A>...>;
};

/// Describes N parameters of type T, or f's own if T is void.
template <class T, class F, std::size_t N>
struct CallOf {
  template <std::size_t>
  using Same = T;
  template <std::size_t... I>
  static Signature<std::invoke_result_t<F&, Same<I>...> (*)(Same<I>...)> signature(std::index_sequence<I...>);
  using Result = typename decltype(signature(std::make_index_sequence<N>()))::Result;
  using In = typename decltype(signature(std::make_index_sequence<N>()))::In;
};
template <class F, std::size_t N>
struct CallOf<void, F, N> : Signature<F> {
  static_assert(Signature<F>::In::count == N, "the function takes another number of arguments than there are arrays");
};

/// Gives elements first .. first + count of the operands, which lie in one row, as contiguous runs in the dtypes in
/// which they are read. Other elements are copied into the cache.
template <class... A>
class PieceReader {
 public:
  explicit PieceReader(const MapPlan& plan) : plan_(plan), index_(plan.extents.size()) {}

  /// Calls f(pointers...).
  template <class F>
  void read(std::int64_t first, std::int64_t count, F f) {
    for (std::size_t axis = index_.size(); axis-- > 0; first /= plan_.extents[axis])
      index_[axis] = first % plan_.extents[axis];
    [&]<std::size_t... I>(std::index_sequence<I...>) { f(run<A>(plan_.inputs[I], count, std::get<I>(buffers_))...); }
    (std::make_index_sequence<sizeof...(A)>());
  }

 private:
  template <class T>
  using Piece = std::unique_ptr<T[]>;

  template <class T>
  const T* run(const MapInput& input, std::int64_t count, Piece<T>& buffer) const {
    const auto* data = input.data;
    for (std::size_t axis = 0; axis < index_.size(); ++axis)
      data += index_[axis] * input.strides[axis] * input.item_size;
    const auto stride = input.strides.back();
    if (stride == 1 && !input.converted) return reinterpret_cast<const T*>(data);
    if (!buffer) buffer = std::make_unique_for_overwrite<T[]>(map_piece_size);
    input.reader(data, stride, buffer.get(), count);
    return buffer.get();
  }

  const MapPlan& plan_;
  std::vector<std::int64_t> index_;
  std::tuple<Piece<A>...> buffers_;
};

/// Calls f(first, count, pointers...) for pieces that make up first .. last.
template <class... A, class F>
void for_each_piece(Arguments<A...>, const MapPlan& plan, std::int64_t first, std::int64_t last, F f) {
  PieceReader<A...> reader(plan);
  const auto row = plan.extents.back();
  while (first < last) {
    const auto count = std::min({map_piece_size, last - first, row - first % row});
    reader.read(first, count, [&](const A*... in) { f(first, count, in...); });
    first += count;
  }
}

/// Runs the loop that the compiler vectorizes.
template <class F, class R, class... A>
void map_piece(F& f, std::int64_t count, R* __restrict out, const A* __restrict... in) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = f(in[i]...);
}

}  // namespace heatpp::detail
