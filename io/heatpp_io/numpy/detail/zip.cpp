#include <heatpp_io/numpy/detail/zip.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/inflate.hpp>
#include <heatpp_io/numpy/detail/little_endian.hpp>

#include <algorithm>
#include <limits>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

// Names and sizes follow the description of the format, APPNOTE.TXT 6.3, 4.3.
constexpr std::uint64_t local_signature = 0x04034b50, central_signature = 0x02014b50, end_signature = 0x06054b50,
                        end64_signature = 0x06064b50, locator_signature = 0x07064b50;
constexpr std::int64_t local_bytes = 30, central_bytes = 46, end_bytes = 22, end64_bytes = 56, locator_bytes = 20;
constexpr std::int64_t longest_comment = 65535;
constexpr std::uint32_t in_extra = 0xffffffff;  // the number is in zip64's extra field
constexpr std::uint64_t most_deflated = 1032;   // limit of bytes for one stored byte: 258 for each two bits
constexpr std::uint16_t zip64_field = 1, zip64_version = 45;

class Archive {
 public:
  Archive(ByteReader& bytes, const std::string& path, const char* op) : bytes_(bytes), path_(path), op_(op) {}

  [[nodiscard]] std::string read(std::uint64_t at, std::int64_t count, const char* what) const {
    if (at > static_cast<std::uint64_t>(bytes_.size()) || bytes_.size() - static_cast<std::int64_t>(at) < count)
      fail(what);
    std::string text(static_cast<std::size_t>(count), '\0');
    bytes_.read(static_cast<std::int64_t>(at), count, text.data());
    return text;
  }
  [[nodiscard]] std::int64_t size() const { return bytes_.size(); }
  [[noreturn]] void fail(const char* what) const {
    raise<IoError>(op_, "got \"{}\" with {}; expected a complete zip archive", path_, what);
  }
  [[noreturn]] void refuse(const std::string& name, const std::string& why) const {
    raise<IoError>(op_, "got {:?} of \"{}\", which is {}; expected a member that is stored or deflated", name, path_,
                   why);
  }

 private:
  ByteReader& bytes_;
  const std::string& path_;
  const char* op_;
};

struct Directory {
  std::uint64_t at = 0, bytes = 0, count = 0;
};

Directory find_directory(const Archive& archive) {
  const auto tail = std::min(archive.size(), end_bytes + longest_comment);
  const auto first = archive.size() - tail;
  const auto text = archive.read(static_cast<std::uint64_t>(first), tail, "no end");
  for (auto at = tail - end_bytes; at >= 0; --at) {
    const auto i = static_cast<std::size_t>(at);
    if (little_endian(text, i, 4) != end_signature) continue;
    if (at >= locator_bytes) {
      const auto locator = i - static_cast<std::size_t>(locator_bytes);
      if (little_endian(text, locator, 4) == locator_signature) {
        const auto end = archive.read(little_endian(text, locator + 8, 8), end64_bytes, "no end record of zip64");
        if (little_endian(end, 0, 4) != end64_signature) archive.fail("a damaged end record of zip64");
        return {little_endian(end, 48, 8), little_endian(end, 40, 8), little_endian(end, 32, 8)};
      }
    }
    return {little_endian(text, i + 16, 4), little_endian(text, i + 12, 4), little_endian(text, i + 10, 2)};
  }
  archive.fail("no table of contents");
}

/// Replaces numbers that are too large for their place by those in zip64's field.
void take_zip64(std::string_view extra, std::initializer_list<std::uint64_t*> numbers, const Archive& archive) {
  while (extra.size() >= 4) {
    const auto length = little_endian(extra, 2, 2);
    if (length > extra.size() - 4) archive.fail("a damaged extra field");
    auto field = extra.substr(4, length);
    if (little_endian(extra, 0, 2) == zip64_field) {
      for (auto* number : numbers) {
        if (*number != in_extra) continue;
        if (field.size() < 8) archive.fail("a short field of zip64");
        *number = little_endian(field, 0, 8);
        field.remove_prefix(8);
      }
    }
    extra.remove_prefix(4 + length);
  }
}

