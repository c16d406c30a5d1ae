#pragma once

#include <filesystem>
#include <heatpp/sparse/dcsr.hpp>
#include <heatpp/sparse/io/options.hpp>

namespace heatpp::sparse {

// All ranks read and write their part of a file, and must all see it; rank 0 alone reads a file of at most 1 MiB.
// Values from a file are checked before use: sizes, pointers, which must increase to the number of entries, and places,
// which must be in range. Entries of the same place are added. Collective. Throw on all ranks: IoError for files that
// are missing, damaged or of another format, ValueError for options that the format does not have.

/// Loads a matrix in the format that the content of the file determines, or else its extension: .mtx, .mtx.gz
/// (load_mtx), .npz (load_npz), .h5, .hdf5, .h5ad, .mat (load_hdf5), .zarr (load_zarr), .petsc (load_petsc). Throws
/// ValueError for others.
[[nodiscard]] DCSRMatrix load(const std::filesystem::path& path, const LoadOptions& options = {});
/// Writes a matrix in the format that the extension names. The complete file replaces an older one in one step. A .h5ad
/// file is a whole file of AnnData, whose observations and variables have the names "0", "1", ..., so that
/// anndata.read_h5ad opens it, except if it is appended to. Throws ValueError for other extensions.
void save(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options = {});

/// Loads a text file in the Matrix Market format: `coordinate` or `array`, whose zeros get no entries; real, integer
/// (int64), complex, or pattern, whose entries are 1.0; general, or one triangle of a symmetric, skew-symmetric or
/// Hermitian matrix, to which the other one is added. Each rank parses its bytes, cut at line ends, and one exchange
/// moves entries to the owners of rows. Errors name the line. Files that gzip has compressed are also read; each rank
/// decompresses them twice, the second time up to the end of its part.
[[nodiscard]] DCSRMatrix load_mtx(const std::filesystem::path& path, const LoadOptions& options = {});
/// Writes all entries as `coordinate ... general`, with enough digits to read them back exactly: real, complex, or
/// integer for whole numbers and bool. Each rank writes the lines of its rows.
void save_mtx(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options = {});

/// Loads what scipy.sparse.save_npz writes: formats csr, csc, coo, bsr and dia. From stored members a rank reads its
/// part; it inflates deflated members up to the end of its part. Only csr gives rows without an exchange. bsr keeps all
/// entries of its blocks; dia keeps no entries that are 0. An array of one axis is a matrix of one row; of an array
/// with more than two axes, all after the first become one, in C order.
[[nodiscard]] DCSRMatrix load_npz(const std::filesystem::path& path, const LoadOptions& options = {});
/// Writes a matrix as csr, which scipy.sparse.load_npz reads, deflated if `compression` is given.
void save_npz(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options = {});

/// Loads a group of an HDF5 file with the datasets data, indices and indptr, or MATLAB's sparse matrix (-v7.3), by
/// columns. AnnData's csr_matrix and csc_matrix have the attributes encoding-type and shape, or h5sparse_format and
/// h5sparse_shape in older files. 10x Genomics' `matrix` is by columns, the cells, with the datasets shape, barcodes,
/// and features or genes. Other groups have a dataset or an attribute shape; they are by rows unless only columns fit
/// the number of pointers. Each rank reads the pointers of its rows and one run of entries; one exchange transposes a
/// matrix by columns.
[[nodiscard]] DCSRMatrix load_hdf5(const std::filesystem::path& path, const LoadOptions& options = {});
/// Writes a matrix as AnnData's csr_matrix, version 0.1.0, which anndata.io.read_elem reads. Throws ValueError for a
/// group that the file already has.
void save_hdf5(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options = {});

/// Loads a group of a Zarr store in AnnData's form: csr_matrix and csc_matrix, with attributes encoding-type and shape.
[[nodiscard]] DCSRMatrix load_zarr(const std::filesystem::path& path, const LoadOptions& options = {});

/// Loads the first object of a file in PETSc's binary format, a matrix: whole numbers of 4 or 8 bytes, and real or
/// complex values of float64 or float32, which the length of the file determines.
[[nodiscard]] DCSRMatrix load_petsc(const std::filesystem::path& path, const LoadOptions& options = {});
/// Writes a matrix for PETSc's MatLoad: float64 or complex128, and whole numbers of 4 bytes if they fit, else of 8.
void save_petsc(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options = {});

}  // namespace heatpp::sparse
