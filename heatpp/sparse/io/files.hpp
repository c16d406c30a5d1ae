#pragma once

#include <filesystem>
#include <heatpp/sparse/dcsr.hpp>
#include <heatpp/sparse/io/options.hpp>

namespace heatpp::sparse {

// All ranks read and write their part of a file, which all have to see. What a file says is checked before it is used:
// sizes, pointers that rise to the number of entries, places that are in range. Entries of the same place are added.
// Collective. Throw on all ranks: IoError for files that are missing, damaged or of another kind, ValueError for
// options that the format has not.

/// The matrix of a file in the format that its content tells, or else its extension: .mtx, .mtx.gz (load_mtx), .npz
/// (load_npz), .h5, .hdf5, .h5ad, .mat (load_hdf5), .zarr (load_zarr), .petsc (load_petsc). Throws ValueError for
/// others.
[[nodiscard]] DCSRMatrix load(const std::filesystem::path& path, const LoadOptions& options = {});
/// Writes a matrix in the format that the extension names. The file appears when it is complete, in one step, and
/// replaces an older one. A file .h5ad is a whole one of AnnData, whose observations and variables are called "0", "1",
/// ..., so that anndata.read_h5ad opens it, unless it is appended to. Throws ValueError for other extensions.
void save(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options = {});

/// A text file in the Matrix Market format: `coordinate` or `array`, of which what is 0 gets no entry; real, integer
/// (int64), complex, or pattern, whose entries are 1.0; general, or one triangle of a symmetric, skew-symmetric or
/// Hermitian matrix, of which the other one is added. Each rank parses its bytes, cut at line ends, and one exchange
/// takes entries to the owners of rows. Errors name the line. A file that gzip has compressed is read as well; each
/// rank decompresses it twice, up to the end of its part the second time.
[[nodiscard]] DCSRMatrix load_mtx(const std::filesystem::path& path, const LoadOptions& options = {});
/// All entries as `coordinate ... general`, numbers so that they are read back exactly: real, complex, or integer for
/// whole numbers and bool. Each rank writes the lines of its rows.
void save_mtx(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options = {});

/// What scipy.sparse.save_npz writes: formats csr, csc, coo, bsr and dia. Of what is stored, not deflated, a rank reads
/// its part; deflated members each rank inflates up to the end of its part. Rows come with no exchange from csr alone;
/// bsr and dia keep no entries that are 0 (dia) or keep all of their blocks (bsr). An array of one axis is a matrix of
/// one row; of more than two axes all behind the first are one, in C order.
[[nodiscard]] DCSRMatrix load_npz(const std::filesystem::path& path, const LoadOptions& options = {});
/// As csr, for scipy.sparse.load_npz, deflated where `compression` is given.
void save_npz(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options = {});

/// A group of an HDF5 file with the datasets data, indices and indptr: AnnData's csr_matrix and csc_matrix (attributes
/// encoding-type and shape, or h5sparse_format and h5sparse_shape of older files), 10x Genomics' `matrix` (by columns,
/// the cells, with datasets shape, barcodes, and features or genes), or others with a dataset or an attribute shape, by
/// rows unless there are as many pointers as columns alone want; or MATLAB's sparse matrix (-v7.3), by columns. Each
/// rank reads the pointers of its rows and one run of entries; what is stored by columns is transposed by one exchange.
[[nodiscard]] DCSRMatrix load_hdf5(const std::filesystem::path& path, const LoadOptions& options = {});
/// As AnnData's csr_matrix, version 0.1.0, which anndata.io.read_elem reads. Throws ValueError for a group that the
/// file has already.
void save_hdf5(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options = {});

/// A group of a Zarr store as AnnData has it: csr_matrix and csc_matrix, with the attributes encoding-type and shape.
[[nodiscard]] DCSRMatrix load_zarr(const std::filesystem::path& path, const LoadOptions& options = {});

/// The first object of a file in PETSc's binary format, a matrix: whole numbers of 4 or 8 bytes, and real or complex
/// values of float64, or float32, as the length of the file says.
[[nodiscard]] DCSRMatrix load_petsc(const std::filesystem::path& path, const LoadOptions& options = {});
/// For PETSc's MatLoad: float64 or complex128, and whole numbers of 4 bytes where they fit, else of 8.
void save_petsc(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options = {});

}  // namespace heatpp::sparse
