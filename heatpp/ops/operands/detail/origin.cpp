#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ops/operands/detail/origin.hpp>
#include <heatpp/ops/operands/operand.hpp>

namespace heatpp::detail {

void Origin::set(const DNDarray& selection, const DNDarray& x, std::span<const Index> entries) {
  auto origin = std::make_shared<Origin>();
  origin->array_ = x.impl_;
  for (const auto& entry : entries) {
    const auto* array = std::get_if<DNDarray>(&entry.value());
    origin->entries_.push_back(array ? Entry(Weak(array->impl_)) : Entry(entry));
  }
  selection.impl_->origin = std::move(origin);
}

void Origin::write_back(const DNDarray& selection) {
  const auto& origin = selection.impl_->origin;
  const auto array = origin ? origin->array_.lock() : nullptr;
  if (!array) return;
  std::vector<Index> entries;
  for (const auto& entry : origin->entries_) {
    const auto* weak = std::get_if<Weak>(&entry);
    const auto held = weak ? weak->lock() : nullptr;
    if (weak && !held) return;
    entries.push_back(weak ? Index(DNDarray(held)) : std::get<Index>(entry));
  }
  DNDarray(array).index_put(entries, selection);
}

}  // namespace heatpp::detail
