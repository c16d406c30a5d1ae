#include <heatpp_io/detail/files/subfiles.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>

#include <sys/stat.h>

#include <array>
#include <fstream>
#include <string_view>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;
namespace fs = std::filesystem;
using Paths = std::vector<fs::path>;

constexpr std::string_view infix = ".subfile_", list_end = ".config";

/// Returns the beginning of the names of the subfiles that `file` has under the name `name`. If there is no file, the
/// inode is 0, which no file has.
std::string stem_of(const fs::path& file, const fs::path& name) {
  struct stat status {};
  ::stat(file.c_str(), &status);
  return heatpp::detail::formatted("{}{}{}", name.filename().string(), infix, status.st_ino);
}

bool has_list(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file.parent_path() / (stem_of(file, file) + std::string(list_end)), ignored);
}

Paths beside(const fs::path& file, const std::string& stem) {
  Paths found;
  std::error_code ignored;
  for (fs::directory_iterator at(fs::absolute(file).parent_path(), ignored), end; at != end; at.increment(ignored)) {
    const auto name = at->path().filename().string();
    if (name.starts_with(stem + "_") || name == stem + std::string(list_end)) found.push_back(at->path());
  }
  return found;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// Returns the end of a file's bytes, as its superblock states; 0 for files that are not HDF5.
std::uint64_t end_of_bytes(const fs::path& file) {
  constexpr std::string_view signature = "\211HDF\r\n\032\n";
  std::array<char, 52> head{};
  std::ifstream(file, std::ios::binary).read(head.data(), std::ssize(head));
  if (!std::string_view(head.data(), head.size()).starts_with(signature)) return 0;
  const auto version = head[8];
  const std::size_t at = version == 0 ? 40 : version == 1 ? 44 : 28;
  std::uint64_t end = 0;  // 8 bytes, lowest first
  for (std::size_t i = 8; i-- > 0;) end = end << 8 | static_cast<unsigned char>(head[at + i]);
  return end;
}

}  // namespace

bool in_subfiles(const fs::path& path) {
  std::error_code error;
  const auto file = fs::canonical(path, error);
  // A file that h5fuse has made is complete, even next to its subfiles; so is a copy that replaced such a file.
  return !error && fs::is_regular_file(file, error) && has_list(file) &&
         fs::file_size(file, error) < end_of_bytes(file);
}

void check_can_grow(const fs::path& path, const char* op) {
  if (in_subfiles(path))
    raise<IoError>(op, "got \"{}\" to extend, which is in subfiles; expected a file that holds its elements itself",
                   path.string());
}

Paths subfiles_of(const fs::path& path) { return has_list(path) ? beside(path, stem_of(path, path)) : Paths(); }

void rename_subfiles(const fs::path& from, const fs::path& to, const char* op) {
  const auto old_name = from.filename().string(), name = to.filename().string();
  for (const auto& file : subfiles_of(from)) {
    if (file.extension() == list_end)
      write_atomically(op, file.string(), replaced(read_file(op, file.string()), old_name, name));
    std::error_code error;
    fs::rename(file, file.parent_path() / replaced(file.filename().string(), old_name, name), error);
    if (error)
      raise<IoError>(op, "got \"{}\", which cannot be renamed ({}); expected a place for it", file.string(),
                     error.message());
  }
}

void remove_subfiles(const fs::path& from, const fs::path& to) {
  remove_files(beside(from, stem_of(from, from)));
  remove_files(beside(from, stem_of(from, to)));
}

void remove_files(const Paths& files) {
  std::error_code ignored;
  for (const auto& file : files) fs::remove(file, ignored);
}

}  // namespace heatpp::io::detail
