#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/ownership.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/indexing/detail/compress.hpp>
#include <heatpp/ops/indexing/detail/mask.hpp>
#include <heatpp/ops/indexing/detail/positions.hpp>
#include <heatpp/ops/indexing/nonzero.hpp>
#include <heatpp/ops/operands/detail/align.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/shape/detail/along.hpp>
#include <heatpp/ops/shape/detail/basic_index.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp {
namespace {

template <class... F>
struct Visitor : F... {
  using F::operator()...;
};

using Entries = std::vector<Index::Value>;

template <class T>
const T* as(const Index::Value& entry) {
  return std::get_if<T>(&entry);
}
bool is_array(const Index::Value& entry) { return as<DNDarray>(entry) || as<bool>(entry); }
/// Whether NumPy indexes by this entry in its advanced way if there is an array.
bool is_advanced(const Index::Value& entry) {
  return is_array(entry) || as<std::int64_t>(entry) || as<std::vector<std::int64_t>>(entry) ||
         as<std::vector<bool>>(entry);
}

/// Returns the number of axes of the array that an entry takes.
int axes_taken(const Index::Value& entry) {
  return std::visit(Visitor{[](const DNDarray& array) { return array.dtype() == bool_ ? array.ndim() : 1; },
                            [](Ellipsis) { return 0; }, [](NewAxis) { return 0; }, [](bool) { return 0; },
                            [](const auto&) { return 1; }},
                    entry);
}

/// Returns a vector of positions or truth values as an array that every rank of x holds.
template <class T>
DNDarray listed(const std::vector<T>& values, const DNDarray& x) {
  auto tensor = at::empty({std::ssize(values)}, at::CppTypeToScalarType<T>::value);
  std::ranges::copy(values, tensor.template mutable_data_ptr<T>());
  return detail::wrap(tensor, x.layout().replicated({std::ssize(values)}), x.comm());
}

/// Completes the entries: an ellipsis and missing axes written out, masks without axes as truth values, and positions
/// in range and not negative.
Entries completed(const char* op, const DNDarray& x, std::span<const Index> entries) {
  int taken = 0;
  std::ptrdiff_t ellipses = 0;
  for (const auto& entry : entries) {
    if (const auto* array = as<DNDarray>(entry.value())) detail::check_same_comm(op, x.comm(), array->comm());
    taken += axes_taken(entry.value());
    ellipses += as<Ellipsis>(entry.value()) != nullptr;
  }
  if (taken > x.ndim() || ellipses > 1)
    detail::raise<IndexError>(op,
                              "got entries for {} axes with {} ellipses for an array of shape {}; expected at most "
                              "{} axes and one ellipsis",
                              taken, ellipses, to_string(x.shape()), x.ndim());
  const auto whole = static_cast<std::size_t>(x.ndim() - taken);
  const auto arrays = std::ranges::count_if(entries, [](const auto& entry) { return is_advanced(entry.value()); });
  Entries list;
  for (const auto& entry : entries) {
    if (as<Ellipsis>(entry.value()) && whole == 0 && arrays > 1) list.push_back(entry.value());  // keeps arrays apart
    else if (as<Ellipsis>(entry.value())) list.insert(list.end(), whole, all_of);
    else if (const auto* array = as<DNDarray>(entry.value()); array && array->ndim() == 0 && array->dtype() == bool_)
      list.emplace_back(array->item<bool>());
    else if (const auto* positions = as<std::vector<std::int64_t>>(entry.value()))
      list.emplace_back(listed(*positions, x));
    else if (const auto* mask = as<std::vector<bool>>(entry.value())) list.emplace_back(listed(*mask, x));
    else list.push_back(entry.value());
  }
  if (ellipses == 0) list.insert(list.end(), whole, all_of);
  int axis = 0;
  for (auto& entry : list) {  // while all axes are there, because errors count them
    if (auto* position = std::get_if<std::int64_t>(&entry))
      *position = detail::sanitize_position(op, x, axis, *position);
    axis += axes_taken(entry);
  }
  return list;
}

/// Whether arrays and positions are neighbors, so that their result's axes take their place.
bool side_by_side(const Entries& list) {
  const auto first = std::ranges::find_if(list, is_advanced);
  const auto last = std::find_if_not(first, list.end(), is_advanced);
  return std::none_of(last, list.end(), is_advanced);
}

/// An index by its parts: what slices and positions leave of the array, and the arrays that index it further. For
/// writing, `base` shares the memory of the array; so positions leave an axis of extent 1 (or become arrays), and
/// falling slices are taken rising.
struct Parts {
  DNDarray base;
  detail::Positions positions;
  std::vector<int> left_over;  ///< axes of base that positions keep
  std::vector<int> falling;    ///< axes of base whose values are reversed
};

class Taker {
 public:
  Taker(const char* op, const DNDarray& x, const Entries& list, bool write)
      : op_(op), write_(write), arrays_(std::ranges::any_of(list, is_array)), parts_{x, {}, {}, {}} {
    for (const auto& entry : list) std::visit([this](const auto& value) { apply(value); }, entry);
    if (arrays_ && side_by_side(list)) parts_.positions.place = place_;
  }
  [[nodiscard]] Parts parts() && { return std::move(parts_); }

