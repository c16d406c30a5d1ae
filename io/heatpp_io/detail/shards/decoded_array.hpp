#pragma once

#include <heatpp_io/detail/shards/shard_reader.hpp>

namespace heatpp::io::detail {

/// Which numbers an array is asked for.
enum class Numbers {
  meant,   ///< those that the attributes say are meant
  stored,  ///< those that lie in the file
  /// Those that lie in the file, to be written to another one: unsigned numbers of 16 and 32 bits that attributes say
  /// something of as signed ones with the same bits, for which attributes_left adds `_Unsigned`; those of 64 bits as
  /// they are meant.
  to_copy
};

/// The open array of the file at `path`, which gives these numbers. Memory: about 4 MiB, or a row of chunks of at most
/// 64 MiB, or one chunk. Errors name `op`.
[[nodiscard]] OpenArray with_numbers(OpenArray stored, Numbers numbers, const std::string& path, const char* op);

[[nodiscard]] inline Numbers numbers_for(bool decode) { return decode ? Numbers::meant : Numbers::stored; }

/// Opens the array of that name in a file of a format, for these numbers of it.
using OpenNamed = OpenArray (*)(const std::string& path, const std::string& name);
[[nodiscard]] OpenShard opener(OpenNamed open, const std::string& name, Numbers numbers, const char* op);

/// The attributes that a reader of these numbers still needs.
[[nodiscard]] Attributes attributes_left(Attributes said, const Decoding& decoding, Numbers numbers);

}  // namespace heatpp::io::detail
