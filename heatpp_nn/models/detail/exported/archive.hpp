#pragma once

#include <heatpp_io/detail/files/byte_file.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace heatpp::nn::detail {

/// The files in a `.pt2` of torch.export.save, which is a zip archive.
class ExportedArchive {
 public:
  /// Throws Malformed or IoError if it is no such archive, is damaged, or has another version or byte order.
  ExportedArchive(std::string_view bytes, const std::string& path);

  /// Returns the file of this name in the archive's folder, e.g. "archive_format". Throws Malformed if there is none.
  [[nodiscard]] const std::string& operator[](const std::string& name) const;
  [[nodiscard]] bool contains(const std::string& name) const;
  /// Returns the name of the only network in it: "model", whose graph is models/model.json.
  [[nodiscard]] const std::string& model() const { return model_; }
  void replace(const std::string& name, std::string contents);
  /// Returns an archive of all files, stored in their order.
  [[nodiscard]] std::string bytes() const;

 private:
  struct File {
    std::string name, contents;
  };
  [[nodiscard]] const File* find(const std::string& name) const;
  void check() const;

  std::string root_, model_;
  std::vector<File> files_;
};

/// Whether a file is an archive of torch.export.save, by the names in it. If it is no complete archive, e.g. cut, the
/// ending of its path decides, so that the error of reading it says what is wrong.
[[nodiscard]] bool is_exported(io::detail::ByteReader& file, const std::string& path);
[[nodiscard]] bool is_exported(std::string_view bytes, const std::string& path);

}  // namespace heatpp::nn::detail
