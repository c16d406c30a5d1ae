#include <heatpp/ops/sorting/detail/distinct.hpp>

#include <heatpp/core/detail/alike.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/ops/operands/detail/element_type.hpp>
#include <heatpp/ops/operands/detail/flat_index.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::detail {
namespace {

/// A key of 128 bits and a position.
struct WideWord {
  Key128 key;
  std::int64_t position;
  friend bool operator<(const WideWord& a, const WideWord& b) {
    return a.key != b.key ? a.key < b.key : a.position < b.position;
  }
};

/// Calls f(key, position) in the order of keys, then positions.
template <class K, class KeyAt, class F>
void for_each_sorted(std::int64_t n, KeyAt key_at, F f) {
  if constexpr (sizeof(K) == sizeof(Key128)) {
    Rows<WideWord> words(n);
    for (std::int64_t i = 0; i < n; ++i) words[i] = {key_at(i), i};
    std::sort(words.begin(), words.end());
    for (const auto& word : words) f(word.key, word.position);
  } else {
    const auto sort_as = [&]<class Word>(Word) {
      Rows<Word> words(n);
      for (std::int64_t i = 0; i < n; ++i) words[i] = Indexed<Word>::of(key_at(i), i);
      sort_keys(words.data(), n);
      for (const auto word : words) f(static_cast<K>(Indexed<Word>::key(word)), Indexed<Word>::position(word));
    };
    if (sizeof(K) <= 4 && n < std::int64_t{1} << 32) sort_as(std::uint64_t{});
    else sort_as(Key128{});
  }
}

/// Returns the place of each arrived key among the distinct ones. Keys that stay apart are in the order of `indices`,
/// or, if that is empty, of their arrival.
template <class K>
Rows<std::int64_t> places(const ByKey<K>& keys, const SameKey<K>& same, const Rows<std::int64_t>& indices) {
  Rows<std::int64_t> result(keys.arrived.size());
  std::vector<std::int64_t> apart;
  keys.each_place([&](std::int64_t i, std::int64_t place) {
    result[i] = place;
    if (same.is_apart(keys.arrived[i])) apart.push_back(i);
  });
  std::ranges::stable_sort(
      apart, {}, [&](std::int64_t i) { return std::pair(keys.arrived[i], indices.size() > 0 ? indices[i] : 0); });
  auto place = keys.distinct.size() - std::ssize(apart);
  for (const auto i : apart) result[i] = place++;
  return result;
}

/// Combines the values that arrived at each of n places.
template <class Combine>
at::Tensor combined(const Rows<std::int64_t>& arrived, const Rows<std::int64_t>& places, std::int64_t n,
                    std::int64_t initial, Combine combine) {
  at::Tensor result = at::full({n}, initial, at::kLong);
  auto* out = result.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < places.size(); ++i) out[places[i]] = combine(out[places[i]], arrived[i]);
  return result;
}

template <class T>
Distinct distinct_of(const DNDarray& x, Same how, Parts parts) {
  const auto same = same_key<T>(how);
  const bool sort_apart = same.apart && parts.inverse && x.split().value_or(0) > 0;  // not in order over the ranks
  const bool with_indices = parts.indices || sort_apart;
  auto groups = group_elements<T>(x, how, {with_indices, parts.inverse, parts.counts});
  const auto keys = by_key(std::move(groups.keys), x.split() ? x.comm() : self(), same);
  const auto n = keys.distinct.size();
  Distinct result{
      at::empty({n}, x.larray().scalar_type()), {}, {}, layout_of_parts(n, x.split().has_value(), x.comm()), {}};
  std::ranges::transform(keys.distinct, result.values.template data_ptr<T>(), Keys<T>::element);

  using Column = Rows<std::int64_t>;
  const auto arrived = [&](Column& column) { return keys.there(std::exchange(column, Column())); };  // frees it
  auto indices = with_indices ? arrived(groups.indices) : Column();
  auto place = places(keys, same, indices);
  constexpr auto last = std::numeric_limits<std::int64_t>::max();
  const auto least = [](auto a, auto b) { return std::min(a, b); };
  if (parts.indices) result.indices = combined(std::exchange(indices, Column()), place, n, last, least);
  if (parts.counts) result.counts = combined(arrived(groups.counts), place, n, 0, std::plus<>());
  if (!parts.inverse) return result;
  if (x.split())
    for (const auto offset = result.layout.offset(x.comm().rank()); auto& p : place) p += offset;
  const auto found = keys.back(place);
  std::ranges::transform(groups.inverse, groups.inverse.begin(), [&](std::int64_t group) { return found[group]; });
  result.inverse = groups.inverse.bytes().view(at::kLong).view(x.lshape());
  return result;
}

template <class T>
std::pair<KeyOf<T>, KeyOf<T>> extremes(std::span<const T> elements) {
  auto low = static_cast<KeyOf<T>>(~KeyOf<T>{0}), high = KeyOf<T>{0};
  for (const auto element : elements) {
    low = std::min(low, Keys<T>::of(element));
    high = std::max(high, Keys<T>::of(element));
  }
  return {low, high};
}

/// Whether the range of keys is so small that a table is faster than sorting.
template <class T>
bool narrow(std::span<const T> elements, KeyOf<T> low, KeyOf<T> high) {
  return elements.empty() || static_cast<std::uint64_t>(static_cast<KeyOf<T>>(high - low)) < elements.size() / 4 + 256;
}

