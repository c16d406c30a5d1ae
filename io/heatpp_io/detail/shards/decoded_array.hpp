#pragma once

#include <heatpp_io/detail/shards/shard_reader.hpp>

namespace heatpp::io::detail {

/// Which numbers of an array are read.
enum class Numbers {
  meant,   ///< numbers after decoding by the attributes
  stored,  ///< numbers as they are in the file
  /// numbers as they are in the file, to copy them to another file. Unsigned numbers of 16 and 32 bits with decoding
  /// attributes become signed ones with the same bits, and attributes_left adds `_Unsigned`. Those of 64 bits are
  /// decoded; uint64 without such attributes becomes int64 with the same bits.
  to_copy
};

/// Returns the open array of the file at `path` that gives these numbers. It needs memory for about 4 MiB, a row of
/// chunks of at most 64 MiB, or one chunk. Errors name `op`.
[[nodiscard]] OpenArray with_numbers(OpenArray stored, Numbers numbers, const std::string& path, const char* op);

[[nodiscard]] inline Numbers numbers_for(bool decode) { return decode ? Numbers::meant : Numbers::stored; }

/// Opens the named array in a file of one format, and gives these numbers.
using OpenNamed = OpenArray (*)(const std::string& path, const std::string& name);
[[nodiscard]] OpenShard opener(OpenNamed open, const std::string& name, Numbers numbers, const char* op);

/// Returns the attributes that a reader of these numbers still needs.
[[nodiscard]] Attributes attributes_left(Attributes said, const Decoding& decoding, Numbers numbers);

}  // namespace heatpp::io::detail
