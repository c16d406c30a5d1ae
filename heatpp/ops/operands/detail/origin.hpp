#pragma once

#include <heatpp/ops/operands/index.hpp>

namespace heatpp::detail {

/// The array and the entries that a selection was copied from. It keeps none of them alive: what it is for, an operator
/// in place on `x(...)`, runs before the expression ends in which they were named.
class Origin {
 public:
  /// Tells `selection` that it is a copy of `x` at the entries.
  static void set(const DNDarray& selection, const DNDarray& x, std::span<const Index> entries);
  /// Writes a selection to where it was copied from, if it is a copy and that is still there.
  static void write_back(const DNDarray& selection);

 private:
  using Weak = std::weak_ptr<DNDarray::Impl>;
  using Entry = std::variant<Index, Weak>;

  Weak array_;
  std::vector<Entry> entries_;
};

}  // namespace heatpp::detail
