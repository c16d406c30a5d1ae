#include <heatpp_io/detail/files/aside_directory.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;
namespace fs = std::filesystem;

}  // namespace

AsideDirectory::AsideDirectory(const fs::path& target, const char* op) : op_(op), target_(target) {
  if (target_.filename().empty()) target_ = target_.parent_path();  // "a.zarr/"
  target_ = followed(target_);
  path_ = name_beside(target_);
  std::error_code error;
  if (!fs::create_directory(path_, error))
    raise<IoError>(op_, "got \"{}\", whose directory cannot be written ({}); expected an existing directory with room",
                   target.string(), error.message());
  exists_ = true;
}

AsideDirectory::~AsideDirectory() {
  std::error_code ignored;
  if (exists_) fs::remove_all(path_, ignored);
}

void AsideDirectory::commit() {
  const auto old = name_beside(target_);
  std::error_code error, ignored;
  const bool replaces = fs::exists(fs::symlink_status(target_, ignored));
  if (replaces) fs::rename(target_, old, error);
  if (!error) fs::rename(path_, target_, error);
  if (error) {
    if (replaces && fs::exists(old, ignored)) fs::rename(old, target_, ignored);
    raise<IoError>(op_, "got \"{}\", to which the complete directory cannot be moved ({}); expected a place for it",
                   target_.string(), error.message());
  }
  exists_ = false;
  if (replaces) fs::remove_all(old, ignored);
}

}  // namespace heatpp::io::detail