 private:
  void apply(std::int64_t position) {
    if (!write_) {
      parts_.base = detail::take_position(op_, parts_.base, axis_, position);
      return;
    }
    if (arrays_) return add(listed(std::vector<std::int64_t>{position}, parts_.base).index({0}));
    parts_.left_over.push_back(axis_);
    apply(slice(position, position + 1));
  }
  void apply(const Slice& entry) {
    const auto range = resolve(entry, parts_.base.shape()[static_cast<std::size_t>(axis_)], op_);
    if (write_ && range.step < 0) {
      parts_.falling.push_back(axis_);
      const ResolvedSlice rising{range.start + (range.count - 1) * range.step, range.count, -range.step};
      parts_.base = detail::take_rising(parts_.base, axis_, range.count ? rising : ResolvedSlice{});
    } else {
      parts_.base = detail::take_slice(op_, parts_.base, axis_, entry);
    }
    ++axis_;
  }
  void apply(NewAxis) { parts_.base = detail::insert_axis(parts_.base, axis_++); }
  void apply(bool truth) {
    parts_.base = detail::insert_axis(parts_.base, axis_);
    add(listed(std::vector<std::int64_t>(truth ? 1 : 0, 0), parts_.base));
  }
  void apply(const DNDarray& array) {
    if (array.dtype() != bool_) return add(array);
    detail::check_mask(op_, parts_.base, axis_, array);
    for (const auto& positions : nonzero(array)) add(positions);
  }
  template <class Other>
  void apply(const Other&) {}  // written out already

  /// Adds an array that indexes the current axis.
  void add(const DNDarray& positions) {
    if (parts_.positions.axes.empty()) place_ = axis_;
    parts_.positions.axes.push_back(axis_++);
    parts_.positions.arrays.push_back(positions);
  }

  const char* op_;
  bool write_, arrays_;
  Parts parts_;
  int axis_ = 0, place_ = 0;
};

/// Returns the only array among the entries and its place if it is a mask; the others are slices and new axes.
std::optional<std::pair<DNDarray, std::size_t>> lone_mask(const Entries& list) {
  std::optional<std::pair<DNDarray, std::size_t>> found;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (as<Slice>(list[i]) || as<NewAxis>(list[i])) continue;
    const auto* mask = as<DNDarray>(list[i]);
    if (!mask || mask->dtype() != bool_ || found) return std::nullopt;
    found = {*mask, i};
  }
  return found;
}

/// Returns the array after the slices and new axes next to a mask, and the first axis of the mask.
std::pair<DNDarray, int> around_mask(const char* op, const DNDarray& x, Entries list, std::size_t place) {
  const auto axes = as<DNDarray>(list[place])->ndim();
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(place));
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(place), static_cast<std::size_t>(axes), all_of);
  return {Taker(op, x, list, true).parts().base, static_cast<int>(place)};
}

/// Whether the entries are one position for each axis, without arrays with axes; NumPy then writes numbers.
bool is_element(const DNDarray& x, std::span<const Index> entries) {
  return std::ssize(entries) == x.ndim() && std::ranges::all_of(entries, [](const Index& entry) {
           const auto* array = as<DNDarray>(entry.value());
           return as<std::int64_t>(entry.value()) || (array && array->ndim() == 0 && array->dtype() != bool_);
         });
}

bool falls(const Index::Value& entry) { return as<Slice>(entry) && as<Slice>(entry)->step < 0; }

/// Writes one value to all elements where the mask is true.
void fill_mask(const char* op, const DNDarray& x, int axis, const DNDarray& mask, const Operand& value) {
  detail::check_mask(op, x, axis, mask);
  std::vector<int> axes(mask.shape().size());
  std::iota(axes.begin(), axes.end(), axis);
  const auto layout = x.layout().along(mask.shape(), axes);
  auto block = x.larray();
  const auto wanted =
      detail::apart_from(block, detail::relayout_operand(op, mask, layout, x.comm()).to(block.device()));
  const auto filling = detail::align_to(op, x.layout().replicated({}), x.comm(), value).to(block.options());
  detail::fill_compressed(block, axis, wanted, filling);
}

