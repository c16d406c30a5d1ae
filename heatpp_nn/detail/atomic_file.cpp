#include <fcntl.h>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/detail/atomic_file.hpp>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace heatpp::nn::detail {

using heatpp::detail::raise;

namespace {

/// A file descriptor that is closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

bool write_all(int file, std::string_view data) {
  while (!data.empty()) {
    const auto written = ::write(file, data.data(), data.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) data.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool write_aside(const std::string& path, std::string_view data) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  return file.get() >= 0 && write_all(file.get(), data) && ::fsync(file.get()) == 0;
}

// The new name itself has to reach the disk as well.
void flush_folder_of(const std::string& path) {
  const auto folder = std::filesystem::absolute(path).parent_path();
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() >= 0) ::fsync(opened.get());
}

}  // namespace

void write_atomically(std::string_view op, const std::string& path, std::string_view data) {
  const auto aside = fmt::format("{}.part{}", path, ::getpid());
  if (!write_aside(aside, data) || std::rename(aside.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    ::unlink(aside.c_str());
    raise<IoError>(op, "got \"{}\" on writing \"{}\"; expected a folder with room for {} bytes", reason, path,
                   data.size());
  }
  flush_folder_of(path);
}

std::string read_file(std::string_view op, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) raise<IoError>(op, "got no readable file \"{}\"; expected one", path);
  return text;
}

}  // namespace heatpp::nn::detail
