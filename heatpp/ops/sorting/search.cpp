#include <heatpp/ops/sorting/search.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/peers/few_ranks.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/calculus/halo.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/indexing/detail/positions.hpp>
#include <heatpp/ops/operands/detail/as_array.hpp>
#include <heatpp/ops/operands/detail/bisect.hpp>
#include <heatpp/ops/operands/detail/element_type.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/sorting/detail/first_keys.hpp>
#include <heatpp/ops/sorting/detail/runs.hpp>

#include <algorithm>
#include <bit>

namespace heatpp {
namespace {

using detail::KeyOf;
using detail::Keys;
using detail::Rows;

template <class T>
Rows<KeyOf<T>> keys_of(const at::Tensor& block) {
  const at::Tensor elements = block.to(c10::CppTypeToScalarType<T>::value).cpu().contiguous();
  Rows<KeyOf<T>> keys(elements.numel());
  std::transform(elements.const_data_ptr<T>(), elements.const_data_ptr<T>() + elements.numel(), keys.begin(),
                 [](T value) { return Keys<T>::of(value); });
  return keys;
}

/// Calls f(before), which tells whether a key precedes the place of `key`.
template <class K, class F>
std::int64_t on_side(Side side, K key, F f) {
  if (side == Side::left) return f([key](K other) { return other < key; });
  return f([key](K other) { return other <= key; });
}

/// Returns the number of `keys` before the place of `key`.
template <class K>
std::int64_t place(std::span<const K> keys, K key, Side side) {
  return on_side(side, key, [&](auto before) { return detail::count_before(keys.data(), std::ssize(keys), before); });
}

/// Finds the places of many keys in their order, so that neighbors are looked up in the same memory.
template <class K>
void find_in_order(std::span<const K> keys, const Rows<K>& wanted, Side side, Rows<std::int64_t>& result) {
  using Word = std::conditional_t<sizeof(K) <= 4, std::uint64_t, detail::Key128>;
  using detail::Indexed;
  Rows<Word> words(wanted.size());
  for (std::int64_t i = 0; i < wanted.size(); ++i) words[i] = Indexed<Word>::of(wanted[i], i);
  detail::sort_keys(words.data(), words.size());
  std::int64_t first = 0;  // keys before all that are left
  for (const auto word : words) {
    first += on_side(side, static_cast<K>(Indexed<Word>::key(word)), [&](auto before) {
      return detail::count_few_before(keys.data() + first, std::ssize(keys) - first, before);
    });
    result[Indexed<Word>::position(word)] = first;
  }
}

constexpr std::int64_t cached = 1 << 16;  // keys

template <class K>
Rows<std::int64_t> places(const Rows<K>& keys, const Rows<K>& wanted, Side side) {
  constexpr std::int64_t many = 1 << 12;
  const auto all = keys.part(0, keys.size());
  Rows<std::int64_t> result(wanted.size());
  if constexpr (sizeof(K) <= 8)
    if (keys.size() > cached && wanted.size() > many && wanted.size() < std::int64_t{1} << 32) {
      find_in_order(all, wanted, side, result);
      return result;
    }
  std::ranges::transform(wanted, result.begin(), [&](K key) { return place(all, key, side); });
  return result;
}

/// Finds the places of so few keys that the elements between them are fewer than all: only those become keys.
template <class T>
Rows<std::int64_t> places_of_few(const at::Tensor& sorted, const Rows<KeyOf<T>>& wanted, Side side) {
  const auto n = sorted.size(0);
  Rows<std::int64_t> found(wanted.size());
  std::ranges::fill(found, 0);
  const at::Tensor ends = at::empty({wanted.size()}, at::kLong);
  auto* const end = ends.data_ptr<std::int64_t>();
  for (auto step = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n))); step > 0; step /= 2) {
    std::ranges::transform(found, end, [&](auto place) { return std::min(place + step, n) - 1; });
    const auto keys = keys_of<T>(sorted.index_select(0, ends.to(sorted.device())));
    for (std::int64_t i = 0; i < wanted.size(); ++i)
      if (found[i] + step <= n && place(keys.part(i, i + 1), wanted[i], side) > 0) found[i] += step;
  }
  return found;
}

template <class T>
Rows<std::int64_t> places_in(const at::Tensor& sorted, const Rows<KeyOf<T>>& wanted, Side side) {
  constexpr std::int64_t steps = 32;  // for a place among 2^32
  if (wanted.size() < sorted.numel() / steps) return places_of_few<T>(sorted, wanted, side);
  return places(keys_of<T>(sorted), wanted, side);
}

/// Finds the places of a block's elements, which become keys in pieces if all of the others fit in the cache.
template <class T>
Rows<std::int64_t> places_here(const at::Tensor& sorted, const at::Tensor& block, Side side) {
  constexpr std::int64_t piece = 1 << 12;
  if (sorted.numel() > cached || block.numel() <= piece) return places_in<T>(sorted, keys_of<T>(block), side);
  const auto keys = keys_of<T>(sorted);
  const auto all = keys.part(0, keys.size());
  Rows<std::int64_t> result(block.numel());
  auto* out = result.data();
  for (const auto& part : block.cpu().reshape({-1}).split(piece))
    out = std::ranges::transform(keys_of<T>(part), out, [&](auto key) { return place(all, key, side); }).out;
  return result;
}

