#pragma once

#include <heatpp/sparse/detail/placed.hpp>
#include <heatpp/sparse/io/options.hpp>
#include <heatpp_io/detail/elements/flat_array.hpp>

// What the formats have in common.
namespace heatpp::sparse::detail {

/// A file that is being read: whose it is, and what errors name.
struct Loading {
  const char* op;
  std::string path;
  const LoadOptions& options;
  Communicator comm;
  Loading(const char* op_, const std::filesystem::path& path_, const LoadOptions& options_);
};

/// An array in a file, of which each rank reads what it needs: `count` of its elements from `first` on along an axis,
/// in its dtype. Local; throws IoError.
struct StoredArray {
  std::string what;  ///< for errors
  Shape shape;
  Dtype dtype = float64;
  std::function<at::Tensor(int axis, std::int64_t first, std::int64_t count)> read;
  [[nodiscard]] std::int64_t size() const { return shape.empty() ? 1 : shape[0]; }
  /// Whole numbers as int64. Throws IoError for others.
  [[nodiscard]] at::Tensor numbers(const Loading& file, std::int64_t first, std::int64_t count, int axis = 0) const;
  /// Returns whole numbers as int32 if they are stored as int32, else as int64.
  [[nodiscard]] at::Tensor whole_numbers(const Loading& file, std::int64_t first, std::int64_t count,
                                         int axis = 0) const;
};
/// One that lies in a run of bytes, which the reader has to outlive.
[[nodiscard]] StoredArray flat_array(const Loading& file, std::string what,
                                     std::shared_ptr<io::detail::ByteReader> bytes, io::detail::FlatArray array);

/// A matrix that is compressed by rows, or by columns, in a file.
struct StoredMatrix {
  Shape shape;
  bool by_columns = false;
  StoredArray pointers, indices, values;
};

/// Rows and columns that a file claims. Throws IoError for negative ones and those beyond all memory. Local.
void check_shape(const Loading& file, const Shape& shape);
/// This rank's rows of `stored`, first to first + count, or columns where it is compressed by them; checked. The values
/// may be blocks, (entries, ...), which are left to the caller. Local.
struct StoredRun {
  at::Tensor row_ptr;  ///< int64
  at::Tensor columns;  ///< int32 if they are stored as int32, else int64
  at::Tensor values;
  bool rising = true;  ///< whether columns rise in each row
};
[[nodiscard]] StoredRun read_run(const Loading& file, const StoredMatrix& stored, std::int64_t minor,
                                 std::int64_t first, std::int64_t count);
/// The matrix, cut and converted as the options say. Collective.
[[nodiscard]] DCSRMatrix load_compressed(const Loading& file, const StoredMatrix& stored);
/// The matrix of triples that each rank has some of. Collective.
[[nodiscard]] DCSRMatrix load_triples(const Loading& file, const Shape& shape, Triples triples);

/// Where entries begin for each row of the whole matrix, and behind the last one where they end: (rows + 1,), cut as
/// the rows. Local.
[[nodiscard]] DNDarray whole_pointers(const DCSRMatrix& a);
/// These and the columns in one dtype, as scipy wants them: int32 where both fit.
struct StoredIndices {
  DNDarray columns, pointers;
};
[[nodiscard]] StoredIndices indices_to_store(const DCSRMatrix& a);

/// Throws ValueError for options that only other formats have.
struct Has {
  bool group = false, compression = false;
};
void check_options(const char* op, const LoadOptions& options, const Has& has);
void check_options(const char* op, const SaveOptions& options, const Has& has);

}  // namespace heatpp::sparse::detail
