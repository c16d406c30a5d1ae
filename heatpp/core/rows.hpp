#pragma once

#include <heatpp/core/dndarray.hpp>
#include <functional>
#include <memory>

namespace heatpp {

/// Where the rows of a matrix (samples, features) of real numbers come from. Every pass gives the same rows.
class RowSource {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource() = default;
  /// Rows first .. first + count of this rank, as a (count, features) block that may share memory. Local.
  [[nodiscard]] virtual at::Tensor read(std::int64_t first, std::int64_t count) const = 0;
  /// Calls f(first, block) with this rank's `count` rows of `features` numbers, in order, as many at a time as suits
  /// the source: here what `read` gives in about 4 MiB. Local.
  using Visit = std::function<void(std::int64_t first, const at::Tensor& block)>;
  virtual void pass(std::int64_t count, std::int64_t features, const Visit& f) const;
};

/// How rows that a function makes are cut among the ranks.
struct RowsOptions {
  Dtype dtype = float64;                            ///< of what the function returns
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};

/// A matrix (samples, features) of real numbers, of which every rank passes over the rows that are its own: what
/// estimators learn from. An array converts to it, of any layout; a matrix in files that fits no memory is
/// `ht::io::rows(...)`, and rows from elsewhere are a function. A handle: copies share the source.
class Rows {
 public:
  /// The rows of `x`, where they are: all of them on every rank if it is replicated. One that is split by features is
  /// recut by samples, once, which is collective; else local. Those on a GPU are copied to the CPU, once. Throws
  /// ValueError for another number of axes, TypeError for complex numbers.
  Rows(const DNDarray& x);  // NOLINT: conversion intended
  /// `count` rows of this rank that `read(first, count)` makes, each rank as many as it says; passes ask for about 4
  /// MiB of them at a time. Collective: one small allgather. Throws ValueError for negative counts.
  using Read = std::function<at::Tensor(std::int64_t first, std::int64_t count)>;
  Rows(std::int64_t count, std::int64_t features, Read read, const RowsOptions& options = {});
  /// Rows of a source under a `layout` of two axes that is split along axis 0 or not at all.
  Rows(std::shared_ptr<const RowSource> source, Layout layout, Dtype dtype, const Communicator& comm);

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const Communicator& comm() const { return comm_; }
  [[nodiscard]] Dtype dtype() const { return dtype_; }
  [[nodiscard]] std::int64_t size() const { return layout_.shape()[0]; }  ///< over all ranks
  [[nodiscard]] std::int64_t features() const { return layout_.shape()[1]; }
  /// Whether ranks have rows of their own, whose sums are to be combined.
  [[nodiscard]] bool distributed() const { return layout_.split().has_value(); }
  /// The number of the first row of this rank among all, and how many it has.
  [[nodiscard]] std::int64_t first() const { return distributed() ? layout_.offset(comm_.rank()) : 0; }
  [[nodiscard]] std::int64_t count() const { return layout_.local_shape(comm_.rank())[0]; }
  /// Whether the rows are an array's, so that reading them cannot fail on one rank alone.
  [[nodiscard]] bool in_memory() const { return in_memory_; }
  /// As RowSource; a block of another shape is an error.
  [[nodiscard]] at::Tensor read(std::int64_t first, std::int64_t count) const;
  void pass(const RowSource::Visit& f) const;
  /// Where they come from, for those who know more of some source. Local.
  [[nodiscard]] const RowSource& source() const { return *source_; }

 private:
  std::shared_ptr<const RowSource> source_;
  Layout layout_;
  Dtype dtype_;
  Communicator comm_;
  bool in_memory_ = false;
};

}  // namespace heatpp
