#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>
#include <string>

namespace heatpp::io::detail {

inline constexpr auto append_op = "append_rows";

/// A stored array that grows.
struct Growth {
  const std::string& path;
  const Shape& shape;
  Dtype dtype;
};
/// Throws ValueError if the rows of `x` do not fit it.
void check_growth(const Growth& to, const DNDarray& x);

void append_rows_zarr(const DNDarray& x, const std::filesystem::path& path, const SaveOptions& options);
void append_rows_hdf5(const DNDarray& x, const std::filesystem::path& path, const SaveOptions& options);

}  // namespace heatpp::io::detail
