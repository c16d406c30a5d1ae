#include <heatpp/sparse/detail/named.hpp>

#include <ATen/Dispatch.h>
#include <algorithm>

namespace heatpp::sparse::detail {
namespace {

/// Calls f(the columns' numbers, their count).
template <class F>
auto with_numbers(const at::Tensor& columns, F f) {
  return columns.scalar_type() == at::kInt ? f(columns.const_data_ptr<std::int32_t>(), columns.numel())
                                           : f(columns.const_data_ptr<std::int64_t>(), columns.numel());
}

/// Whether a table of all numbers up to `most` takes at most a few times the memory of `count` numbers.
bool tabulated(std::int64_t most, std::int64_t count) { return most < 8 * count + 4096; }

/// Finds the place of a number among increasing ones.
class PlaceOf {
 public:
  PlaceOf(const std::vector<std::int64_t>& ids, std::int64_t count) : ids_(ids) {
    if (ids.empty() || !tabulated(ids.back(), count)) return;
    table_.resize(static_cast<std::size_t>(ids.back() + 1));
    for (std::size_t place = 0; place < ids.size(); ++place)
      table_[static_cast<std::size_t>(ids[place])] = static_cast<std::int64_t>(place);
  }
  [[nodiscard]] std::int64_t operator()(std::int64_t number) const {
    return table_.empty() ? std::ranges::lower_bound(ids_, number) - ids_.begin()
                          : table_[static_cast<std::size_t>(number)];
  }

 private:
  const std::vector<std::int64_t>& ids_;
  std::vector<std::int64_t> table_;
};

}  // namespace

std::vector<std::int64_t> named_of_others(const at::Tensor& columns, std::int64_t first, std::int64_t own) {
  return with_numbers(columns, [&](const auto* column, std::int64_t count) {
    const auto is_own = [&](std::int64_t c) { return c >= first && c < first + own; };
    std::vector<std::int64_t> found;
    const std::int64_t most = count > 0 ? *std::max_element(column, column + count) : 0;
    if (!tabulated(most, count)) {
      std::copy_if(column, column + count, std::back_inserter(found), [&](auto c) { return !is_own(c); });
      std::ranges::sort(found);
      const auto [begin, end] = std::ranges::unique(found);
      found.erase(begin, end);
      return found;
    }
    std::vector<char> named(static_cast<std::size_t>(most + 1));
    for (std::int64_t i = 0; i < count; ++i) named[static_cast<std::size_t>(column[i])] = 1;
    for (std::int64_t c = 0; c <= most; ++c)
      if (named[static_cast<std::size_t>(c)] && !is_own(c)) found.push_back(c);
    return found;
  });
}

at::Tensor renumbered(const at::Tensor& columns, std::int64_t first, std::int64_t own,
                      const std::vector<std::int64_t>& ids, at::ScalarType type) {
  if (ids.empty() && first == 0) return columns.to(type);
  auto result = at::empty(columns.sizes(), type);
  const PlaceOf place_of(ids, columns.numel());
  AT_DISPATCH_INDEX_TYPES(type, "renumbered", [&] {
    auto* const out = result.data_ptr<index_t>();
    with_numbers(columns, [&](const auto* column, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t c = column[i];
        out[i] = static_cast<index_t>(c >= first && c < first + own ? c - first : own + place_of(c));
      }
    });
  });
  return result;
}

}  // namespace heatpp::sparse::detail
