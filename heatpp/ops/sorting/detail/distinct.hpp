#pragma once

#include <heatpp/ops/sorting/detail/by_key.hpp>

namespace heatpp::detail {

/// Returns the key for the search of T: all complex numbers with a NaN have one.
template <class T>
[[nodiscard]] KeyOf<T> set_key(T value) {
  const auto key = Keys<T>::of(value);
  return is_nan_key<T>(key) ? static_cast<KeyOf<T>>(Keys<T>::of(std::numeric_limits<T>::quiet_NaN())) : key;
}

/// The condition under which elements are equal.
enum class Same {
  key,        ///< equal keys
  set_key,    ///< equal keys, and all NaN
  apart_nan,  ///< equal keys, but no NaN
};
template <class T>
[[nodiscard]] SameKey<KeyOf<T>> same_key(Same same) {
  if (Keys<T>::has_nan && same == Same::apart_nan) return {Keys<T>::first_nan};
  return {};
}

template <class T>
[[nodiscard]] KeyOf<T> key_of(T value, Same same) {
  return same == Same::set_key ? set_key<T>(value) : Keys<T>::of(value);
}

/// Returns the distinct keys of a block's elements, rising.
template <class T>
[[nodiscard]] Rows<KeyOf<T>> distinct_keys(const at::Tensor& block, Same same = Same::set_key);

/// What to find besides the distinct elements.
struct Parts {
  bool indices = false, inverse = false, counts = false;
};

/// A block's elements grouped by key. Parts that were not requested are empty.
template <class K>
struct Groups {
  Rows<K> keys;                        ///< rising
  Rows<std::int64_t> indices, counts;  ///< the first flattened index of each key, and its count
  Rows<std::int64_t> inverse;          ///< the group of each element, in C order
  Groups(std::int64_t n_keys, std::int64_t n_elements, Parts parts);
  void shrink(std::int64_t n);
};
template <class T>
[[nodiscard]] Groups<KeyOf<T>> group_elements(const DNDarray& x, Same same, Parts parts);

/// This rank's part of the distinct elements of an array, and the place of each element of its block among them. Parts
/// that were not requested are empty.
struct Distinct {
  at::Tensor values, indices, counts;
  Layout layout;       ///< layout of the three
  at::Tensor inverse;  ///< with the shape of the block
};
[[nodiscard]] Distinct distinct(const DNDarray& x, Same same, Parts parts);

/// Each element's place among the distinct ones, in the layout of the array, and their number.
struct Codes {
  DNDarray codes;
  std::int64_t count;
};
[[nodiscard]] Codes codes_of(const DNDarray& x);

/// Returns the layout of a result with `count` elements here: split 0, or uncut if `x` is.
[[nodiscard]] Layout layout_of_parts(std::int64_t count, bool split, const Communicator& comm);

}  // namespace heatpp::detail
