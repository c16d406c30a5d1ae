#include <heatpp_io/detail/files/byte_file.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

// Linux moves at most 2^31 bytes in one call.
constexpr std::int64_t most_at_once = std::int64_t{1} << 30;

}  // namespace

Descriptor::Descriptor(const std::filesystem::path& path, int flags)
    : number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

void raise_not_opened(const char* op, const std::string& path, const char* expected) {
  const bool none = errno == ENOENT;
  const auto what =
      formatted("got \"{}\", which cannot be opened ({}); expected {}", path, std::strerror(errno), expected);
  if (none) raise<FileNotFoundError>(op, "{}", what);
  raise<IoError>(op, "{}", what);
}

FileReader::FileReader(std::string path, const char* op) : path_(std::move(path)), op_(op), file_(path_, O_RDONLY) {
  struct stat status {};
  if (file_.get() < 0 || ::fstat(file_.get(), &status) != 0) raise_not_opened(op_, path_, "a file");
  if (S_ISDIR(status.st_mode)) raise<IoError>(op_, "got \"{}\", which is a directory; expected a file", path_);
  size_ = status.st_size;
}

void FileReader::read(std::int64_t offset, std::int64_t bytes, void* to) {
  auto* place = static_cast<std::byte*>(to);
  while (bytes > 0) {
    const auto done = ::pread(file_.get(), place, static_cast<std::size_t>(std::min(bytes, most_at_once)),
                              static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0)
      raise<IoError>(op_, "got \"{}\", which cannot be read at byte {} ({}); expected {} bytes more", path_, offset,
                     done < 0 ? std::strerror(errno) : "the file ends there", bytes);
    place += done;
    offset += done;
    bytes -= done;
  }
}

FileWriter::FileWriter(const std::filesystem::path& path, std::string shown, const char* op)
    : shown_(std::move(shown)), op_(op), file_(path, O_WRONLY) {
  if (file_.get() < 0)
    raise<IoError>(op_, "got \"{}\", which cannot be written ({}); expected a place for a file", shown_,
                   std::strerror(errno));
}

void FileWriter::write(std::int64_t offset, std::int64_t bytes, const void* from) const {
  const auto* place = static_cast<const std::byte*>(from);
  while (bytes > 0) {
    const auto done = ::pwrite(file_.get(), place, static_cast<std::size_t>(std::min(bytes, most_at_once)),
                               static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0)
      raise<IoError>(op_, "got an error while writing \"{}\" ({}); expected room for {} bytes more", shown_,
                     std::strerror(errno), bytes);
    place += done;
    offset += done;
    bytes -= done;
  }
}

}  // namespace heatpp::io::detail
