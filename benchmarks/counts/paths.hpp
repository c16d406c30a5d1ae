#pragma once

#include <heatpp/sparse/dcsr.hpp>
#include <heatpp_io/csv/detail/csv_plan.hpp>
#include <heatpp_nn/training/detail/section_file.hpp>

/// Calls that take another path on more than 1024 ranks, or in which other ranks answer something else than this one.
namespace paths {

namespace ht = heatpp;

/// Finds the part of a rank in a CSV file with quotes, of 64 bytes for each rank and at least 2 MiB.
class QuotedFile {
 public:
  explicit QuotedFile(const ht::Communicator& comm);
  ~QuotedFile();
  QuotedFile(const QuotedFile&) = delete;
  QuotedFile& operator=(const QuotedFile&) = delete;
  [[nodiscard]] ht::io::detail::CsvPlan plan() const;

 private:
  ht::Communicator comm_;
  std::string path_;
  std::int64_t bytes_;
};

/// A checkpoint of training with a section of a few bytes for each rank.
class Checkpoint {
 public:
  /// Writes one with as many sections as ranks.
  explicit Checkpoint(int sections);
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  /// Finds this rank's section.
  [[nodiscard]] ht::nn::detail::SectionFile found(const ht::Communicator& comm) const;

 private:
  std::string path_;
  int sections_;
};
/// Begins to save one.
[[nodiscard]] ht::nn::detail::SectionWriter saved(const ht::Communicator& comm);

/// Finds the places of elements in a sorted array, both cut.
[[nodiscard]] ht::DNDarray places(const ht::DNDarray& sorted, const ht::DNDarray& wanted);
/// Sends two keys of each of 8 features to the ranks that make their bins, of which this one is the last.
[[nodiscard]] std::vector<std::uint32_t> keys_of_features(const ht::Communicator& comm);
/// Gathers a row of two numbers of each rank.
[[nodiscard]] at::Tensor candidates(const ht::Communicator& comm);

/// Makes a matrix with two entries in each of four rows of a rank.
[[nodiscard]] ht::sparse::DCSRMatrix sparse_rows(const ht::Communicator& comm);
/// Cuts it by entries, which are even.
[[nodiscard]] ht::sparse::DCSRMatrix balanced(const ht::sparse::DCSRMatrix& matrix);

}  // namespace paths
