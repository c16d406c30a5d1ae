#pragma once

#include <filesystem>
#include <heatpp/sparse/dcsr.hpp>
#include <heatpp/sparse/io/options.hpp>
#include <hdf5.h>
#include <string>

namespace heatpp::sparse::detail {

/// Writes a text as an attribute of an HDF5 object.
void write_text(hid_t object, const char* name, const char* text);

/// Writes what AnnData requires besides matrices, unless the file has it: AnnData's mark, and observations and
/// variables with the names "0", "1", .... Local. Throws IoError naming `op` and the file `shown`.
void write_frames(hid_t file, const DCSRMatrix& a, const std::string& shown, const char* op);

/// Works as save_hdf5, for a file that anndata.read_h5ad opens.
void save_h5ad(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options);

}  // namespace heatpp::sparse::detail