/// Returns the distinct keys by a flag for each key in the range.
template <class T>
Rows<KeyOf<T>> flagged_keys(std::span<const T> elements, KeyOf<T> low, KeyOf<T> high) {
  std::vector<std::uint8_t> flags(elements.empty() ? 0 : static_cast<std::size_t>(high - low) + 1);
  for (const auto element : elements) flags[static_cast<std::size_t>(Keys<T>::of(element) - low)] = 1;
  Rows<KeyOf<T>> keys(std::ssize(flags));
  std::int64_t n = 0;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    keys[n] = static_cast<KeyOf<T>>(low + i);
    n += flags[i];
  }
  keys.shrink(n);
  return keys;
}

/// Returns the groups by a table of all keys in the range.
template <class T>
Groups<KeyOf<T>> tabled_groups(std::span<const T> elements, KeyOf<T> low, KeyOf<T> high, const FlatIndex& index,
                               Parts parts) {
  struct Row {
    std::int64_t count = 0, first = 0;  // index of the first element, later the number of the group
  };
  std::vector<Row> table(elements.empty() ? 0 : static_cast<std::size_t>(high - low) + 1);
  const auto row = [&](std::size_t i) -> Row& {
    return table[static_cast<std::size_t>(Keys<T>::of(elements[i]) - low)];
  };
  for (auto i = elements.size(); i-- > 0;) {
    ++row(i).count;
    row(i).first = static_cast<std::int64_t>(i);
  }
  Groups<KeyOf<T>> groups(std::ssize(table), std::ssize(elements), parts);
  std::int64_t n = 0;
  for (std::size_t key = 0; key < table.size(); ++key) {
    if (table[key].count == 0) continue;
    groups.keys[n] = static_cast<KeyOf<T>>(low + key);
    if (parts.indices) groups.indices[n] = index.of(table[key].first);
    if (parts.counts) groups.counts[n] = table[key].count;
    table[key].first = n++;
  }
  groups.shrink(n);
  if (parts.inverse)
    for (std::size_t i = 0; i < elements.size(); ++i) groups.inverse[static_cast<std::int64_t>(i)] = row(i).first;
  return groups;
}

}  // namespace

Layout layout_of_parts(std::int64_t count, bool split, const Communicator& comm) {
  if (!split) return {{count}, std::nullopt, comm.size()};
  return Layout::from_counts({0}, 0, comm.allgather(count));
}

template <class K>
Groups<K>::Groups(std::int64_t n_keys, std::int64_t n_elements, Parts parts)
    : keys(n_keys),
      indices(parts.indices ? n_keys : 0),
      counts(parts.counts ? n_keys : 0),
      inverse(parts.inverse ? n_elements : 0) {}

template <class K>
void Groups<K>::shrink(std::int64_t n) {
  keys.shrink(n);
  indices.shrink(std::min(n, indices.size()));
  counts.shrink(std::min(n, counts.size()));
}

template <class T>
Rows<KeyOf<T>> distinct_keys(const at::Tensor& block, Same same) {
  const auto elements = block.cpu().contiguous();
  const std::span in(elements.const_data_ptr<T>(), static_cast<std::size_t>(elements.numel()));
  if constexpr (std::is_integral_v<T>) {
    const auto [low, high] = extremes(in);
    if (narrow(in, low, high)) return flagged_keys(in, low, high);
  }
  Rows<KeyOf<T>> keys(elements.numel());
  std::ranges::transform(in, keys.begin(), [&](T value) { return key_of(value, same); });
  sort_keys(keys.data(), keys.size());
  keys.shrink(std::unique(keys.begin(), keys.end(), same_key<T>(same)) - keys.begin());
  return keys;
}

template <class T>
Groups<KeyOf<T>> group_elements(const DNDarray& x, Same how, Parts parts) {
  using K = KeyOf<T>;
  const auto block = x.larray().cpu().contiguous();
  const auto* in = block.const_data_ptr<T>();
  const FlatIndex index(x);
  if constexpr (std::is_integral_v<T>) {
    const std::span elements(in, static_cast<std::size_t>(block.numel()));
    const auto [low, high] = extremes(elements);
    if (narrow(elements, low, high)) return tabled_groups(elements, low, high, index, parts);
  }
  Groups<K> groups(block.numel(), block.numel(), parts);
  const auto same = same_key<T>(how);
  std::int64_t n = 0;
  for_each_sorted<K>(
      block.numel(), [&](std::int64_t i) { return key_of(in[i], how); },
      [&](K key, std::int64_t i) {
        if (n == 0 || !same(groups.keys[n - 1], key)) {
          groups.keys[n] = key;
          if (parts.indices) groups.indices[n] = index.of(i);
          if (parts.counts) groups.counts[n] = 0;
          ++n;
        }
        if (parts.counts) ++groups.counts[n - 1];
        if (parts.inverse) groups.inverse[i] = n - 1;
      });
  groups.shrink(n);
  return groups;
}

Distinct distinct(const DNDarray& x, Same same, Parts parts) {
  expect_alike("unique", x);
  return with_element_type(x.larray().scalar_type(), [&]<class T>() { return distinct_of<T>(x, same, parts); });
}

Codes codes_of(const DNDarray& array) {
  const auto x = one_cut("unique", array);
  auto found = distinct(x, Same::key, {.inverse = true});
  const auto count = found.layout.size();
  return {wrap(found.inverse.to(x.larray().device()), x.layout(), x.comm()), count};
}

#define HEATPP_INSTANTIATE(T, name)                                  \
  template Rows<KeyOf<T>> distinct_keys<T>(const at::Tensor&, Same); \
  template Groups<KeyOf<T>> group_elements<T>(const DNDarray&, Same, Parts);
AT_FORALL_SCALAR_TYPES_AND3(Bool, Half, BFloat16, HEATPP_INSTANTIATE)
AT_FORALL_COMPLEX_TYPES(HEATPP_INSTANTIATE)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail
