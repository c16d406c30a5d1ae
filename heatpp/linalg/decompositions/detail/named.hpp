#pragma once

#include <heatpp/linalg/decompositions/eigh.hpp>
#include <heatpp/linalg/decompositions/svd.hpp>

/// Functions of linalg whose errors name `op`.
namespace heatpp::detail::named {

[[nodiscard]] linalg::SVD svd(const char* op, const DNDarray& x, const linalg::SvdOptions& options = {});
[[nodiscard]] DNDarray svdvals(const char* op, const DNDarray& x);
[[nodiscard]] linalg::Eigen eigh(const char* op, const DNDarray& x, linalg::Triangle uplo = linalg::Triangle::lower);

}  // namespace heatpp::detail::named
