#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/ownership.hpp>
#include <heatpp/ops/operands/detail/origin.hpp>
#include <heatpp/ops/operands/operand.hpp>

#include <algorithm>

namespace heatpp {
namespace detail {

void Origin::in_array(const std::function<void(DNDarray&)>& f, const DNDarray* reader) const {
  if (outer_) return outer_->change(f, reader);
  auto impl = x_.lock();
  if (!impl)
    raise<ValueError>("selection", "got a selection of an array that is gone; expected one that is still there");
  DNDarray x(std::move(impl));
  f(x);
}

void Origin::put(const Operand& value) const {
  in_array([&](DNDarray& x) { x.index_put(entries_, value); }, value.temporary());
}

void Origin::change(const std::function<void(DNDarray&)>& f, const DNDarray* reader) const {
  in_array(
      [&](DNDarray& x) {
        if (shares_) own("selection", x, reader);
        auto part = x.index(entries_);
        if (shares_) part = written_through(std::move(part));
        f(part);
        if (!shares_) x.index_put(entries_, part);
      },
      reader);
}

bool shares_memory(const DNDarray& part, const DNDarray& x, std::span<const Index> entries) {
  const bool by_array = std::ranges::any_of(entries, [](const Index& entry) {
    return std::holds_alternative<DNDarray>(entry.value()) ||
           std::holds_alternative<std::vector<std::int64_t>>(entry.value()) ||
           std::holds_alternative<bool>(entry.value());
  });
  return !by_array && part.larray().is_alias_of(x.larray());
}

Selection selected(DNDarray& x, std::initializer_list<Index> entries) {
  const auto& impl = pin(x);
  auto part = std::as_const(x).index(entries);
  const bool shares = shares_memory(part, x, entries);
  return {std::move(part), std::make_shared<Origin>(impl, nullptr, std::vector(entries), shares)};
}

DNDarray changed(Selection&& selection, const std::function<void(DNDarray&)>& f, const DNDarray* reader) {
  const auto origin = std::move(selection).release_origin();
  DNDarray result;
  selection = DNDarray();  // so that it does not hold the elements
  if (!origin) raise<ValueError>("selection", "got a selection that was moved from; expected one of an array");
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
  auto part = index(entries);
  const bool shares = detail::shares_memory(part, *this, entries);
  auto origin = std::make_shared<detail::Origin>(std::weak_ptr<DNDarray::Impl>(), std::move(origin_),
                                                 std::vector(entries), shares);
  DNDarray::operator=(DNDarray());  // so that it does not hold the elements until the expression ends
  return {std::move(part), std::move(origin)};
}

void Selection::operator=(const Operand& value) && {
  const auto origin = std::move(*this).release_origin();
  DNDarray::operator=(DNDarray());
  if (!origin) detail::raise<ValueError>("selection", "got a selection that was moved from; expected one of an array");
  origin->put(value);
}
void Selection::operator=(const Selection& value) && { std::move(*this) = Operand(value); }
void Selection::operator=(Selection&& value) && { std::move(*this) = Operand(std::move(value)); }

}  // namespace heatpp
