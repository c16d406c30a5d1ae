#pragma once

#include <heatpp/linalg/matrices/norm.hpp>

namespace heatpp::detail::named {

/// Does linalg::matrix_norm with errors that name `op`.
[[nodiscard]] DNDarray matrix_norm(const char* op, const DNDarray& x, const linalg::MatrixNormOptions& options);

}  // namespace heatpp::detail::named
