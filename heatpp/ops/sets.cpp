#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/calculus.hpp>
#include <heatpp/ops/detail/align.hpp>
#include <heatpp/ops/detail/distinct.hpp>
#include <heatpp/ops/detail/looked_up.hpp>
#include <heatpp/ops/detail/slices.hpp>
#include <heatpp/ops/index.hpp>
#include <heatpp/ops/reshape.hpp>
#include <heatpp/ops/sets.hpp>

#include <algorithm>

namespace heatpp {
namespace {

using detail::Entry;
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

template <class T>
DNDarray unique_elements(const DNDarray& x) {
  auto keys = detail::distinct_keys<T>(x.larray());
  if (x.split() && x.comm().size() > 1) {
    keys = detail::route_by_key(keys, x.comm()).merged;
    keys.shrink(std::unique(keys.begin(), keys.end()) - keys.begin());
  }
  return from_keys<T>(keys, x.split().has_value(), x);
}

/// `block` as an array with the layout that the other parts of a Distinct have.
DNDarray part(const detail::Distinct& found, const at::Tensor& block, const DNDarray& x) {
  return detail::wrap(block.to(x.larray().device()), found.layout, x.comm());
}
DNDarray inverse_of(const detail::Distinct& found, const DNDarray& x) {
  return detail::wrap(found.inverse.to(x.larray().device()), x.layout(), x.comm());
}

// Which of two arrays an element is in.
constexpr std::int64_t in_a = 1, in_b = 2, in_both = in_a | in_b;

/// Two arrays in one dtype, and whether either is split.
struct Pair {
  DNDarray a, b;
  bool split;
};

Pair paired(const char* op, const DNDarray& a, const DNDarray& b, Dtype dtype) {
  if (!(a.comm() == b.comm()))
    detail::raise<CommError>(op, "got arrays on different communicators, of {} and {} ranks; expected one communicator",
                             a.comm().size(), b.comm().size());
  return {a.astype(dtype), b.astype(dtype), a.split() || b.split()};
}

Pair promoted(const char* op, const DNDarray& a, const DNDarray& b) {
  return paired(op, a, b, promote_types(a.dtype(), b.dtype()));
}
Pair compared(const char* op, const DNDarray& a, const DNDarray& b) {
  return paired(op, a, b, detail::comparison_type(a.dtype(), b.dtype()));
}

/// The elements of a block that this rank speaks for: a share of a replicated one where ranks work together.
at::Tensor share_of(const DNDarray& x, bool split) {
  if (x.split() || !split) return x.larray();
  const Layout even({x.size()}, 0, x.comm().size());
  return x.larray().reshape({-1}).narrow(0, even.offset(x.comm().rank()), even.count(x.comm().rank()));
}

/// The keys of two rising lists with the lists they are in.
template <class K>
Rows<Entry<K>> membership(const Rows<K>& a, const Rows<K>& b) {
  Rows<Entry<K>> entries(a.size() + b.size());
  std::int64_t n = 0, i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const bool from_a = j == b.size() || (i < a.size() && a[i] <= b[j]);
    const bool from_b = i == a.size() || (j < b.size() && b[j] <= a[i]);
    entries[n++] = {from_a ? a[i] : b[j], 0, (from_a ? in_a : 0) | (from_b ? in_b : 0)};
    i += from_a;
    j += from_b;
  }
  entries.shrink(n);
  return entries;
}

/// Combines neighbours with one key.
template <class K>
void unite(Rows<Entry<K>>& rows) {
  std::int64_t n = 0;
  for (const auto& row : rows) {
    if (n > 0 && rows[n - 1].key == row.key) rows[n - 1].count |= row.count;
    else rows[n++] = row;
  }
  rows.shrink(n);
}

/// The elements that `times(where, is_nan)` wants, as often as it says.
template <class Times>
DNDarray select_members(const Pair& pair, Times times) {
  const auto& [a, b, split] = pair;
  return detail::with_element_type(a.larray().scalar_type(), [&, &a = a, &b = b, split = split]<class T>() {
    using K = KeyOf<T>;
    auto members = detail::route_by_key(membership<K>(detail::distinct_keys<T>(share_of(a, split)),
                                                      detail::distinct_keys<T>(share_of(b, split))),
                                        split ? a.comm() : self())
                       .merged;
    unite(members);
    Rows<K> chosen(2 * members.size());
    auto* end = chosen.begin();
    for (const auto& member : members)
      end = std::fill_n(end, times(member.count, detail::is_nan_key<T>(member.key)), member.key);
    chosen.shrink(end - chosen.begin());
    return from_keys<T>(chosen, split, a);
  });
}

/// For each entry whether it is in both arrays, looked up where its key went.
template <class K>
Rows<std::int64_t> found_in_both(const Rows<Entry<K>>& entries, const Communicator& comm) {
  auto routed = detail::route_by_key(entries, comm);
  auto& members = routed.merged;
  unite(members);
  Rows<std::int64_t> found(routed.arrived.size());
  std::ranges::transform(routed.arrived, found.begin(), [&](const Entry<K>& entry) {
    return std::int64_t{std::lower_bound(members.begin(), members.end(), entry, detail::precedes<K>)->count == in_both};
  });
  return detail::answer(routed, found, comm);
}

template <class T>
at::Tensor is_member(const DNDarray& x, const DNDarray& test, bool split) {
  using K = KeyOf<T>;
  auto wanted = detail::distinct_keys<T>(test.larray());
  wanted.shrink(std::remove_if(wanted.begin(), wanted.end(), detail::is_nan_key<T>) - wanted.begin());
  if (!split)
    if (const auto found = detail::looked_up<T>(x.larray(), wanted)) return *found;
  const auto groups = detail::group_elements<T>(x, Same::set_key);
  Rows<K> keys(groups.entries.size());
  std::ranges::transform(groups.entries, keys.begin(), &Entry<K>::key);
  const auto entries = membership<K>(keys, wanted);
  const auto found = found_in_both(entries, split ? x.comm() : self());
  Rows<bool> member(keys.size());
  std::int64_t k = 0;
  for (std::int64_t e = 0; e < entries.size(); ++e)
    if (entries[e].count & in_a) member[k++] = found[e] != 0;
  auto result = at::empty(x.lshape(), at::kBool);
  std::ranges::transform(groups.group, result.data_ptr<bool>(), [&](std::int64_t group) { return member[group]; });
  return result;
}

}  // namespace

