#include <heatpp_io/detail/files/aside_file.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_io/detail/files/subfiles.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;
namespace fs = std::filesystem;

/// Creates the file at `path`, with the permissions of an older one.
void create(const fs::path& path, const fs::path& target, const fs::file_status& old, const char* op) {
  const Descriptor file(path, O_CREAT | O_EXCL | O_WRONLY);
  if (file.get() < 0)
    raise<IoError>(op, "got \"{}\", whose directory cannot be written ({}); expected an existing directory with room",
                   target.string(), std::strerror(errno));
  if (fs::exists(old)) ::fchmod(file.get(), static_cast<mode_t>(old.permissions()) | S_IRUSR | S_IWUSR);
}

void copy(const fs::path& from, const fs::path& to, const char* op) {
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error)
    raise<IoError>(op, "got \"{}\", which cannot be copied to be extended ({}); expected a readable file, and room",
                   from.string(), error.message());
}

bool flush(const fs::path& path, int flags) {
  const Descriptor opened(path, flags);
  return opened.get() >= 0 && ::fsync(opened.get()) == 0;
}

}  // namespace

fs::path followed(fs::path path) {
  std::error_code error;
  for (int links = 0; links < 40 && fs::is_symlink(path, error); ++links)
    path = path.parent_path() / fs::read_symlink(path, error);
  return path;
}

fs::path name_beside(const fs::path& target) {
  std::random_device random;
  return target.parent_path() / formatted(".{}.{:08x}{:08x}", target.filename().string(), random(), random());
}

AsideFile::AsideFile(const fs::path& target, Begin begin, const char* op) : op_(op), target_(followed(target)) {
  std::error_code ignored;
  const auto old = fs::status(target_, ignored);
  if (fs::exists(old) && !fs::is_regular_file(old))
    raise<IoError>(op, "got \"{}\", which is a {}; expected the name of a file", target.string(),
                   fs::is_directory(old) ? "directory" : "device, pipe or socket");
  path_ = name_beside(target_);
  create(path_, target, old, op);
  exists_ = true;
  try {
    if (begin == Begin::copy) copy(target_, path_, op);
  } catch (const Error&) {
    ::unlink(path_.c_str());  // the destructor does not run
    throw;
  }
}

AsideFile::~AsideFile() {
  if (!exists_) return;
  remove_subfiles(path_, target_);
  ::unlink(path_.c_str());
}

void AsideFile::commit() {
  const auto old = subfiles_of(target_);
  rename_subfiles(path_, target_, op_);
  if (::rename(path_.c_str(), target_.c_str()) != 0)
    raise<IoError>(op_, "got \"{}\", to which the complete file cannot be moved ({}); expected a place for it",
                   target_.string(), std::strerror(errno));
  exists_ = false;
  remove_files(old);
}

void AsideFile::commit_durably() {
  if (!flush(path_, O_WRONLY))
    raise<IoError>(op_, "got \"{}\", which cannot be brought to the disk ({}); expected room on it", target_.string(),
                   std::strerror(errno));
  commit();
  flush(fs::absolute(target_).parent_path(), O_RDONLY | O_DIRECTORY);  // and the new name, if the file system can do so
}

void Room::raise_full(std::int64_t bytes, int reason) const {
  raise<IoError>(op_, "got {} bytes to write to \"{}\", for which there is no room ({}); expected room on the disk",
                 bytes, shown_, std::strerror(reason));
}

void Room::check(std::int64_t bytes) const {
  struct statvfs disk {};
  if (::statvfs(path_.c_str(), &disk) != 0) return;  // reserving or writing reports the error
  const auto room = static_cast<double>(disk.f_bfree) * static_cast<double>(disk.f_frsize);
  if (room < static_cast<double>(bytes)) raise_full(bytes, ENOSPC);
}

void Room::reserve(std::int64_t bytes) const {
  std::error_code ignored;
  const auto size = static_cast<std::int64_t>(fs::file_size(path_, ignored));
  const Descriptor file(path_, O_WRONLY);
  if (file.get() < 0) return;
  const int failed = ::fallocate(file.get(), FALLOC_FL_KEEP_SIZE, 0, size + bytes) == 0 ? 0 : errno;
  if (failed != ENOSPC && failed != EDQUOT && failed != EFBIG) return;  // or the file system cannot reserve
  trim();
  raise_full(bytes, failed);
}

void Room::trim() const {
  std::error_code ignored;
  fs::resize_file(path_, fs::file_size(path_, ignored), ignored);
}

void write_atomically(const char* op, const std::string& path, std::string_view data) {
  AsideFile aside(path, AsideFile::Begin::empty, op);
  FileWriter(aside.path(), path, op).write(0, std::ssize(data), data.data());
  aside.commit_durably();
}

std::string read_file(const char* op, const std::string& path) {
  FileReader file(path, op);
  std::string data(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, file.size(), data.data());
  return data;
}

}  // namespace heatpp::io::detail
