#include <heatpp_io/zarr/detail/store_files.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/numpy/detail/zip.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace heatpp::io::detail {
namespace {

namespace fs = std::filesystem;
using heatpp::detail::raise;

class Directory : public StoreFiles {
 public:
  Directory(fs::path path, const char* op) : path_(std::move(path)), op_(op) {}
  [[nodiscard]] bool has(const std::string& name) const override {
    std::error_code ignored;
    return fs::is_regular_file(path_ / name, ignored);
  }
  [[nodiscard]] std::unique_ptr<ByteReader> open(const std::string& name) const override {
    std::error_code ignored;
    if (!fs::exists(path_ / name, ignored)) return nullptr;
    return std::make_unique<FileReader>((path_ / name).string(), op_);
  }
  [[nodiscard]] std::vector<std::string> directories(const std::string& name) const override {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(path_ / name, ignored))
      if (entry.is_directory(ignored)) names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }
  [[nodiscard]] std::string shown(const std::string& name) const override {
    return name.empty() ? path_.string() : (path_ / name).string();
  }

 private:
  fs::path path_;
  const char* op_;
};

/// A member that keeps its archive open.
class Member : public ByteReader {
 public:
  Member(const std::string& path, const ZipMember& member, const char* op)
      : path_(path), archive_(path, op), bytes_(open_member(archive_, member, path_, op)) {}
  [[nodiscard]] std::int64_t size() const override { return bytes_->size(); }
  void read(std::int64_t offset, std::int64_t bytes, void* to) override { bytes_->read(offset, bytes, to); }

 private:
  std::string path_;
  FileReader archive_;
  std::unique_ptr<ByteReader> bytes_;
};

class Archive : public StoreFiles {
 public:
  Archive(std::string path, const char* op) : path_(std::move(path)), op_(op) {
    FileReader archive(path_, op);
    for (auto& member : zip_members(archive, path_, op)) {
      const auto name = joined_name("", member.name);
      for (auto slash = name.rfind('/'); slash != std::string::npos && slash > 0; slash = name.rfind('/', slash - 1))
        if (!directories_.insert(name.substr(0, slash)).second) break;
      if (!member.name.ends_with('/')) members_.insert_or_assign(name, std::move(member));  // the last one counts
    }
  }
  [[nodiscard]] bool has(const std::string& name) const override { return members_.contains(name); }
  [[nodiscard]] std::unique_ptr<ByteReader> open(const std::string& name) const override {
    const auto found = members_.find(name);
    return found == members_.end() ? nullptr : std::make_unique<Member>(path_, found->second, op_);
  }
  [[nodiscard]] std::vector<std::string> directories(const std::string& name) const override {
    const auto before = name.empty() ? name : name + "/";
    std::vector<std::string> names;
    for (auto at = directories_.lower_bound(before); at != directories_.end() && at->starts_with(before); ++at)
      if (at->size() > before.size() && at->find('/', before.size()) == std::string::npos)
        names.push_back(at->substr(before.size()));
    return names;
  }
  [[nodiscard]] std::string shown(const std::string& name) const override { return joined_name(path_, name); }

 private:
  std::string path_;
  const char* op_;
  std::map<std::string, ZipMember> members_;
  std::set<std::string> directories_;
};

}  // namespace

std::string joined_name(const std::string& before, const std::string& after) {
  const auto first = std::min(after.find_first_not_of('/'), after.size());
  const auto last = after.find_last_not_of('/');
  const auto name = last == std::string::npos ? "" : after.substr(first, last + 1 - first);
  if (before.empty() || name.empty()) return before + name;
  return before.ends_with('/') ? before + name : before + "/" + name;
}

const std::string& StoreFiles::text(const std::string& name, const char* op) const {
  if (!name.empty() && name == last_name_) return last_text_;
  const auto file = open(name);
  if (!file) raise<IoError>(op, "got \"{}\", which cannot be found; expected a file", shown(name));
  constexpr auto most = std::int64_t{1} << 28;  // limit, since a zip file may state more
  if (file->size() > most)
    raise<IoError>(op, "got \"{}\" of {} bytes; expected metadata of at most {}", shown(name), file->size(), most);
  std::string text(static_cast<std::size_t>(file->size()), '\0');
  file->read(0, file->size(), text.data());
  last_name_ = name;
  return last_text_ = std::move(text);
}

StorePlace open_store(const std::string& path, const char* op) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return {std::make_shared<Directory>(path, op), ""};
  for (auto slash = path.size(); slash != std::string::npos && slash > 0; slash = path.rfind('/', slash - 1))
    if (fs::is_regular_file(path.substr(0, slash), ignored))
      return {std::make_shared<Archive>(path.substr(0, slash), op), joined_name("", path.substr(slash))};
  raise<FileNotFoundError>(op, "got \"{}\", which cannot be found; expected a Zarr store, in a directory or a zip file",
                           path);
}

}  // namespace heatpp::io::detail
