#pragma once

#include <filesystem>
#include <heatpp/core/dndarray.hpp>

namespace heatpp::io {

/// How a text file is written.
struct SaveCsvOptions {
  char delimiter = ',';
  std::string header = {};                     ///< lines before the numbers, without the last line end; empty: none
  std::string footer = {};                     ///< lines after the numbers
  std::optional<int> decimals = std::nullopt;  ///< digits after the decimal point of floats; nullopt: as many as needed
};

/// Writes an array of at most two axes as text, one row a line (with one axis: one number a line), as numpy.savetxt.
/// Floats get the fewest digits from which the same float is read; bool is 0 and 1, complex 1+2j. The complete file
/// replaces an older one in one step; after an error the older one is unchanged. Any layout. Collective: each rank
/// formats its rows and writes them after those of the ranks before it; arrays split along axis 1 are resplit first.
/// Text that is larger than the block is formatted twice and not kept. Throws on all ranks: ValueError for more axes
/// and bad options, IoError for a missing directory and a full disk.
void save_csv(const DNDarray& x, const std::filesystem::path& path, const SaveCsvOptions& options = {});

}  // namespace heatpp::io
