#include <heatpp_io/safetensors/model.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/look.hpp>
#include <heatpp_io/safetensors/detail/safetensors_header.hpp>
#include <heatpp_io/safetensors/safetensors.hpp>

namespace heatpp::io {
namespace {

constexpr auto op = "load_model", kind_key = "heatpp.kind";

/// Returns names and texts in turn, as rank 0 reads them.
std::vector<std::string> metadata_of(const std::string& path) {
  return detail::texts_seen_by_first(default_comm(), [&] {
    detail::FileReader file(path, op);
    const auto metadata = detail::read_safetensors(file, path, op).metadata;
    if (!metadata.contains(kind_key))
      heatpp::detail::raise<IoError>(op, "got \"{}\" without \"{}\"; expected a file that save_model wrote", path,
                                     kind_key);
    std::vector<std::string> texts;
    for (const auto& [name, text] : metadata) texts.insert(texts.end(), {name, text});
    return texts;
  });
}

}  // namespace

void save_model(const std::filesystem::path& path, const ModelState& state) {
  auto metadata = state.options;
  metadata[kind_key] = state.kind;
  std::vector<NamedArray> arrays;
  for (const auto& [name, array] : state.arrays) arrays.push_back({name, array});
  save_safetensors(arrays, path, {.metadata = metadata});
}

ModelState load_model(const std::filesystem::path& path) {
  ModelState state;
  const auto texts = metadata_of(path.string());
  for (std::size_t i = 0; i + 1 < texts.size(); i += 2) {
    if (texts[i] == kind_key) state.kind = texts[i + 1];
    else state.options[texts[i]] = texts[i + 1];
  }
  for (const auto& name : safetensors_names(path))
    state.arrays.emplace(name, load_safetensors(path.string(), name, {.split = std::nullopt}));
  return state;
}

}  // namespace heatpp::io
