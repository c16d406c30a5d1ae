#pragma once

#include <string>
#include <vector>

namespace tools {

/// Whether `heatpp` treats a file as a sparse matrix: .mtx, .mtx.gz, .petsc; .npz that SciPy's save_npz has written;
/// and .h5ad if `dataset` in it, or X, is sparse. Collective.
[[nodiscard]] bool holds_matrix(const std::string& path, const std::string& dataset);

/// Describes the sparse matrix of a file, in lines or as JSON. It is held in memory. Collective.
[[nodiscard]] std::string description_of_matrix(const std::string& path, bool json);

}  // namespace tools
