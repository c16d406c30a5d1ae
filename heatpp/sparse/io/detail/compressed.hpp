#pragma once

#include <heatpp/sparse/detail/placed.hpp>
#include <heatpp/sparse/io/options.hpp>
#include <heatpp_io/detail/elements/flat_array.hpp>

// Functions that several formats share.
namespace heatpp::sparse::detail {

/// A file that is being read: its caller, and the names in errors.
struct Loading {
  const char* op;
  std::string path;
  const LoadOptions& options;
  Communicator comm;
  Loading(const char* op_, const std::filesystem::path& path_, const LoadOptions& options_);
};

/// An array in a file, of which each rank reads what it needs: `count` of its elements from `first` on along an axis,
/// in its dtype. Local. Throws IoError.
struct StoredArray {
  std::string what;  ///< name in errors
  Shape shape;
  Dtype dtype = float64;
  std::function<at::Tensor(int axis, std::int64_t first, std::int64_t count)> read;
  [[nodiscard]] std::int64_t size() const { return shape.empty() ? 1 : shape[0]; }
  /// Returns whole numbers as int64. Throws IoError for other numbers.
  [[nodiscard]] at::Tensor numbers(const Loading& file, std::int64_t first, std::int64_t count, int axis = 0) const;
  /// Returns whole numbers as int32 if they are stored as int32, else as int64.
  [[nodiscard]] at::Tensor whole_numbers(const Loading& file, std::int64_t first, std::int64_t count,
                                         int axis = 0) const;
};
/// Returns an array that is a run of bytes. The reader must outlive it.
[[nodiscard]] StoredArray flat_array(const Loading& file, std::string what,
                                     std::shared_ptr<io::detail::ByteReader> bytes, io::detail::FlatArray array);

/// A matrix in a file that is compressed by rows or by columns.
struct StoredMatrix {
  Shape shape;
  bool by_columns = false;
  StoredArray pointers, indices, values;
};

/// Throws IoError for negative extents in a file, and for those that no memory could hold. Local.
void check_shape(const Loading& file, const Shape& shape);
/// Reads and checks this rank's rows of `stored`, from `first` on, or columns if it is compressed by them. The values
/// may be blocks, (entries, ...), which the caller handles. Local.
struct StoredRun {
  at::Tensor row_ptr;  ///< int64
  at::Tensor columns;  ///< int32 if they are stored as int32, else int64
  at::Tensor values;
  bool rising = true;  ///< whether columns increase in each row
};
[[nodiscard]] StoredRun read_run(const Loading& file, const StoredMatrix& stored, std::int64_t minor,
                                 std::int64_t first, std::int64_t count);
/// Returns the matrix, cut and converted as the options say. Collective.
[[nodiscard]] DCSRMatrix load_compressed(const Loading& file, const StoredMatrix& stored);
/// Returns the matrix of the triples of all ranks. Collective.
[[nodiscard]] DCSRMatrix load_triples(const Loading& file, const Shape& shape, Triples triples);

/// Returns where the entries of each row of the whole matrix begin, and where those of the last row end: (rows + 1,),
/// cut as the rows. Local.
[[nodiscard]] DNDarray whole_pointers(const DCSRMatrix& a);
/// These pointers and the columns in one dtype, as scipy requires: int32 if both fit.
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
