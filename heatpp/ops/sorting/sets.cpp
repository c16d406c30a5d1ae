#include <heatpp/ops/sorting/sets.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/calculus/calculus.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/detail/align.hpp>
#include <heatpp/ops/operands/detail/element_type.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/shape/reshape.hpp>
#include <heatpp/ops/sorting/detail/distinct.hpp>
#include <heatpp/ops/sorting/detail/looked_up.hpp>
#include <heatpp/ops/sorting/detail/slices.hpp>

#include <algorithm>

namespace heatpp {
namespace {

using detail::ByKey;
using detail::KeyOf;
using detail::Keys;
using detail::Rows;
using detail::Same;

template <class T>
DNDarray from_keys(const Rows<KeyOf<T>>& keys, bool split, const DNDarray& like) {
  auto values = at::empty({keys.size()}, c10::CppTypeToScalarType<T>::value);
  std::ranges::transform(keys, values.template data_ptr<T>(), Keys<T>::element);
  return detail::wrap(values.to(like.larray().device()), detail::layout_of_parts(keys.size(), split, like.comm()),
                      like.comm());
}

DNDarray unique_elements(const DNDarray& array, Same same) {
  const auto x = detail::one_cut("unique", array);
  detail::expect_alike("unique", x);
  return detail::with_element_type(x.larray().scalar_type(), [&]<class T>() {
    auto keys = detail::distinct_keys<T>(x.larray(), same);
    if (x.split()) keys = detail::by_key(std::move(keys), x.comm(), detail::same_key<T>(same)).distinct;
    return from_keys<T>(keys, x.split().has_value(), x);
  });
}

/// Returns `block` as an array with the layout of the other parts of a Distinct.
DNDarray part(const detail::Distinct& found, const at::Tensor& block, const DNDarray& x) {
  return detail::wrap(block.to(x.larray().device()), found.layout, x.comm());
}
DNDarray inverse_of(const detail::Distinct& found, const DNDarray& x) {
  return detail::wrap(found.inverse.to(x.larray().device()), x.layout(), x.comm());
}

// The arrays that an element is in.
constexpr std::uint8_t in_a = 1, in_b = 2, in_both = in_a | in_b;

/// Two arrays in one dtype, and whether either is split.
struct Pair {
  DNDarray a, b;
  bool split;
};

Pair paired(const char* op, const DNDarray& a, const DNDarray& b, Dtype dtype) {
  detail::check_same_comm(op, a.comm(), b.comm());
  return {detail::one_cut(op, a).astype(dtype), detail::one_cut(op, b).astype(dtype),
          a.layout().is_cut() || b.layout().is_cut()};
}

Pair promoted(const char* op, const DNDarray& a, const DNDarray& b) {
  return paired(op, a, b, promote_types(a.dtype(), b.dtype()));
}
Pair compared(const char* op, const DNDarray& a, const DNDarray& b) {
  return paired(op, a, b, detail::comparison_type(a.dtype(), b.dtype()));
}

/// Returns the elements of a block that this rank handles: a share of a replicated one if ranks work together.
at::Tensor share_of(const DNDarray& x, bool split) {
  if (x.split() || !split) return x.larray();
  const Layout even({x.size()}, 0, x.comm().size());
  return x.larray().reshape({-1}).narrow(0, even.offset(x.comm().rank()), even.count(x.comm().rank()));
}

/// The keys of two rising lists, and the lists that hold each key.
template <class K>
struct Membership {
  Rows<K> keys;
  Rows<std::uint8_t> where;
};
template <class K>
Membership<K> membership(const Rows<K>& a, const Rows<K>& b) {
  Membership<K> members{Rows<K>(a.size() + b.size()), Rows<std::uint8_t>(a.size() + b.size())};
  std::int64_t n = 0, i = 0, j = 0;
  const auto add = [&](K key, bool from_a, bool from_b) {  // without branches, which would be mispredicted
    members.keys[n] = key;
    members.where[n++] = static_cast<std::uint8_t>(from_a * in_a | from_b * in_b);
    i += from_a;
    j += from_b;
  };
  while (i < a.size() && j < b.size()) add(std::min(a[i], b[j]), a[i] <= b[j], b[j] <= a[i]);
  while (i < a.size()) add(a[i], true, false);
  while (j < b.size()) add(b[j], false, true);
  members.keys.shrink(n);
  members.where.shrink(n);
  return members;
}

/// Returns which of the two arrays hold each distinct key.
template <class K>
Rows<std::uint8_t> united(const ByKey<K>& keys, const Rows<std::uint8_t>& arrived) {
  Rows<std::uint8_t> where(keys.distinct.size());
  std::ranges::fill(where, 0);
  keys.each_place([&](std::int64_t i, std::int64_t place) { where[place] |= arrived[i]; });
  return where;
}

/// Selects elements as often as `times(where, is_nan)` says.
template <class Times>
DNDarray select_members(const Pair& pair, Times times) {
  const auto& [a, b, split] = pair;
  return detail::with_element_type(a.larray().scalar_type(), [&, &a = a, &b = b, split = split]<class T>() {
    auto members =
        membership(detail::distinct_keys<T>(share_of(a, split)), detail::distinct_keys<T>(share_of(b, split)));
    const auto keys = detail::by_key(std::move(members.keys), split ? a.comm() : self());
    const auto where = united(keys, keys.there(members.where));
    Rows<KeyOf<T>> chosen(keys.distinct.size() + 1);  // NaN may be selected twice
    auto* end = chosen.begin();
    for (std::int64_t i = 0; i < where.size(); ++i)
      end = std::fill_n(end, times(where[i], detail::is_nan_key<T>(keys.distinct[i])), keys.distinct[i]);
    chosen.shrink(end - chosen.begin());
    return from_keys<T>(chosen, split, a);
  });
}

/// Returns for each key whether it is in both arrays, looked up where the key was sent.
template <class K>
Rows<std::uint8_t> found_in_both(Membership<K>& members, const Communicator& comm) {
  const auto keys = detail::by_key(std::move(members.keys), comm);
  const auto arrived = keys.there(members.where);
  const auto where = united(keys, arrived);
  Rows<std::uint8_t> found(arrived.size());
  keys.each_place([&](std::int64_t i, std::int64_t place) { found[i] = where[place] == in_both; });
  return keys.back(found);
}

template <class T>
at::Tensor is_member(const DNDarray& x, const DNDarray& test, bool split) {
  auto wanted = detail::distinct_keys<T>(test.larray());
  wanted.shrink(std::remove_if(wanted.begin(), wanted.end(), detail::is_nan_key<T>) - wanted.begin());
  if (!split)
    if (const auto found = detail::looked_up<T>(x.larray(), wanted)) return *found;
  auto groups = detail::group_elements<T>(x, Same::set_key, {.inverse = true});
  auto members = membership(groups.keys, wanted);
  groups.keys = wanted = Rows<KeyOf<T>>();  // the exchange needs their memory
  auto found = found_in_both(members, split ? x.comm() : self());
  std::int64_t n = 0;  // keeps the answers for x
  for (std::int64_t i = 0; i < found.size(); ++i) {
    found[n] = found[i];
    n += (members.where[i] & in_a) != 0;
  }
  auto result = at::empty(x.lshape(), at::kBool);
  std::ranges::transform(groups.inverse, result.data_ptr<bool>(),
                         [&](std::int64_t group) { return found[group] != 0; });
  return result;
}

}  // namespace

DNDarray unique(const DNDarray& x, const UniqueOptions& options) {
  const auto axis = options.axis ? sanitize_axis(*options.axis, x.ndim(), "unique") : 0;
  if (options.axis && x.ndim() > 1) return detail::unique_slices(x, axis);
  return unique_elements(x, options.equal_nan ? Same::set_key : Same::apart_nan);
}

DNDarray unique_values(const DNDarray& x) { return unique_elements(x, Same::apart_nan); }

UniqueCounts unique_counts(const DNDarray& array) {
  const auto x = detail::one_cut("unique_counts", array);
  const auto found = detail::distinct(x, Same::apart_nan, {.counts = true});
  return {part(found, found.values, x), part(found, found.counts, x)};
}

UniqueInverse unique_inverse(const DNDarray& array) {
  const auto x = detail::one_cut("unique_inverse", array);
  const auto found = detail::distinct(x, Same::apart_nan, {.inverse = true});
  return {part(found, found.values, x), inverse_of(found, x)};
}

UniqueAll unique_all(const DNDarray& array) {
  const auto x = detail::one_cut("unique_all", array);
  const auto found = detail::distinct(x, Same::apart_nan, {.indices = true, .inverse = true, .counts = true});
  return {part(found, found.values, x), part(found, found.indices, x), inverse_of(found, x),
          part(found, found.counts, x)};
}

UniqueAll unique_all(const DNDarray& x, int axis) {
  auto found = detail::group_slices(x, sanitize_axis(axis, x.ndim(), "unique_all"));
  return {std::move(found.values), std::move(found.indices), std::move(found.inverse), std::move(found.counts)};
}

DNDarray intersect1d(const DNDarray& a, const DNDarray& b) {
  return select_members(promoted("intersect1d", a, b),
                        [](auto where, bool nan) { return where == in_both && !nan ? 1 : 0; });
}
Intersection intersect1d_indices(const DNDarray& a, const DNDarray& b) {
  const auto in_one = unique_all(a), in_other = unique_all(b);
  const auto common = isin(in_one.values, b), also = isin(in_other.values, a);
  const auto dtype = promote_types(a.dtype(), b.dtype());
  return {in_one.values.index({common}).astype(dtype), in_one.indices.index({common}), in_other.indices.index({also})};
}
DNDarray union1d(const DNDarray& a, const DNDarray& b) {
  return select_members(promoted("union1d", a, b), [](auto, bool) { return 1; });
}
DNDarray setdiff1d(const DNDarray& a, const DNDarray& b) {
  if (is_whole(a.dtype()) && !is_whole(b.dtype())) {  // a common floating dtype would round them
    const auto values = unique(a);
    return values.index({isin(values, b, {.invert = true})});
  }
  const auto times = [](auto where, bool nan) { return where == in_a || (nan && where == in_both) ? 1 : 0; };
  const auto members = select_members(compared("setdiff1d", a, b), times);
  return (is_complex(a.dtype()) ? members : real(members)).astype(a.dtype());
}
DNDarray setxor1d(const DNDarray& a, const DNDarray& b) {
  return select_members(promoted("setxor1d", a, b), [](auto where, bool nan) {
    return where != in_both ? 1 : nan ? 2 : 0;
  });
}

DNDarray isin(const DNDarray& array, const DNDarray& test_array, const IsinOptions& options) {
  auto [x, test, split] = compared("isin", array, test_array);
  if (test.split() && test.size() <= detail::few_keys) test = resplit(test, std::nullopt);
  auto member = detail::with_element_type(x.larray().scalar_type(), [&, &x = x, &test = test]<class T>() {
    return is_member<T>(x, test, test.split().has_value());
  });
  if (options.invert) member.logical_not_();
  return detail::wrap(member.to(x.larray().device()), x.layout(), x.comm());
}

DNDarray ediff1d(const DNDarray& array, const Ediff1dOptions& options) {
  if (array.dtype() == bool_)
    detail::raise<TypeError>("ediff1d", "got an array of bool; expected numbers, which can be subtracted");
  const auto x = diff(flatten(array));
  auto local = x.larray();
  for (const auto* numbers : {&options.to_begin, &options.to_end})
    for (const auto& number : *numbers) detail::check_kind("ediff1d", number.default_dtype(), x.dtype());
  const auto values = [&](const std::vector<Scalar>& numbers) {
    auto block = at::empty({std::ssize(numbers)}, local.options());
    for (std::int64_t i = 0; i < block.numel(); ++i)
      block[i].fill_(detail::element_of(numbers[static_cast<std::size_t>(i)], x.dtype()));
    return block;
  };
  if (options.to_begin.empty() && options.to_end.empty()) return x;
  const int last = x.comm().size() - 1;
  if (!x.split() || x.comm().rank() == 0) local = at::cat({values(options.to_begin), local});
  if (!x.split() || x.comm().rank() == last) local = at::cat({local, values(options.to_end)});
  if (!x.split()) return detail::wrap(local, x.layout().replicated({local.numel()}), x.comm());
  std::vector<std::int64_t> counts;
  for (int r = 0; r <= last; ++r) counts.push_back(x.layout().count(r));
  counts.front() += std::ssize(options.to_begin);
  counts.back() += std::ssize(options.to_end);
  return detail::wrap(local, Layout::from_counts({0}, 0, counts), x.comm());
}

}  // namespace heatpp
