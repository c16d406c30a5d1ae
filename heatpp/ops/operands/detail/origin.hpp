#pragma once

#include <functional>
#include <heatpp/ops/operands/index.hpp>

namespace heatpp::detail {

/// The array that a selection was taken from, or the selection, and the entries. It does not keep the array alive, but
/// the entries, so that a function may return a selection by a mask of its own.
class Origin {
 public:
  /// Where `part` was taken from `x`, or from a selection of the origin `outer`, in whose memory it lies if it
  /// `shares`.
  Origin(std::weak_ptr<DNDarray::Impl> x, std::shared_ptr<const Origin> outer, std::vector<Index> entries, bool shares,
         const DNDarray& part);

  /// Whether the selection is as it was taken: a named one that was written to, or assigned, is an array of its own.
  [[nodiscard]] bool holds(const DNDarray& selection) const;
  /// Writes `value` to what is selected.
  void put(const Operand& value) const;
  /// Has f change what is selected. `reader` is what f is about to read, or nullptr.
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
  std::weak_ptr<DNDarray::Impl> part_;
  const void* block_;     ///< the part's on this rank
  std::int64_t version_;  ///< of its elements
};

/// Whether a part that was read from `x` at the entries lies in the memory of `x`, on all ranks or on none.
[[nodiscard]] bool shares_memory(const DNDarray& part, const DNDarray& x, std::span<const Index> entries);

/// Has f change the array of a selection, as if it had been given that part of it; gives the changed part.
DNDarray changed(Selection&& selection, const std::function<void(DNDarray&)>& f, const DNDarray* reader = nullptr);

}  // namespace heatpp::detail
