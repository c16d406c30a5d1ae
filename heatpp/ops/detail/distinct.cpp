#include <heatpp/ops/detail/distinct.hpp>
#include <heatpp/ops/detail/flat_index.hpp>

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

/// Combines neighbours that are the same, which `rows` has behind one another.
template <class T>
void combine(Rows<Entry<KeyOf<T>>>& rows, Same same) {
  std::int64_t n = 0;
  for (const auto& row : rows) {
    const bool more = n > 0 && rows[n - 1].key == row.key && !(same == Same::apart_nan && is_nan_key<T>(row.key));
    if (more) rows[n - 1].count += row.count;
    else rows[n++] = row;
  }
  rows.shrink(n);
}

template <class K>
at::Tensor column(const Rows<Entry<K>>& entries, std::int64_t Entry<K>::*member) {
  at::Tensor result = at::empty({entries.size()}, at::kLong);
  std::ranges::transform(entries, result.data_ptr<std::int64_t>(), member);
  return result;
}

/// Where in `merged`, on all ranks, each entry went.
template <class K>
Rows<std::int64_t> places(const Rows<Entry<K>>& entries, const Rows<Entry<K>>& merged, std::int64_t offset) {
  Rows<std::int64_t> result(entries.size());
  std::ranges::transform(entries, result.begin(), [&](const Entry<K>& entry) {
    return offset + (std::upper_bound(merged.begin(), merged.end(), entry, precedes<K>) - merged.begin()) - 1;
  });
  return result;
}

template <class T>
Distinct distinct_of(const DNDarray& x, Same same, bool inverse) {
  using K = KeyOf<T>;
  auto groups = group_elements<T>(x, same);
  const auto& comm = x.split() ? x.comm() : self();
  auto routed = route_by_key(groups.entries, comm);
  auto& mine = routed.merged;
  combine<T>(mine, same);

  Distinct result{at::empty({mine.size()}, x.larray().scalar_type()),
                  column(mine, &Entry<K>::index),
                  column(mine, &Entry<K>::count),
                  layout_of_parts(mine.size(), x.split().has_value(), x.comm()),
                  {}};
  std::ranges::transform(mine, result.values.template data_ptr<T>(),
                         [](const Entry<K>& entry) { return Keys<T>::element(entry.key); });
  if (!inverse) return result;
  const auto offset = x.split() ? result.layout.offset(comm.rank()) : 0;
  const auto place = answer(routed, places(routed.arrived, mine, offset), comm);
  result.inverse = at::empty(x.lshape(), at::kLong);
  std::ranges::transform(groups.group, result.inverse.template data_ptr<std::int64_t>(),
                         [&](std::int64_t group) { return place[group]; });
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

/// Whether there are so few keys between the extremes that a table of them is faster than sorting.
template <class T>
bool narrow(std::span<const T> elements, KeyOf<T> low, KeyOf<T> high) {
  return elements.empty() || static_cast<std::uint64_t>(static_cast<KeyOf<T>>(high - low)) < elements.size() / 4 + 256;
}

/// The distinct keys by a flag for each between the extremes.
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

/// The groups by a table of all keys between the extremes.
template <class T>
Groups<KeyOf<T>> tabled_groups(std::span<const T> elements, KeyOf<T> low, KeyOf<T> high, const FlatIndex& index) {
  struct Row {
    std::int64_t count = 0, first = 0;  // first element, later the number of the group
  };
  std::vector<Row> table(elements.empty() ? 0 : static_cast<std::size_t>(high - low) + 1);
  const auto row = [&](std::size_t i) -> Row& {
    return table[static_cast<std::size_t>(Keys<T>::of(elements[i]) - low)];
  };
  for (auto i = elements.size(); i-- > 0;) {
    ++row(i).count;
    row(i).first = static_cast<std::int64_t>(i);
  }
  Groups<KeyOf<T>> groups{Rows<Entry<KeyOf<T>>>(std::ssize(table)), Rows<std::int64_t>(std::ssize(elements))};
  std::int64_t n = 0;
  for (std::size_t key = 0; key < table.size(); ++key) {
    if (table[key].count == 0) continue;
    groups.entries[n] = {static_cast<KeyOf<T>>(low + key), index.of(table[key].first), table[key].count};
    table[key].first = n++;
  }
  groups.entries.shrink(n);
  for (std::size_t i = 0; i < elements.size(); ++i) groups.group[static_cast<std::int64_t>(i)] = row(i).first;
  return groups;
}

}  // namespace

Layout layout_of_parts(std::int64_t count, bool split, const Communicator& comm) {
  if (!split) return {{count}, std::nullopt, comm.size()};
  return Layout::from_counts({0}, 0, comm.allgather(count));
}

template <class T>
Rows<KeyOf<T>> distinct_keys(const at::Tensor& block) {
  const auto elements = block.cpu().contiguous();
  const std::span in(elements.const_data_ptr<T>(), static_cast<std::size_t>(elements.numel()));
  if constexpr (std::is_integral_v<T>) {
    const auto [low, high] = extremes(in);
    if (narrow(in, low, high)) return flagged_keys(in, low, high);
  }
  Rows<KeyOf<T>> keys(elements.numel());
  std::ranges::transform(in, keys.begin(), set_key<T>);
  sort_keys(keys.data(), keys.size());
  keys.shrink(std::unique(keys.begin(), keys.end()) - keys.begin());
  return keys;
}

template <class T>
Groups<KeyOf<T>> group_elements(const DNDarray& x, Same same) {
  using K = KeyOf<T>;
  const auto block = x.larray().cpu().contiguous();
  const auto* in = block.const_data_ptr<T>();
  const FlatIndex index(x);
  if constexpr (std::is_integral_v<T>) {
    const std::span elements(in, static_cast<std::size_t>(block.numel()));
    const auto [low, high] = extremes(elements);
    if (narrow(elements, low, high)) return tabled_groups(elements, low, high, index);
  }
  Groups<K> groups{Rows<Entry<K>>(block.numel()), Rows<std::int64_t>(block.numel())};
  auto& entries = groups.entries;
  std::int64_t n = 0;
  for_each_sorted<K>(
      block.numel(), [&](std::int64_t i) { return same == Same::set_key ? set_key<T>(in[i]) : Keys<T>::of(in[i]); },
      [&](K key, std::int64_t i) {
        const bool more = n > 0 && entries[n - 1].key == key && !(same == Same::apart_nan && is_nan_key<T>(key));
        if (more) ++entries[n - 1].count;
        else entries[n++] = {key, index.of(i), 1};
        groups.group[i] = n - 1;
      });
  entries.shrink(n);
  return groups;
}

Distinct distinct(const DNDarray& x, Same same, bool inverse) {
  return with_element_type(x.larray().scalar_type(), [&]<class T>() { return distinct_of<T>(x, same, inverse); });
}

Codes codes_of(const DNDarray& x) {
  auto found = distinct(x, Same::key, true);
  const auto count = found.layout.size();
  return {wrap(found.inverse.to(x.larray().device()), x.layout(), x.comm()), count};
}

#define HEATPP_INSTANTIATE(T, name)                                  \
  template Rows<KeyOf<T>> distinct_keys<T>(const at::Tensor& block); \
  template Groups<KeyOf<T>> group_elements<T>(const DNDarray& x, Same same);
AT_FORALL_SCALAR_TYPES_AND3(Bool, Half, BFloat16, HEATPP_INSTANTIATE)
AT_FORALL_COMPLEX_TYPES(HEATPP_INSTANTIATE)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail
