#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace heatpp::io::detail {

/// A hidden name, used by nobody else, in the directory of `target`: files can be moved in one step only within a file
/// system.
[[nodiscard]] std::filesystem::path name_beside(const std::filesystem::path& target);
/// Where `path` leads if it is a symbolic link, which then stays one.
[[nodiscard]] std::filesystem::path followed(std::filesystem::path path);

/// A file that is written beside its final place and moved there once it is complete; without `commit` it is removed.
/// Subfiles that HDF5 makes go with it, and with the file that it replaces.
class AsideFile {
 public:
  /// Creates it empty, or as a copy of what is at `target`, whose permissions it gets. Throws IoError naming `op` where
  /// that cannot be, and where something else than a file is at `target`.
  enum class Begin { empty, copy };
  AsideFile(const std::filesystem::path& target, Begin begin, const char* op);
  ~AsideFile();
  AsideFile(const AsideFile&) = delete;
  AsideFile& operator=(const AsideFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Moves it to its final place in one step, over what is there. Throws IoError.
  void commit();
  /// The same, with file and name on the disk when it returns, so that they outlive a crash of the machine.
  void commit_durably();

 private:
  const char* op_;
  std::filesystem::path target_, path_;
  bool exists_ = false;
};

/// Room on the disk for a file that is being written. A disk that fills up while HDF5 writes leaves it, and MPI-IO on
/// the other ranks, in a state from which they do not return: so a full disk has to be noticed before.
class Room {
 public:
  /// For the file at `path`, which errors of `op` call `shown`.
  Room(std::filesystem::path path, std::string shown, const char* op)
      : path_(std::move(path)), shown_(std::move(shown)), op_(op) {}
  /// Throws IoError where the disk has less than `bytes`.
  void check(std::int64_t bytes) const;
  /// Takes `bytes` behind the end of the file for it, where the file system can do so. Throws IoError.
  void reserve(std::int64_t bytes) const;
  /// Gives back what was reserved and not used.
  void trim() const;

 private:
  [[noreturn]] void raise_full(std::int64_t bytes, int reason) const;

  std::filesystem::path path_;
  std::string shown_;
  const char* op_;
};

/// Writes a file so that a reader finds all of the old one or all of the new one, also after a crash. Throws IoError;
/// the old file is then untouched. Local.
void write_atomically(const char* op, const std::string& path, std::string_view data);

/// All of a file. Throws IoError. Local.
[[nodiscard]] std::string read_file(const char* op, const std::string& path);

}  // namespace heatpp::io::detail
