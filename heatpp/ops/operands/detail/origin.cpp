#include <heatpp/ops/operands/detail/origin.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/ownership.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/ops/operands/operand.hpp>

#include <algorithm>

namespace heatpp {
namespace detail {
namespace {

bool is_positions(const Index& entry) {
  const auto* array = std::get_if<DNDarray>(&entry.value());
  return (array && array->dtype() != bool_) || std::holds_alternative<std::vector<std::int64_t>>(entry.value());
}

/// Returns the elements' numbers in C order, as an array cut like `x`.
DNDarray counted(const DNDarray& x) {
  const auto rank = x.comm().rank();
  const auto options = x.larray().options().dtype(at::kLong);
  auto places = at::zeros({}, options);
  std::int64_t stride = 1;
  for (int axis = x.ndim() - 1; axis >= 0; --axis) {
    const auto first = x.layout().local_offset(rank)[static_cast<std::size_t>(axis)];
    const auto count = x.layout().local_shape(rank)[static_cast<std::size_t>(axis)];
    std::vector<std::int64_t> shape(static_cast<std::size_t>(x.ndim() - axis), 1);
    shape.front() = count;
    places = places + (at::arange(first, first + count, options) * stride).view(shape);
    stride *= x.shape(axis);
  }
  return wrap(places, x.layout(), x.comm());
}

std::shared_ptr<const Origin> origin_of(Selection& selection) {
  auto origin = std::move(selection).release_origin();
  if (!origin || !origin->holds(selection))
    raise<ValueError>("selection",
                      "got a selection that was moved from, or has become an array of its own by a write; "
                      "expected one as x(...) gives it");
  return origin;
}

}  // namespace

Origin::Origin(std::weak_ptr<DNDarray::Impl> x, std::shared_ptr<const Origin> outer, std::vector<Index> entries,
               bool shares, const DNDarray& part)
    : x_(std::move(x)), outer_(std::move(outer)), entries_(std::move(entries)), shares_(shares), part_(part) {}

bool Origin::holds(const DNDarray& selection) const { return part_.are_in(selection); }

void Origin::in_array(const Change& f, const DNDarray* reader) const {
  if (outer_) return outer_->in_array(f, reader);
  auto impl = x_.lock();
  if (!impl)
    raise<ValueError>("selection", "got a selection of an array that is gone; expected one that is still there");
  DNDarray x(std::move(impl));
  f(x);
}

void Origin::in_outer(const Change& f, const DNDarray* reader) const {
  if (outer_) outer_->change(f, reader);
  else in_array(f, reader);
}

/// Whether an element may have been selected twice before the last entries, so that a part of the copies cannot be
/// written back alone.
bool Origin::repeats() const {
  return outer_ && (std::ranges::any_of(outer_->entries_, is_positions) || outer_->repeats());
}

DNDarray Origin::places_in(const DNDarray& x) const {
  return (outer_ ? outer_->places_in(x) : counted(x)).index(entries_);
}

/// Returns the positions of the selected elements along each axis of `x`, the original array.
std::vector<Index> Origin::entries_in(const DNDarray& x) const {
  const auto places = places_in(x);
  std::vector<Index> entries;
  auto stride = x.size();
  for (const auto extent : x.shape()) {
    stride /= std::max<std::int64_t>(1, extent);
    const auto along =
        places.larray().div(std::max<std::int64_t>(1, stride), "floor").remainder(std::max<std::int64_t>(1, extent));
    entries.emplace_back(wrap(along, places.layout(), places.comm()));
  }
  return entries;
}

void Origin::put(const Operand& value) const {
  if (repeats()) in_array([&](DNDarray& x) { x.index_put(entries_in(x), value); }, value.temporary());
  else in_outer([&](DNDarray& x) { x.index_put(entries_, value); }, value.temporary());
}

void Origin::change(const Change& f, const DNDarray* reader) const {
  const auto copied = [&](DNDarray& x, const std::vector<Index>& entries) {
    auto part = std::as_const(x).index(entries);
    f(part);
    x.index_put(entries, part);
  };
  const auto in_place = [&](DNDarray& x) {
    own("selection", x, reader);
    auto part = written_through(std::as_const(x).index(entries_));
    f(part);
  };
  if (repeats()) in_array([&](DNDarray& x) { copied(x, entries_in(x)); }, reader);
  else if (shares_) in_outer(in_place, reader);
  else in_outer([&](DNDarray& x) { copied(x, entries_); }, reader);
}

bool shares_memory(const DNDarray& part, const DNDarray& x, std::span<const Index> entries) {
  const bool by_array = std::ranges::any_of(entries, [](const Index& entry) {
    return is_positions(entry) || std::holds_alternative<DNDarray>(entry.value()) ||
           std::holds_alternative<bool>(entry.value());
  });
  return !by_array && part.larray().is_alias_of(x.larray());
}

Selection selected(DNDarray& x, std::initializer_list<Index> entries) {
  const auto& impl = pin(x);
  auto part = std::as_const(x).index(entries);
  const bool shares = shares_memory(part, x, entries);
  auto origin = std::make_shared<Origin>(impl, nullptr, std::vector(entries), shares, part);
  return {std::move(part), std::move(origin)};
}

DNDarray changed(Selection&& selection, const std::function<void(DNDarray&)>& f, const DNDarray* reader) {
  const auto origin = origin_of(selection);
  DNDarray result;
  selection = DNDarray();  // it must not hold the elements
  origin->change(
      [&](DNDarray& part) {
        f(part);
        result = part;
      },
      reader);
  return result;
}

}  // namespace detail

Selection Selection::select(std::initializer_list<Index> entries) && {
  auto part = std::as_const(*this).index(entries);
  if (!origin_ || !origin_->holds(*this)) return {std::move(part), nullptr};  // the selection is an array of its own
  const bool shares = detail::shares_memory(part, *this, entries);
  auto origin = std::make_shared<detail::Origin>(std::weak_ptr<DNDarray::Impl>(), std::move(origin_),
                                                 std::vector(entries), shares, part);
  DNDarray::operator=(DNDarray());  // it must not hold the elements until the expression ends
  return {std::move(part), std::move(origin)};
}

void Selection::operator=(const Operand& value) && {
  const auto origin = detail::origin_of(*this);
  DNDarray::operator=(DNDarray());
  origin->put(value);
}
void Selection::operator=(const Selection& value) && { std::move(*this) = Operand(value); }
void Selection::operator=(Selection&& value) && { std::move(*this) = Operand(std::move(value)); }
void swap(Selection&& a, Selection&& b) {
  const DNDarray first = a;
  std::move(a) = b;
  std::move(b) = first;
}
void Selection::operator=(std::initializer_list<Literal> values) && {
  const auto numbers = array(values, {.device = device(), .comm = comm()});
  std::move(*this) = Operand(numbers);
}

}  // namespace heatpp