DNDarray unique(const DNDarray& x, const UniqueOptions& options) {
  const auto axis = options.axis ? sanitize_axis(*options.axis, x.ndim(), "unique") : 0;
  if (options.axis && x.ndim() > 1) return detail::unique_slices(x, axis);
  if (!options.equal_nan) return unique_values(x);
  return detail::with_element_type(x.larray().scalar_type(), [&]<class T>() { return unique_elements<T>(x); });
}

DNDarray unique_values(const DNDarray& x) {
  const auto found = detail::distinct(x, Same::apart_nan, false);
  return part(found, found.values, x);
}

UniqueCounts unique_counts(const DNDarray& x) {
  const auto found = detail::distinct(x, Same::apart_nan, false);
  return {part(found, found.values, x), part(found, found.counts, x)};
}

UniqueInverse unique_inverse(const DNDarray& x) {
  const auto found = detail::distinct(x, Same::apart_nan, true);
  return {part(found, found.values, x), inverse_of(found, x)};
}

UniqueAll unique_all(const DNDarray& x) {
  const auto found = detail::distinct(x, Same::apart_nan, true);
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
  if (is_whole(a.dtype()) && !is_whole(b.dtype())) {  // meeting in floating point they would be rounded
    const auto values = unique(a);
    return values.index({isin(values, b, {.invert = true})});
  }
  const auto times = [](auto where, bool nan) { return where == in_a || (nan && where == in_both) ? 1 : 0; };
  return select_members(compared("setdiff1d", a, b), times).astype(a.dtype());
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
