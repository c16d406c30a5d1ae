#pragma once

#include <heatpp_io/detail/files/byte_file.hpp>

#include <memory>
#include <string>
#include <vector>

namespace heatpp::io::detail {

/// The files of a Zarr store, in a directory or in a zip archive. Names are paths in the store, without "/" at their
/// ends; "" is the store itself. Several threads may read at the same time.
class StoreFiles {
 public:
  virtual ~StoreFiles() = default;
  [[nodiscard]] virtual bool has(const std::string& name) const = 0;
  /// Returns nullptr if there is no such file. The store must outlive the reader. Throws IoError.
  [[nodiscard]] virtual std::unique_ptr<ByteReader> open(const std::string& name) const = 0;
  /// Returns the names of the directories in a directory.
  [[nodiscard]] virtual std::vector<std::string> directories(const std::string& name) const = 0;
  /// Returns the name of a file in errors.
  [[nodiscard]] virtual std::string shown(const std::string& name) const = 0;

  /// Returns the content of a file, which is kept for the next call. Throws IoError. For one thread at a time.
  [[nodiscard]] const std::string& text(const std::string& name, const char* op) const;

 private:
  mutable std::string last_name_, last_text_;
};

/// A store, and a place in it: "a.zip/group" is the place "group" of "a.zip". Throws IoError for what cannot be read,
/// FileNotFoundError if there is nothing.
struct StorePlace {
  std::shared_ptr<const StoreFiles> files;
  std::string name;
};
[[nodiscard]] StorePlace open_store(const std::string& path, const char* op);

/// Returns "a/b" for names in a store. Either may be empty, or begin and end with "/".
[[nodiscard]] std::string joined_name(const std::string& before, const std::string& after);

}  // namespace heatpp::io::detail
