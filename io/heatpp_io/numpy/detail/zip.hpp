#pragma once

#include <heatpp_io/detail/files/byte_file.hpp>
#include <memory>
#include <vector>

namespace heatpp::io::detail {

/// A file in a zip archive.
struct ZipMember {
  std::string name;
  std::int64_t at = 0;  ///< of its header in the archive
  std::int64_t stored_bytes = 0;
  std::int64_t bytes = 0;  ///< of the file itself
  std::uint32_t crc = 0;
  bool deflated = false;
};

/// The archive's table of contents (zip64 included). Throws IoError naming `op` for files that are none or damaged, and
/// for members that are encrypted or compressed in another way than by deflate.
[[nodiscard]] std::vector<ZipMember> zip_members(ByteReader& archive, const std::string& path, const char* op);

/// A member to be read; what it refers to has to outlive it. Deflated ones are decompressed from their beginning up to
/// what is read, and their checksum is compared where they are read to their end. Throws IoError.
[[nodiscard]] std::unique_ptr<ByteReader> open_member(ByteReader& archive, const ZipMember& member,
                                                      const std::string& path, const char* op);

/// The header before the bytes of a member, always with the sizes of zip64; it is equally long for every checksum.
[[nodiscard]] std::string zip_header(const ZipMember& member);
/// The end of an archive with these members, which begins at `at`.
[[nodiscard]] std::string zip_directory(const std::vector<ZipMember>& members, std::int64_t at);

}  // namespace heatpp::io::detail
