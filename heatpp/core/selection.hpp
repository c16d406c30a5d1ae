#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {
namespace detail {
class Origin;
}  // namespace detail

/// The result of `x(...)`: the part of `x` as an array. As long as it has no name, writing to it writes to `x`, for
/// every layout and kind of entries: `x(0) = y(0)`, `x(x > 3) = 5`, `x(slice(1, 4)) += y`, `fill_diagonal(x(0), 1)`.
/// This holds also if a function returns it, and for a selection of a selection. With a name, `auto row = x(0)`, it is
/// an array of its own. Collective. Throws as index_put, and ValueError if the array that it was taken from is gone.
class Selection : public DNDarray {
 public:
  Selection(DNDarray part, std::shared_ptr<const detail::Origin> origin)
      : DNDarray(std::move(part)), origin_(std::move(origin)) {}
  Selection(const Selection& other) : DNDarray(other) {}
  Selection(Selection&& other) noexcept = default;
  ~Selection() = default;

  void operator=(const Operand& value) &&;
  void operator=(const Selection& value) &&;
  void operator=(Selection&& value) &&;
  /// Writes numbers in braces, as array() takes them: `x(0) = {1, 2, 3}`.
  void operator=(std::initializer_list<Literal> values) &&;
  template <class T>
  requires std::is_arithmetic_v<T> Selection& operator=(T) & = delete;  // it has a name: r(ht::ellipsis) = number
  Selection& operator=(const DNDarray& other) & {
    DNDarray::operator=(other);
    return *this;
  }
  Selection& operator=(DNDarray&& other) & {
    DNDarray::operator=(std::move(other));
    return *this;
  }
  Selection& operator=(const Selection& other) & { return *this = static_cast<const DNDarray&>(other); }
  Selection& operator=(Selection&& other) & { return *this = static_cast<DNDarray&&>(other); }

  using DNDarray::operator();
  template <class... Entries>
  [[nodiscard]] Selection operator()(const Entries&... entries) && {
    return std::move(*this).select({Index(entries)...});
  }

  /// Returns where it was taken from, if it has not been written yet. For functions in place.
  [[nodiscard]] std::shared_ptr<const detail::Origin> release_origin() && { return std::move(origin_); }

 private:
  [[nodiscard]] Selection select(std::initializer_list<Index> entries) &&;
  std::shared_ptr<const detail::Origin> origin_;
};

/// Exchanges the elements of two selections of equal shapes: `swap(x(0), x(1))`. Collective. Throws as assignment.
void swap(Selection&& a, Selection&& b);

namespace detail {
/// Returns the part of `x` at the entries, with the place that it was taken from.
[[nodiscard]] Selection selected(DNDarray& x, std::initializer_list<Index> entries);
}  // namespace detail

template <class... Entries>
Selection DNDarray::operator()(const Entries&... entries) & {
  return detail::selected(*this, {Index(entries)...});
}
template <std::size_t N, class I>
Selection DNDarray::operator()(const int (&positions)[N]) & {
  return detail::selected(*this, {I(std::vector<int>(positions, positions + N))});
}

}  // namespace heatpp
