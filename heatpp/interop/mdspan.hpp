#pragma once

#include <array>
#include <heatpp/core/factories.hpp>

namespace heatpp {

/// A view of N-dimensional memory with any strides, in elements, like std::mdspan with layout_stride.
template <class T, std::size_t N>
class StridedView {
 public:
  using element_type = T;
  using Extents = std::array<std::int64_t, N>;

  StridedView(T* data, const Extents& extents, const Extents& strides)
      : data_(data), extents_(extents), strides_(strides) {}
  /// Views std::mdspan, Kokkos::mdspan, and any type with their members.
  template <class Mdspan>
  requires requires(const Mdspan& m) {
    { m.data_handle() } -> std::convertible_to<T*>;
    m.extent(0);
    m.stride(0);
  }
  StridedView(const Mdspan& m) : data_(m.data_handle()) {  // NOLINT: conversion intended
    static_assert(Mdspan::rank() == N);
    for (std::size_t axis = 0; axis < N; ++axis) {
      extents_[axis] = static_cast<std::int64_t>(m.extent(axis));
      strides_[axis] = static_cast<std::int64_t>(m.stride(axis));
    }
  }
  /// The last index runs fastest, as in C.
  [[nodiscard]] static StridedView c_order(T* data, const Extents& extents) {
    Extents strides;
    std::int64_t stride = 1;
    for (std::size_t axis = N; axis-- > 0; stride *= extents[axis]) strides[axis] = stride;
    return {data, extents, strides};
  }
  /// The first index runs fastest, as in Fortran.
  [[nodiscard]] static StridedView fortran_order(T* data, const Extents& extents) {
    Extents strides;
    std::int64_t stride = 1;
    for (std::size_t axis = 0; axis < N; stride *= extents[axis++]) strides[axis] = stride;
    return {data, extents, strides};
  }

  [[nodiscard]] static constexpr std::size_t rank() { return N; }
  [[nodiscard]] T* data_handle() const { return data_; }
  [[nodiscard]] std::int64_t extent(std::size_t axis) const { return extents_[axis]; }
  [[nodiscard]] std::int64_t stride(std::size_t axis) const { return strides_[axis]; }
  [[nodiscard]] const Extents& extents() const { return extents_; }
  [[nodiscard]] const Extents& strides() const { return strides_; }
  template <class... I>
  requires(sizeof...(I) == N) [[nodiscard]] T& operator()(I... indices) const {
    std::int64_t offset = 0;
    std::size_t axis = 0;
    ((offset += static_cast<std::int64_t>(indices) * strides_[axis++]), ...);
    return data_[offset];
  }

 private:
  T* data_;
  Extents extents_, strides_;
};

namespace detail {
/// Returns where this rank's block lies in memory. Throws TypeError unless it is of `dtype`, ValueError unless it has
/// `axes` axes and is on the CPU.
struct StridedBlock {
  void* data;
  Shape extents, strides;
};
[[nodiscard]] StridedBlock strided_block(const DNDarray& x, Dtype dtype, std::size_t axes);
}  // namespace detail

/// Views this rank's block of `x` in its memory, at any strides: for reading if the array is const, else also for
/// writing, as `x.local`. Local. Throws TypeError if T is not the dtype, ValueError if `x` does not have N axes or is
/// not on the CPU.
template <Element T, std::size_t N>
[[nodiscard]] StridedView<const T, N> local_view(const DNDarray& x) {
  const auto block = detail::strided_block(x, dtype_of<T>(), N);
  typename StridedView<T, N>::Extents extents, strides;
  std::copy_n(block.extents.begin(), N, extents.begin());
  std::copy_n(block.strides.begin(), N, strides.begin());
  return {static_cast<const T*>(block.data), extents, strides};
}
template <Element T, std::size_t N>
[[nodiscard]] StridedView<T, N> local_view(DNDarray& x) {
  static_cast<void>(x.mutable_larray());
  const auto view = local_view<T, N>(std::as_const(x));
  return {const_cast<T*>(view.data_handle()), view.extents(), view.strides()};
}
template <Element T, std::size_t N>
void local_view(const DNDarray&& x) = delete;  // its elements would end first

/// Adopts the memory of a view as this rank's block, in place and with its strides. It must outlive the array.
/// Collective, see from_local. Throws ValueError for negative strides.
template <Element T, std::size_t N>
[[nodiscard]] DNDarray from_local(const StridedView<T, N>& view, const LocalOptions& options = {}) {
  Shape extents, strides;
  for (std::size_t axis = 0; axis < N; ++axis) {
    extents.push_back(view.extent(axis));
    strides.push_back(view.stride(axis));
  }
  return from_local(view.data_handle(), extents, strides, dtype_of<T>(), options);
}

}  // namespace heatpp
