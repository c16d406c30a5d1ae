#include <heatpp/ops/sorting/sort.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/detail/element_type.hpp>
#include <heatpp/ops/operands/detail/lines.hpp>
#include <heatpp/ops/shape/detail/along.hpp>
#include <heatpp/ops/sorting/detail/distinct.hpp>
#include <heatpp/ops/sorting/detail/runs.hpp>

#include <algorithm>

namespace heatpp {
namespace {

using detail::Indexed;
using detail::Key128;
using detail::KeyOf;
using detail::Keys;
using detail::Rows;
using detail::Zeros;

/// Calls f.operator()<T, Word>() for the dtype and the narrowest word for its keys and positions below n.
template <class F>
auto with_word_type(at::ScalarType type, std::int64_t n, F f) {
  return detail::with_element_type(type, [&]<class T>() -> decltype(f.template operator()<float, Key128>()) {
    if constexpr (sizeof(T) <= 4)
      if (n < std::int64_t{1} << 32) return f.template operator()<T, std::uint64_t>();
    if constexpr (sizeof(T) <= 8) return f.template operator()<T, Key128>();
    else throw TypeError("complex128 has no word");
  });
}

/// Returns ~0 to reverse the order of keys, else 0.
template <class K>
K reversal(bool descending) {
  return descending ? static_cast<K>(~K{0}) : K{0};
}

template <class T, class Word>
Rows<Word> indexed(const at::Tensor& lines, std::int64_t offset, bool descending) {
  const auto* in = lines.const_data_ptr<T>();
  const auto rows = lines.size(1);
  const auto flip = reversal<KeyOf<T>>(descending);
  Rows<Word> words(lines.numel());
  auto* out = words.data();
  for (std::int64_t c = 0; c < lines.size(0); ++c)
    for (std::int64_t i = 0; i < rows; ++i)
      *out++ = Indexed<Word>::of(static_cast<KeyOf<T>>(Keys<T>::of(*in++) ^ flip), offset + i);
  return words;
}

template <class Word>
at::Tensor positions(const Rows<Word>& words) {
  at::Tensor result = at::empty({words.size()}, at::kLong);
  std::ranges::transform(words, result.data_ptr<std::int64_t>(), Indexed<Word>::position);
  return result;
}

/// Sorts the words' columns, along the split axis of `x` in its layout.
template <class Word>
Rows<Word> sorted(Rows<Word> words, std::int64_t columns, const DNDarray& x, int axis) {
  if (x.split() == axis && x.comm().size() > 1) {
    detail::expect_alike("sort", x);
    const auto& cut = x.layout().cut();
    return detail::sort_across(std::move(words), columns, cut, cut, x.comm());
  }
  detail::sort_columns(words, columns);
  return words;
}

template <class T>
at::Tensor sorted_lines(const at::Tensor& lines, const DNDarray& x, int axis, bool descending) {
  using K = KeyOf<T>;
  const auto flip = reversal<K>(descending);
  Rows<K> keys(lines.numel());
  std::transform(lines.const_data_ptr<T>(), lines.const_data_ptr<T>() + lines.numel(), keys.data(),
                 [=](T value) { return static_cast<K>(Keys<T>::template of<Zeros::ordered>(value) ^ flip); });
  keys = sorted(std::move(keys), lines.size(0), x, axis);
  const auto result = keys.bytes().view(lines.scalar_type()).view({keys.size()});  // the elements take the keys' memory
  std::ranges::transform(keys, result.template data_ptr<T>(),
                         [=](K key) { return Keys<T>::element(static_cast<K>(key ^ flip)); });
  return result;
}

/// Moves the `k` smallest words of each of `columns` columns to its front and drops the others.
template <class Word>
Rows<Word> smallest(Rows<Word> words, std::int64_t columns, std::int64_t k) {
  const auto rows = columns > 0 ? words.size() / columns : 0;
  if (k >= rows) return words;
  Rows<Word> best(columns * k);
  const auto room = 4 * k + 1024;  // candidates, before most of them are dropped
  for (std::int64_t c = 0; c < columns; ++c) {
    auto* const candidates = words.data() + c * rows;
    std::int64_t count = 0;
    auto bound = static_cast<Word>(~Word{0});
    const auto prune = [&] {
      std::nth_element(candidates, candidates + k, candidates + count);
      bound = candidates[k];
      count = k;
    };
    for (std::int64_t i = 0; i < rows; ++i) {
      candidates[count] = candidates[i];
      count += candidates[i] < bound;
      if (count == room) prune();
    }
    if (count > k) prune();
    std::copy(candidates, candidates + k, best.data() + c * k);
  }
  return best;
}

/// Returns a cut whose ranks hold as many indices as those of `cut`, but `most` at most.
detail::Cut cut_up_to(const detail::Cut& cut, std::int64_t most) {
  std::vector<std::int64_t> offsets{0};
  for (int r = 0; r < cut.ranks(); ++r) offsets.push_back(offsets.back() + std::min(most, cut.extent(r)));
  return detail::Cut::at(std::move(offsets));
}

void check_kth(const char* op, const DNDarray& x, std::int64_t kth, const std::optional<int>& axis) {
  if (x.size() == 0) return;
  const auto n = axis ? x.shape()[static_cast<std::size_t>(sanitize_axis(*axis, x.ndim(), op))] : x.size();
  if (kth < -n || kth >= n)
    detail::raise<ValueError>(op, "got kth = {} for an array of shape {}; expected {} <= kth < {}", kth,
                              to_string(x.shape()), -n, n);
}

}  // namespace

DNDarray sort(const DNDarray& array, const SortOptions& options) {
  const auto [x, axis] = detail::with_axis("sort", array, options.axis);
  const auto lines = detail::lines_along(x.larray(), axis);
  const auto result = detail::with_element_type(lines.scalar_type(), [&, &x = x, axis = axis]<class T>() {
    return sorted_lines<T>(lines, x, axis, options.descending);
  });
  return detail::from_lines(result, axis, x.layout(), x);
}

DNDarray argsort(const DNDarray& array, const SortOptions& options) {
  if (array.ndim() == 0) return argsort(flatten(array), options);
  const auto [x, axis] = detail::with_axis("argsort", array, options.axis);
  if (x.dtype() == complex128) return argsort(detail::codes_of(x).codes, {axis, options.descending});
  const auto lines = detail::lines_along(x.larray(), axis);
  const auto offset = x.split() == axis ? x.layout().offset(x.comm().rank()) : 0;
  const auto n = x.shape()[static_cast<std::size_t>(axis)];
  const auto result = with_word_type(lines.scalar_type(), n, [&, &x = x, axis = axis]<class T, class Word>() {
    return positions(sorted(indexed<T, Word>(lines, offset, options.descending), lines.size(0), x, axis));
  });
  return detail::from_lines(result, axis, x.layout(), x);
}

DNDarray partition(const DNDarray& x, const std::vector<std::int64_t>& kth, std::optional<int> axis) {
  for (const auto k : kth) check_kth("partition", x, k, axis);
  return sort(x, {.axis = axis});
}
DNDarray partition(const DNDarray& x, std::int64_t kth, std::optional<int> axis) {
  return partition(x, std::vector{kth}, axis);
}

DNDarray argpartition(const DNDarray& x, const std::vector<std::int64_t>& kth, std::optional<int> axis) {
  if (x.ndim() == 0) return argpartition(flatten(x), kth, axis);
  for (const auto k : kth) check_kth("argpartition", x, k, axis);
  return argsort(x, {.axis = axis});
}
DNDarray argpartition(const DNDarray& x, std::int64_t kth, std::optional<int> axis) {
  return argpartition(x, std::vector{kth}, axis);
}

DNDarray sort_complex(const DNDarray& x) {
  const bool narrow = x.dtype() == complex64 || (is_integral(x.dtype()) && itemsize(x.dtype()) <= 2);
  return sort(x).astype(narrow ? complex64 : complex128);
}

DNDarray lexsort(const std::vector<DNDarray>& keys, int chosen) {
  if (keys.empty()) detail::raise<ValueError>("lexsort", "got no keys; expected at least one");
  for (const auto& key : keys)
    if (key.shape() != keys.front().shape())
      detail::raise<ValueError>("lexsort", "got keys of shapes {} and {}; expected equal shapes",
                                to_string(keys.front().shape()), to_string(key.shape()));
  const auto axis = sanitize_axis(chosen, std::max(1, keys.front().ndim()), "lexsort");
  auto code = keys.back();
  for (auto key = keys.rbegin() + 1; key != keys.rend(); ++key) {
    const auto minor = detail::codes_of(*key);
    code = detail::codes_of(code).codes * minor.count + minor.codes;
  }
  return code.ndim() == 0 ? reshape(argsort(code), {}) : argsort(code, axis);
}

Topk topk(const DNDarray& array, std::int64_t k, const TopkOptions& options) {
  const auto [x, axis] = detail::with_axis("topk", array, options.axis);
  const auto n = x.shape()[static_cast<std::size_t>(axis)];
  if (k < 0 || k > n)
    detail::raise<ValueError>("topk", "got k = {} for axis {} of an array of shape {}; expected 0 <= k <= {}", k, axis,
                              to_string(x.shape()), n);
  detail::check_real("topk", x.dtype());
  auto shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = k;
  const bool over_split = x.split() == axis;
  const auto layout = over_split ? Layout(shape, axis, x.comm().size()) : x.layout().with(shape, x.split());
  const auto lines = detail::lines_along(x.larray(), axis);
  const auto columns = lines.size(0), offset = over_split ? x.layout().offset(x.comm().rank()) : 0;

  return with_word_type(lines.scalar_type(), n, [&, &x = x, axis = axis]<class T, class Word>() {
    auto words = smallest(indexed<T, Word>(lines, offset, options.largest), columns, k);
    if (over_split && x.comm().size() > 1)
      words = detail::sort_across(std::move(words), columns, cut_up_to(x.layout().cut(), k), layout.cut(), x.comm());
    else detail::sort_columns(words, columns);
    const auto flip = reversal<KeyOf<T>>(options.largest);
    auto values = at::empty({words.size()}, lines.options());
    std::ranges::transform(words, values.template data_ptr<T>(), [=](Word word) {
      return Keys<T>::element(static_cast<KeyOf<T>>(static_cast<KeyOf<T>>(Indexed<Word>::key(word)) ^ flip));
    });
    return Topk{detail::from_lines(values, axis, layout, x), detail::from_lines(positions(words), axis, layout, x)};
  });
}

}  // namespace heatpp