/// Arranges `value` so that it broadcasts to what is written: reversed for falling slices, and with the axes that
/// positions keep.
DNDarray fitted(const DNDarray& value, const Parts& parts, int result_axes, const std::vector<int>& falling) {
  auto fitting = detail::without_leading_ones(value, result_axes);
  for (const auto axis : falling) {
    const auto own = axis - (result_axes - fitting.ndim());
    if (own >= 0 && fitting.shape()[static_cast<std::size_t>(own)] > 1) fitting = detail::reversed(fitting, own);
  }
  for (auto axis = parts.left_over.rbegin(); axis != parts.left_over.rend(); ++axis) {
    const auto own = fitting.ndim() - (parts.base.ndim() - 1 - *axis);
    if (own >= 0) fitting = detail::insert_axis(fitting, own);
  }
  return fitting;
}

/// Throws ValueError with the shapes that a user sees if `value` does not broadcast to slices and positions.
void check_fits(const char* op, const DNDarray& value, const Parts& parts, int result_axes) {
  if (!parts.positions.axes.empty()) return;  // put_positions checks that
  Shape wanted;
  for (int axis = 0; axis < parts.base.ndim(); ++axis)
    if (std::ranges::find(parts.left_over, axis) == parts.left_over.end()) wanted.push_back(parts.base.shape(axis));
  if (!detail::broadcasts_to(detail::without_leading_ones(value, result_axes).shape(), wanted))
    detail::raise<ValueError>(op, "got an array of shape {} for a part of shape {}; expected one that broadcasts to it",
                              to_string(value.shape()), to_string(wanted));
}

/// Returns the number of axes of the result, and its falling axes.
std::pair<int, std::vector<int>> result_axes(const char* op, const Parts& parts) {
  const auto& positions = parts.positions;
  Shape taken;
  for (const auto& array : positions.arrays) taken = broadcast_shapes(taken, array.shape(), op);
  const auto before = [&](const std::vector<int>& axes, int axis) {
    return static_cast<int>(std::ranges::count_if(axes, [&](auto other) { return other < axis; }));
  };
  std::vector<int> falling;
  for (const auto axis : parts.falling) {
    const auto left = axis - before(parts.left_over, axis) - before(positions.axes, axis);
    falling.push_back(left < positions.place || positions.axes.empty() ? left : left + static_cast<int>(taken.size()));
  }
  const auto axes = parts.base.ndim() - std::ssize(parts.left_over) - std::ssize(positions.axes) + std::ssize(taken);
  return {static_cast<int>(axes), std::move(falling)};
}

void write(const char* op, const Parts& parts, const Operand& value) {
  if (!parts.positions.axes.empty()) return detail::put_positions(op, parts.base, parts.positions, value);
  const auto block = parts.base.larray();
  block.copy_(detail::apart_from(block, detail::align_to(op, parts.base, value)));
}

DNDarray read(const char* op, const DNDarray& x, const Entries& list) {
  if (const auto mask = lone_mask(list); mask && std::ranges::none_of(list, falls)) {
    const auto [base, axis] = around_mask(op, x, list, mask->second);
    return detail::take_mask(op, base, axis, mask->first);
  }
  auto parts = Taker(op, x, list, false).parts();
  if (parts.positions.axes.empty()) return parts.base;
  return detail::take_positions(op, parts.base, std::move(parts.positions));
}

}  // namespace

DNDarray DNDarray::index(std::initializer_list<Index> entries) const {
  return index(std::span(entries.begin(), entries.size()));
}
DNDarray DNDarray::index(std::span<const Index> entries) const {
  return read("index", *this, completed("index", *this, entries));
}

void DNDarray::index_put(std::initializer_list<Index> entries, const Operand& value) & {
  index_put(std::span(entries.begin(), entries.size()), value);
}
void DNDarray::index_put(std::initializer_list<Index> entries, std::initializer_list<Literal> values) & {
  index_put(entries, array(values, {.device = device(), .comm = comm()}));
}
void DNDarray::index_put(std::span<const Index> entries, const Operand& value) & {
  constexpr auto op = "index_put";
  detail::check_value(op, value, dtype());
  const auto list = completed(op, *this, entries);
  const bool single = !value.array() || value.array()->ndim() == 0;
  if (!single && is_element(*this, entries))
    detail::raise<ValueError>(op, "got an array of shape {} for one element; expected a number",
                              to_string(value.array()->shape()));
  detail::own(op, *this, value.temporary());
  if (const auto mask = lone_mask(list)) {
    const auto [base, axis] = around_mask(op, *this, list, mask->second);
    if (single) return fill_mask(op, base, axis, mask->first, value);
    if (std::ranges::none_of(list, falls) && detail::put_mask(op, base, axis, mask->first, *value.array())) return;
  }
  const auto parts = Taker(op, *this, list, true).parts();
  if (!value.array()) return write(op, parts, value);
  const auto [axes, falling] = result_axes(op, parts);
  check_fits(op, *value.array(), parts, axes);
  write(op, parts, fitted(*value.array(), parts, axes, falling));
}

}  // namespace heatpp