/// Sends each wanted key to the rank of its place, and the places back.
template <class T, class K = KeyOf<T>>
Rows<std::int64_t> routed_places(const DNDarray& sorted, const Rows<K>& wanted, Side side) {
  const auto& comm = sorted.comm();
  const detail::FirstKey<K> first{keys_of<T>(sorted.larray().slice(0, 0, 1)), sorted.layout().cut()};
  const auto find = [&](const Rows<K>& keys) {
    auto found = places_in<T>(sorted.larray(), keys, side);
    for (auto& place : found) place += first.cut.first(comm.rank());
    return found;
  };
  return comm.size() <= detail::few_ranks ? detail::found_by_owners<K>(first, wanted, side, comm, find)
                                          : detail::found_by_groups<K>(first, wanted, side, comm, find);
}

/// Whether to gather `a` takes fewer bytes for a rank than to look up `v` where `a` lies.
bool cheaper_gathered(const DNDarray& a, const DNDarray& v, std::int64_t key_bytes) {
  const auto asked = v.layout().is_cut() ? v.size() / v.comm().size() * (key_bytes + 8) : v.size() * 8;
  return nbytes(a) <= asked || a.size() == 0;
}

template <class T>
Rows<std::int64_t> search(const DNDarray& a, const DNDarray& v, Side side) {
  if (!a.split() || a.comm().size() == 1) return places_here<T>(a.larray(), v.larray(), side);
  if (cheaper_gathered(a, v, sizeof(KeyOf<T>)))
    return places_here<T>(resplit(a, std::nullopt).larray(), v.larray(), side);
  const auto wanted = keys_of<T>(v.larray());
  if (v.layout().is_cut()) return routed_places<T>(a, wanted, side);
  auto found = places_in<T>(a.larray(), wanted, side);
  a.comm().allreduce({found.data(), found.size(), int64});
  return found;
}

/// Returns `a` in the order of the positions in `sorter`.
DNDarray in_order(const DNDarray& a, const DNDarray& sorter) {
  constexpr const char* op = "searchsorted";
  if (!is_integral(sorter.dtype()))
    detail::raise<TypeError>(op, "got a sorter of {}; expected whole numbers", name(sorter.dtype()));
  if (a.ndim() != 1 || sorter.shape() != a.shape())
    detail::raise<ValueError>(op,
                              "got a sorter of shape {} for an array of shape {}; expected one axis and equal shapes",
                              to_string(sorter.shape()), to_string(a.shape()));
  detail::check_positions(op, a, sorter);
  detail::check_range<ValueError>(op, sorter, a.size());
  return a.index({sorter});
}

DNDarray find_places(const char* op, const DNDarray& given, const DNDarray& values, Side side) {
  if (given.ndim() != 1)
    detail::raise<ValueError>(op, "got a sorted array of shape {}; expected one axis", to_string(given.shape()));
  const auto sorted = detail::one_cut(op, given);
  detail::check_same_comm(op, sorted.comm(), values.comm());
  const auto dtype = detail::comparison_type(sorted.dtype(), values.dtype());
  const auto found =
      detail::with_element_type(detail::to_torch(dtype), [&]<class T>() { return search<T>(sorted, values, side); });
  const auto block = found.bytes().view(at::kLong).view(values.lshape());
  return detail::wrap(block.to(values.larray().device()), values.layout(), values.comm());
}

/// Whether bins rise. Throws if they do neither. The first two that differ decide, as in NumPy, if some are
/// NaN.
bool rise(const char* op, const DNDarray& bins) {
  const auto edges = array_with_halos(bins, {.width = 0, .behind = 1});
  const auto pairs = std::max<std::int64_t>(0, edges.size(0) - 1);
  const auto left = edges.slice(0, 0, pairs), right = edges.slice(0, edges.size(0) - pairs);
  std::vector<std::int64_t> first;  // differences that rise and fall
  for (const auto& found : {at::ne(left, right), at::lt(left, right), at::gt(left, right)}) {
    const auto places = found.nonzero();
    const auto offset = bins.split() ? bins.layout().offset(bins.comm().rank()) : 0;
    first.push_back(places.numel() > 0 ? places[0].item<std::int64_t>() + offset : bins.size());
  }
  if (bins.split()) bins.comm().allreduce(first, ReduceOp::min);
  const bool rises = first[0] == first[1];
  if (first[rises ? 2 : 1] < bins.size())
    detail::raise<ValueError>(op, "got bins that rise and fall; expected bins that do one of both");
  return rises;
}

}  // namespace

DNDarray searchsorted(const DNDarray& a, const Operand& v, const SearchOptions& options) {
  const auto sorted = options.sorter ? in_order(a, *options.sorter) : a;
  const auto values = detail::as_array(v, {.device = a.device(), .comm = a.comm()});
  return find_places("searchsorted", sorted, values, options.side);
}

DNDarray digitize(const DNDarray& x, const DNDarray& given, const BinOptions& options) {
  constexpr const char* op = "digitize";
  const auto bins = detail::one_cut(op, given);
  detail::check_real(op, x.dtype());
  detail::check_real(op, bins.dtype(), "bins");
  if (bins.ndim() != 1)
    detail::raise<ValueError>(op, "got bins of shape {}; expected one axis", to_string(bins.shape()));
  const auto side = options.right ? Side::left : Side::right;
  return rise(op, bins) ? find_places(op, bins, x, side) : bins.size() - find_places(op, flip(bins), x, side);
}

DNDarray bucketize(const DNDarray& x, const DNDarray& boundaries, const BinOptions& options) {
  return find_places("bucketize", boundaries, x, options.right ? Side::right : Side::left);
}

}  // namespace heatpp
