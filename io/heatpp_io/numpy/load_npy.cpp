#include <heatpp_io/numpy/load_npy.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/shards/openers.hpp>
#include <heatpp_io/detail/shards/read.hpp>
#include <heatpp_io/numpy/detail/npy_header.hpp>

namespace heatpp::io {
namespace {

constexpr auto op = "load_npy";

}  // namespace

detail::OpenArray detail::open_npy(const std::string& path, const std::string& name) {
  if (!name.empty()) heatpp::detail::raise<ValueError>(op, "got dataset \"{}\" for \"{}\"; expected none", name, path);
  auto file = std::make_shared<detail::FileReader>(path, op);
  auto array = detail::read_npy_header(*file, heatpp::detail::formatted("\"{}\"", path), op);
  detail::DatasetInfo info{.shape = array.shape, .element = array.type.element};
  return {std::move(info), [file, path, array = std::move(array)](const auto& box, const auto& out) {
            detail::read_flat({*file, array, path, op}, box, out);
          }};
}

std::vector<std::string> detail::npy_names(const std::string& path) {
  const FileReader there(path, op);
  return {""};
}

DNDarray load_npy(const Source& source, const LoadOptions& options) {
  const detail::Recorder recorder(op);
  const auto open = [](const std::string& path) { return detail::open_npy(path, {}); };
  return detail::load_files(
      {.op = op, .source = source, .name = {}, .open = open, .in_directories = ".npy", .has_names = false}, options,
      recorder);
}

}  // namespace heatpp::io
