#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/text.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp_c/detail/handles.hpp>
#include <heatpp_io/detail/elements/annotations.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/formats.hpp>
#include <heatpp_io/netcdf/netcdf.hpp>
#include <heatpp_io/stream/append_rows.hpp>
#include <heatpp_io/stream/contents.hpp>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace heatpp::c;  // NOLINT: what the functions below are made of
using heatpp::detail::check_agreed;
using heatpp::detail::raise;
using heatpp::detail::Setting;

namespace {

using heatpp::ValueError;
using heatpp::io::SaveOptions;

heatpp::io::Attributes attributes_of(const char* op, const std::string& text) {
  const auto all = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  auto found = all.is_object() ? heatpp::io::detail::attributes_of(all) : heatpp::io::Attributes();
  if (!all.is_object() || found.size() != all.size())
    raise<ValueError>(op, "got attributes {}; expected a JSON object of texts, numbers, and lists of these", text);
  return found;
}

/// Converts a text; a number is a level of gzip.
heatpp::io::Compression compression_of(const std::string& text) {
  int level = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), level);
  const bool number = error == std::errc() && end == text.data() + text.size();
  return number ? heatpp::io::Compression(level) : heatpp::io::Compression(text);
}

std::vector<std::string> names_in(const std::string& text) {
  std::istringstream parts(text);
  std::vector<std::string> names;
  for (std::string name; std::getline(parts, name, ',');) names.push_back(name);
  return names;
}

SaveOptions options_of(const char* op, const ht_saving& how, int ndim) {
  SaveOptions options{.grows = how.grows != 0};
  if (how.compression) options.compression = compression_of(how.compression);
  if (how.chunks) options.chunks = {how.chunks, how.chunks + ndim};
  if (how.dimensions) options.dimension_names = names_in(how.dimensions);
  if (how.attributes) options.attributes = attributes_of(op, how.attributes);
  return options;
}

struct ToSave {
  const ht_array* x;
  const char *path, *dataset;
};

/// Returns how to store the array. Collective: if any rank has a wrong argument, all throw.
SaveOptions prepared(const char* op, const ToSave& job, const ht_saving* how) {
  const auto& value = given(op, "x", job.x).value;
  SaveOptions options;
  check_agreed(op, value.comm(), {{"path", quoted(job.path)}, {"dataset", quoted(job.dataset)}}, [&] {
    check_given(op, "path", job.path);
    if (how) options = options_of(op, *how, value.ndim());
  });
  options.dataset = text(job.dataset);
  return options;
}

/// Returns the dataset if the file has others, and this is one of those. Collective.
std::optional<std::string> other_in(const heatpp::Communicator& comm, const std::filesystem::path& path,
                                    const std::string& name) {
  std::error_code ignored;
  const bool there = !name.empty() && std::filesystem::is_regular_file(path, ignored);
  if (heatpp::detail::text_of_rank_0(comm, there ? "there" : "").empty()) return std::nullopt;
  for (const auto& held : heatpp::io::contents(path, comm))
    if (held.name != name) return held.name;
  return std::nullopt;
}

/// Saves a dataset into a file that has others, which stay. Collective.
void save_beside(const std::string& other, const heatpp::DNDarray& x, const std::filesystem::path& path,
                 const SaveOptions& options) {
  const auto format = path.extension();
  if (format == ".h5" || format == ".hdf5") {
    heatpp::io::detail::save_among_others(x, path, options.dataset, options);
  } else if (format == ".nc" || format == ".nc4") {
    if (options.grows) raise<ValueError>("ht_save", "got grows for {}; expected none", format.string());
    auto netcdf = heatpp::io::detail::netcdf_options(options, "ht_save");
    netcdf.append = netcdf.replace = true;
    heatpp::io::save_netcdf(x, path, options.dataset, netcdf);
  } else {
    raise<ValueError>(
        "ht_save",
        "got dataset \"{}\" for \"{}\", which has \"{}\"; expected a new path, or a format that adds to a "
        "file (.h5, .hdf5, .nc, .nc4)",
        options.dataset, path.string(), other);
  }
}

void save_array(const heatpp::DNDarray& x, const std::filesystem::path& path, const SaveOptions& options) {
  const auto& dataset = options.dataset;
  const auto name = dataset.substr(std::min(dataset.size(), dataset.find_first_not_of('/')));
  if (const auto other = other_in(x.comm(), path, name)) save_beside(*other, x, path, options);
  else heatpp::io::save(x, path, options);
}

struct Stored {
  const char *path, *dataset;
};

int load(const char* op, const ht_comm* comm, const Stored& stored, const CutNumbers& cut, ht_array** x) {
  return status_of([&] {
    const auto& ranks = given(op, "comm", comm).ranks;
    heatpp::io::LoadOptions options{.dataset = text(stored.dataset), .comm = ranks};
    const std::vector<Setting> alike{
        {"path", quoted(stored.path)}, {"dataset", quoted(stored.dataset)}, setting_of(cut)};
    check_agreed(op, ranks, alike, [&] {
      check_given(op, "path", stored.path);
      check_given(op, "x", x);
      set_cut(op, options, cut);
    });
    // The digits of a text are kept, because a host cannot choose a default dtype.
    if (std::string_view(stored.path).ends_with(".csv")) options.dtype = heatpp::float64;
    *x = new ht_array{heatpp::io::load(stored.path, options)};
  });
}

}  // namespace

int ht_load(const ht_comm* comm, const char* path, const char* dataset, int split, ht_array** x) {
  return load("ht_load", comm, {path, dataset}, {split}, x);
}
int ht_load_on_grid(const ht_comm* comm, const char* path, const char* dataset, int ndim, const int* grid,
                    ht_array** x) {
  return load("ht_load_on_grid", comm, {path, dataset}, on_grid(ndim, grid), x);
}

int ht_save(const ht_array* x, const char* path, const char* dataset) { return ht_save_as(x, path, dataset, nullptr); }

int ht_save_as(const ht_array* x, const char* path, const char* dataset, const ht_saving* how) {
  return status_of([&] {
    const auto options = prepared("ht_save", {x, path, dataset}, how);
    save_array(x->value, path, options);
  });
}

int ht_append_rows(const ht_array* x, const char* path, const char* dataset, const ht_saving* how) {
  return status_of([&] {
    heatpp::io::append_rows(x->value, path, prepared("ht_append_rows", {x, path, dataset}, how));
  });
}
