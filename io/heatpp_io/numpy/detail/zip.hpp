#pragma once

#include <heatpp_io/detail/files/byte_file.hpp>
#include <memory>
#include <vector>

namespace heatpp::io::detail {

/// A file in a zip archive.
struct ZipMember {
  std::string name;
  std::int64_t at = 0;  ///< place of its header in the archive
  std::int64_t stored_bytes = 0;
  std::int64_t bytes = 0;  ///< size of the file itself
  std::uint32_t crc = 0;
  bool deflated = false;
};

/// Returns an archive's table of contents (including zip64). Throws IoError naming `op` for other and damaged files,
/// and for members that are encrypted or not compressed by deflate.
[[nodiscard]] std::vector<ZipMember> zip_members(ByteReader& archive, const std::string& path, const char* op);

/// Opens a member for reading; the arguments must outlive the reader. Deflated members are decompressed from their
/// beginning; their checksum is compared when the end is read. Throws IoError.
[[nodiscard]] std::unique_ptr<ByteReader> open_member(ByteReader& archive, const ZipMember& member,
                                                      const std::string& path, const char* op);

/// Returns the header of a member, always with the sizes of zip64; its length does not depend on the checksum.
[[nodiscard]] std::string zip_header(const ZipMember& member);
/// Returns the end of an archive with these members, which begins at `at`.
[[nodiscard]] std::string zip_directory(const std::vector<ZipMember>& members, std::int64_t at);

}  // namespace heatpp::io::detail
