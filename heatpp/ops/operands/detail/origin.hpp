#pragma once

#include <heatpp/core/detail/ownership.hpp>
#include <heatpp/ops/operands/index.hpp>

#include <functional>

namespace heatpp::detail {

/// The array, or selection, that a selection was taken from, and the entries. It keeps the entries alive but not the
/// array, so a function may return a selection by a mask of its own.
class Origin {
 public:
  /// Makes the origin of `part`, taken from `x` or from a selection of the origin `outer`. The part lies in the memory
  /// of `x` if it `shares`.
  Origin(std::weak_ptr<DNDarray::Impl> x, std::shared_ptr<const Origin> outer, std::vector<Index> entries, bool shares,
         const DNDarray& part);

  /// Whether the selection is unchanged. A named one that was written to or assigned is an array of its own.
  [[nodiscard]] bool holds(const DNDarray& selection) const;
  /// Writes `value` to the selected elements.
  void put(const Operand& value) const;
  /// Lets f change the selected elements. `reader` is an array that f will read, or nullptr.
  void change(const std::function<void(DNDarray&)>& f, const DNDarray* reader = nullptr) const;

 private:
  using Change = std::function<void(DNDarray&)>;
  void in_array(const Change& f, const DNDarray* reader) const;
  void in_outer(const Change& f, const DNDarray* reader) const;
  [[nodiscard]] bool repeats() const;
  [[nodiscard]] DNDarray places_in(const DNDarray& x) const;
  [[nodiscard]] std::vector<Index> entries_in(const DNDarray& x) const;

  std::weak_ptr<DNDarray::Impl> x_;
  std::shared_ptr<const Origin> outer_;
  std::vector<Index> entries_;
  bool shares_;
  Unwritten part_;
};

/// Whether a part read from `x` at the entries lies in the memory of `x`, equally on all ranks.
[[nodiscard]] bool shares_memory(const DNDarray& part, const DNDarray& x, std::span<const Index> entries);

/// Lets f change the array of a selection as if it had got that part; returns the changed part.
DNDarray changed(Selection&& selection, const std::function<void(DNDarray&)>& f, const DNDarray* reader = nullptr);

}  // namespace heatpp::detail
