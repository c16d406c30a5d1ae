#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/aside_file.hpp>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;
namespace fs = std::filesystem;

/// A hidden name in the same directory, since files can be moved in one step only within a file system.
fs::path name_beside(const fs::path& target) {
  std::random_device random;
  return target.parent_path() / fmt::format(".{}.{:08x}{:08x}", target.filename().string(), random(), random());
}

void create(const fs::path& path, const fs::path& target, const char* op) {
  const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0666);
  if (file < 0)
    raise<IoError>(op, "got \"{}\", whose directory cannot be written ({}); expected an existing directory with room",
                   target.string(), std::strerror(errno));
  ::close(file);
}

void copy(const fs::path& from, const fs::path& to, const char* op) {
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error)
    raise<IoError>(op, "got \"{}\", which cannot be copied to be extended ({}); expected a readable file, and room",
                   from.string(), error.message());
}

/// Where `path` leads if it is a symbolic link, which then stays one.
fs::path followed(fs::path path) {
  std::error_code error;
  for (int links = 0; links < 40 && fs::is_symlink(path, error); ++links)
    path = path.parent_path() / fs::read_symlink(path, error);
  return path;
}

[[noreturn]] void raise_full(std::int64_t bytes, int reason, const char* op) {
  raise<IoError>(op, "got {} bytes to write, for which there is no room ({}); expected room on the disk", bytes,
                 std::strerror(reason));
}

}  // namespace

AsideFile::AsideFile(const fs::path& target, Begin begin, const char* op) : op_(op), target_(followed(target)) {
  std::error_code ignored;
  if (fs::is_directory(target_, ignored))
    raise<IoError>(op, "got \"{}\", which is a directory; expected the name of a file", target.string());
  path_ = name_beside(target_);
  create(path_, target, op);
  exists_ = true;
  try {
    if (begin == Begin::copy) copy(target_, path_, op);
  } catch (const Error&) {
    ::unlink(path_.c_str());  // the destructor does not run
    throw;
  }
}

AsideFile::~AsideFile() {
  if (exists_) ::unlink(path_.c_str());
}

void AsideFile::commit() {
  if (::rename(path_.c_str(), target_.c_str()) != 0)
    raise<IoError>(op_, "got \"{}\", to which the complete file cannot be moved ({}); expected a place for it",
                   target_.string(), std::strerror(errno));
  exists_ = false;
}

void Room::check(const fs::path& file, std::int64_t bytes, const char* op) {
  struct statvfs disk {};
  if (::statvfs(file.c_str(), &disk) != 0) return;  // reserving or writing will tell
  const auto block = static_cast<double>(disk.f_frsize);
  if (static_cast<double>(disk.f_bfree) * block < static_cast<double>(bytes)) raise_full(bytes, ENOSPC, op);
}

void Room::reserve(const fs::path& file, std::int64_t bytes, const char* op) {
  std::error_code ignored;
  const auto size = static_cast<std::int64_t>(fs::file_size(file, ignored));
  const int handle = ::open(file.c_str(), O_WRONLY);
  if (handle < 0) return;
  const int failed = ::fallocate(handle, FALLOC_FL_KEEP_SIZE, 0, size + bytes) == 0 ? 0 : errno;
  ::close(handle);
  if (failed != ENOSPC && failed != EDQUOT && failed != EFBIG) return;  // or a file system that cannot reserve
  trim(file);
  raise_full(bytes, failed, op);
}

void Room::trim(const fs::path& file) {
  std::error_code ignored;
  fs::resize_file(file, fs::file_size(file, ignored), ignored);
}

}  // namespace heatpp::io::detail
