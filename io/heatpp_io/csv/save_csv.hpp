#pragma once

#include <filesystem>
#include <heatpp/core/dndarray.hpp>

namespace heatpp::io {

/// How a text file is written.
struct SaveCsvOptions {
  char delimiter = ',';
  std::string header = {};                     ///< lines before the numbers, without the last line end; empty: none
  std::string footer = {};                     ///< lines behind the numbers
  std::optional<int> decimals = std::nullopt;  ///< digits behind the point of floats; nullopt: as many as they need
};

/// Writes an array of at most two axes as text, one row a line (of one axis: one number a line), as numpy.savetxt does.
/// Floats get the fewest digits from which the same float is read again; bool is 0 and 1, complex 1+2j. The file
/// appears under its name when it is complete; after an error an older one is as it was. Any layout. Collective: each
/// rank makes the text of its rows, and writes it behind that of the ranks before it; arrays split along axis 1 are
/// resplit first. Text beyond the size of the block is made twice instead of kept. Throws on all ranks: ValueError for
/// more axes and bad options, IoError for a directory that is missing and a full disk.
void save_csv(const DNDarray& x, const std::filesystem::path& path, const SaveCsvOptions& options = {});

}  // namespace heatpp::io
