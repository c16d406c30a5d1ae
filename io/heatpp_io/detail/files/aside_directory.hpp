#pragma once

#include <filesystem>

namespace heatpp::io::detail {

/// A directory that is filled under a temporary name and renamed when it is complete. If `commit` is not called, it is
/// removed.
class AsideDirectory {
 public:
  /// Throws IoError naming `op` if it cannot be made.
  AsideDirectory(const std::filesystem::path& target, const char* op);
  ~AsideDirectory();
  AsideDirectory(const AsideDirectory&) = delete;
  AsideDirectory& operator=(const AsideDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Moves it to its final name; an existing directory is renamed first and then removed. Throws IoError.
  void commit();

 private:
  const char* op_;
  std::filesystem::path target_, path_;
  bool exists_ = false;
};

}  // namespace heatpp::io::detail