/// Returns the member whose entry begins at `at`, and moves `at` to the end of the entry.
ZipMember member_at(const std::string& directory, std::size_t& at, const Archive& archive) {
  const std::string_view rest = std::string_view(directory).substr(at);
  if (std::ssize(rest) < central_bytes || little_endian(rest, 0, 4) != central_signature)
    archive.fail("a damaged table of contents");
  const auto name_bytes = little_endian(rest, 28, 2), extra_bytes = little_endian(rest, 30, 2);
  const auto all = central_bytes + name_bytes + extra_bytes + little_endian(rest, 32, 2);
  if (rest.size() < all) archive.fail("a damaged table of contents");
  const auto name = rest.substr(central_bytes, name_bytes);
  auto stored = little_endian(rest, 20, 4), bytes = little_endian(rest, 24, 4), header = little_endian(rest, 42, 4);
  take_zip64(rest.substr(central_bytes + name_bytes, extra_bytes), {&bytes, &stored, &header}, archive);
  const auto size = static_cast<std::uint64_t>(archive.size());
  if (header > size || stored > size - header || bytes > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
    archive.fail("members beyond its end");
  const auto method = little_endian(rest, 10, 2);
  if (little_endian(rest, 8, 2) & 1) archive.refuse(std::string(name), "encrypted");
  if (method != 0 && method != 8) archive.refuse(std::string(name), formatted("compressed by method {}", method));
  if (method == 0 && stored != bytes) archive.fail("members of two sizes");
  if (bytes / most_deflated > stored) archive.fail("a member smaller than its contents can be");
  at += all;
  return {std::string(name),
          static_cast<std::int64_t>(header),
          static_cast<std::int64_t>(stored),
          static_cast<std::int64_t>(bytes),
          static_cast<std::uint32_t>(little_endian(rest, 16, 4)),
          method == 8};
}

/// Returns the flag for a name in UTF-8 if the name is not ASCII.
std::uint64_t flags_of(const ZipMember& member) {
  return std::ranges::all_of(member.name, [](char c) { return (c & 0x80) == 0; }) ? 0 : 0x800;
}

}  // namespace

std::vector<ZipMember> zip_members(ByteReader& bytes, const std::string& path, const char* op) {
  const Archive archive(bytes, path, op);
  const auto directory = find_directory(archive);
  if (directory.bytes > static_cast<std::uint64_t>(archive.size())) archive.fail("a damaged end");
  const auto text = archive.read(directory.at, static_cast<std::int64_t>(directory.bytes), "a damaged end");
  std::vector<ZipMember> members;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < directory.count; ++i) members.push_back(member_at(text, at, archive));
  return members;
}

std::unique_ptr<ByteReader> open_member(ByteReader& bytes, const ZipMember& member, const std::string& path,
                                        const char* op) {
  const Archive archive(bytes, path, op);
  const auto head = archive.read(static_cast<std::uint64_t>(member.at), local_bytes, "a member beyond its end");
  if (little_endian(head, 0, 4) != local_signature) archive.fail("a damaged member");
  const auto first =
      member.at + local_bytes + static_cast<std::int64_t>(little_endian(head, 26, 2) + little_endian(head, 28, 2));
  if (member.stored_bytes > archive.size() - first) archive.fail("a member beyond its end");
  if (!member.deflated) return std::make_unique<PartReader>(bytes, first, member.bytes);
  const Deflated stream{first, member.stored_bytes, member.bytes, DeflateFormat::raw, member.crc};
  return std::make_unique<InflateReader>(bytes, stream, path, op);
}

std::string zip_header(const ZipMember& member) {
  std::string text;
  const auto add = [&](std::uint64_t value, int size) { append_little_endian(text, value, size); };
  add(local_signature, 4);
  add(zip64_version, 2);
  add(flags_of(member), 2);
  add(member.deflated ? 8 : 0, 2);
  add(0x00210000, 4);  // fixed time (1 January 1980), so that equal arrays give equal files
  add(member.crc, 4);
  add(in_extra, 4);
  add(in_extra, 4);
  add(member.name.size(), 2);
  add(20, 2);
  text += member.name;
  add(zip64_field, 2);
  add(16, 2);
  add(static_cast<std::uint64_t>(member.bytes), 8);
  add(static_cast<std::uint64_t>(member.stored_bytes), 8);
  return text;
}

std::string zip_directory(const std::vector<ZipMember>& members, std::int64_t at) {
  std::string text;
  const auto add = [&](std::uint64_t value, int size) { append_little_endian(text, value, size); };
  for (const auto& member : members) {
    add(central_signature, 4);
    add(zip64_version, 2);
    add(zip64_version, 2);
    add(flags_of(member), 2);
    add(member.deflated ? 8 : 0, 2);
    add(0x00210000, 4);
    add(member.crc, 4);
    add(in_extra, 4);
    add(in_extra, 4);
    add(member.name.size(), 2);
    add(28, 2);
    add(0, 10);  // no comment, first disk, no attributes
    add(in_extra, 4);
    text += member.name;
    add(zip64_field, 2);
    add(24, 2);
    for (const auto number : {member.bytes, member.stored_bytes, member.at}) add(static_cast<std::uint64_t>(number), 8);
  }
  const auto bytes = text.size();
  add(end64_signature, 4);
  add(end64_bytes - 12, 8);
  add(zip64_version, 2);
  add(zip64_version, 2);
  add(0, 8);  // the only disk
  for (const auto number : {members.size(), members.size(), bytes}) add(number, 8);
  add(static_cast<std::uint64_t>(at), 8);
  add(locator_signature, 4);
  add(0, 4);
  add(static_cast<std::uint64_t>(at) + bytes, 8);
  add(1, 4);
  add(end_signature, 4);
  add(0, 4);
  add(0xffffffff, 4);  // counts, size and place are in zip64's record
  add(in_extra, 4);
  add(in_extra, 4);
  add(0, 2);
  return text;
}

}  // namespace heatpp::io::detail
