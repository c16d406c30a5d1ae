#pragma once

#include <heatpp/core/dndarray.hpp>
#include <functional>
#include <memory>

namespace heatpp {

/// The source of the rows of a matrix (samples, features) of real numbers. Every pass gives the same rows.
class RowSource {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource() = default;
  /// Returns rows first .. first + count of this rank as a (count, features) block that may share memory. Local.
  [[nodiscard]] virtual at::Tensor read(std::int64_t first, std::int64_t count) const = 0;
  /// Calls f(first, block) with this rank's `count` rows of `features` numbers, in order, in blocks that suit the
  /// source: here the result of `read` for about 4 MiB. Local.
  using Visit = std::function<void(std::int64_t first, const at::Tensor& block)>;
  virtual void pass(std::int64_t count, std::int64_t features, const Visit& f) const;
};

/// How the rows that a function makes are cut among the ranks.
struct RowsOptions {
  Dtype dtype = float64;                            ///< dtype of what the function returns
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};

/// A matrix (samples, features) of real numbers from which estimators learn. Every rank passes over its own rows. An
/// array of any layout converts to it; a matrix in files that does not fit into memory is `ht::io::rows(...)`; other
/// rows come from a function. It is a handle: copies share the source.
class Rows {
 public:
  /// Takes the rows of `x` where they are: all of them on every rank if it is replicated. An array that is split by
  /// features is recut by samples, once, which is collective; otherwise local. Rows on a GPU are copied to the CPU,
  /// once. Throws ValueError for another number of axes, TypeError for complex numbers.
  Rows(const DNDarray& x);  // NOLINT: conversion intended
  /// Takes `count` rows of this rank that `read(first, count)` makes; counts may differ by rank. A pass asks for about
  /// 4 MiB of them at a time. Collective: one small allgather. Throws ValueError for negative counts.
  using Read = std::function<at::Tensor(std::int64_t first, std::int64_t count)>;
  Rows(std::int64_t count, std::int64_t features, Read read, const RowsOptions& options = {});
  /// Takes rows of a source under a `layout` of two axes that is split along axis 0 or not at all.
  Rows(std::shared_ptr<const RowSource> source, Layout layout, Dtype dtype, const Communicator& comm);

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const Communicator& comm() const { return comm_; }
  [[nodiscard]] Dtype dtype() const { return dtype_; }
  [[nodiscard]] std::int64_t size() const { return layout_.shape()[0]; }  ///< over all ranks
  [[nodiscard]] std::int64_t features() const { return layout_.shape()[1]; }
  /// Whether ranks have different rows, whose sums have to be combined.
  [[nodiscard]] bool distributed() const { return layout_.split().has_value(); }
  /// Return the number of this rank's first row among all rows, and how many rows it has.
  [[nodiscard]] std::int64_t first() const { return distributed() ? layout_.offset(comm_.rank()) : 0; }
  [[nodiscard]] std::int64_t count() const { return layout_.local_shape(comm_.rank())[0]; }
  /// Whether the rows are an array's, so that reading them cannot fail on one rank only.
  [[nodiscard]] bool in_memory() const { return in_memory_; }
  /// Reads as RowSource does. A block of another shape is an error.
  [[nodiscard]] at::Tensor read(std::int64_t first, std::int64_t count) const;
  void pass(const RowSource::Visit& f) const;
  /// Returns the source, for code that knows more of some sources. Local.
  [[nodiscard]] const RowSource& source() const { return *source_; }

 private:
  std::shared_ptr<const RowSource> source_;
  Layout layout_;
  Dtype dtype_;
  Communicator comm_;
  bool in_memory_ = false;
};

}  // namespace heatpp
