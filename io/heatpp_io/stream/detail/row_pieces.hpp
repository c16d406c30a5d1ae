#pragma once

#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/stream/save_rows.hpp>

namespace heatpp::io::detail {

[[nodiscard]] const Communicator& comm_of(const RowsToSave& x);
[[nodiscard]] std::int64_t bytes_of(const RowsToSave& x);

/// Calls `write` with the rows piece by piece. Each piece is a multiple of `unit` rows, except the last. Pieces are not
/// split along another axis than 0. Collective.
using WritePiece = std::function<void(std::int64_t first, const DNDarray& rows)>;
void each_piece(const char* op, const RowsToSave& x, std::int64_t unit, const WritePiece& write);

/// Save the rows in one format. Collective. Throw as save_rows.
void save_rows_hdf5(const RowsToSave& x, const std::filesystem::path& path, const SaveOptions& options);
void save_rows_netcdf(const RowsToSave& x, const std::filesystem::path& path, const SaveOptions& options);
void save_rows_npy(const RowsToSave& x, const std::filesystem::path& path, bool uint64);
void save_rows_safetensors(const RowsToSave& x, const std::filesystem::path& path, const SaveOptions& options);
void save_rows_zarr(const RowsToSave& x, const std::filesystem::path& path, const SaveOptions& options);
void save_rows_csv(const RowsToSave& x, const std::filesystem::path& path);

}  // namespace heatpp::io::detail
