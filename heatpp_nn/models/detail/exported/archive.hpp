#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heatpp::nn::detail {

/// The files in a `.pt2` of torch.export.save, which is a zip archive.
class ExportedArchive {
 public:
  /// Throws Malformed or IoError for what is none, is damaged, or has another version or byte order.
  ExportedArchive(std::string_view bytes, const std::string& path);

  /// Below the archive's own folder: "archive_format". Throws Malformed if there is none.
  [[nodiscard]] const std::string& operator[](const std::string& name) const;
  [[nodiscard]] bool contains(const std::string& name) const;
  /// The only network in it: "model", whose graph is models/model.json.
  [[nodiscard]] const std::string& model() const { return model_; }
  void replace(const std::string& name, std::string contents);
  /// All files as one archive again, stored and in their order.
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

/// Whether these bytes are an archive that torch.export.save has written, or claim to be.
[[nodiscard]] bool is_exported(std::string_view bytes, const std::string& path);

}  // namespace heatpp::nn::detail
