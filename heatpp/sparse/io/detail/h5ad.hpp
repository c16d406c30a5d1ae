#pragma once

#include <filesystem>
#include <heatpp/sparse/dcsr.hpp>
#include <heatpp/sparse/io/options.hpp>
#include <hdf5.h>
#include <string>

namespace heatpp::sparse::detail {

/// A text as an attribute of an object of HDF5.
void write_text(hid_t object, const char* name, const char* text);

/// What AnnData wants of a file beside its matrices, where the file has it not: that it is one of AnnData's, and the
/// observations and variables, called "0", "1", .... Local. Throws IoError naming `op` and the file `shown`.
void write_frames(hid_t file, const DCSRMatrix& a, const std::string& shown, const char* op);

/// As save_hdf5, for a file that anndata.read_h5ad opens.
void save_h5ad(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options);

}  // namespace heatpp::sparse::detail
