#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace heatpp::io::detail {

/// Returns a new hidden name in the directory of `target`. A file can be moved in one step only within a file
/// system.
[[nodiscard]] std::filesystem::path name_beside(const std::filesystem::path& target);
/// Returns the target of `path` if it is a symbolic link, so that the link stays one.
[[nodiscard]] std::filesystem::path followed(std::filesystem::path path);

/// A file that is written under a temporary name and renamed when it is complete. If `commit` is not called, it is
/// removed. Subfiles that HDF5 makes are moved and removed with it, and with the file that it replaces.
class AsideFile {
 public:
  /// Creates an empty file, or a copy of the file at `target`, whose permissions it gets. Throws IoError naming `op` if
  /// that fails, and if `target` is not a file.
  enum class Begin { empty, copy };
  AsideFile(const std::filesystem::path& target, Begin begin, const char* op);
  ~AsideFile();
  AsideFile(const AsideFile&) = delete;
  AsideFile& operator=(const AsideFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Moves it to its final name in one step and replaces an older file. Throws IoError.
  void commit();
  /// Moves it, and returns when the file and its name are on the disk, so that they survive a crash of the machine.
  void commit_durably();

 private:
  const char* op_;
  std::filesystem::path target_, path_;
  bool exists_ = false;
};

/// The disk space of a file that is being written. If the disk becomes full while HDF5 writes, HDF5 does not survive,
/// and MPI-IO does not return on the other ranks. So a full disk has to be detected before.
class Room {
 public:
  /// Takes the path of the file, and its name `shown` in errors of `op`.
  Room(std::filesystem::path path, std::string shown, const char* op)
      : path_(std::move(path)), shown_(std::move(shown)), op_(op) {}
  /// Throws IoError if the disk has less than `bytes` free.
  void check(std::int64_t bytes) const;
  /// Reserves `bytes` after the end of the file, if the file system supports this. Throws IoError.
  void reserve(std::int64_t bytes) const;
  /// Releases what was reserved and not used.
  void trim() const;

 private:
  [[noreturn]] void raise_full(std::int64_t bytes, int reason) const;

  std::filesystem::path path_;
  std::string shown_;
  const char* op_;
};

/// Writes a file so that a reader finds either the whole old file or the whole new one, even after a crash. Throws
/// IoError; the old file is then unchanged. Local.
void write_atomically(const char* op, const std::string& path, std::string_view data);

/// Returns the content of a file. Throws IoError. Local.
[[nodiscard]] std::string read_file(const char* op, const std::string& path);

}  // namespace heatpp::io::detail
