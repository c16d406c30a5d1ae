#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/detail/files/look.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/stream/detail/growth.hpp>
#include <heatpp_io/zarr/detail/chunk_files.hpp>
#include <heatpp_io/zarr/detail/find_array.hpp>
#include <heatpp_io/zarr/detail/zarr_group.hpp>
#include <heatpp_io/zarr/zarr.hpp>

#include <algorithm>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;
namespace fs = std::filesystem;

/// An array that grows; the text is empty if it does not exist yet.
struct Growing {
  fs::path directory, metadata;
  std::string text;
};

/// Returns the array that rank 0 finds, or none for a store without arrays and a group that does not have this one.
Growing find_growing(const StorePath& path, const Communicator& comm) {
  using Texts = std::vector<std::string>;
  const auto all = texts_seen_by_first(comm, [&]() -> Texts {
    const Texts nothing(3);
    std::error_code ignored;
    if (!fs::exists(path.store, ignored)) return nothing;
    if (!fs::is_directory(path.store, ignored))
      raise<IoError>(append_op, "got \"{}\", a zip file, whose arrays cannot grow; expected a store in a directory",
                     path.store);
    const auto place = open_store(path.store, append_op);
    const bool group = format_of_group(path.store, append_op) != 0;
    const bool none = path.name.empty() ? array_names(place, append_op).empty()
                                        : metadata_in(*place.files, path.name, append_op).empty();
    if (group && none) return nothing;
    const auto array = find_array(path.store, path.name, append_op);
    return {array.files->shown(array.name), array.shown(), array.files->text(array.metadata, append_op)};
  });
  return {all[0], all[1], all[2]};
}

/// Throws if rows cannot be added in the form of the stored ones.
void check_stored(const ZarrArray& array, const fs::path& path, const DNDarray& x) {
  const auto refuse = [&](const std::string& what) {
    raise<IoError>(append_op, "got \"{}\" {}; expected an array as save_zarr makes, as convert does of this one",
                   path.string(), what);
  };
  if (array.type.element.may_overflow || array.type.in_memory != heatpp::detail::to_torch(x.dtype()))
    refuse(heatpp::detail::formatted("of unsigned numbers that are read as {}", name(x.dtype())));
  if (array.grid != regular_grid(array.chunks)) refuse("with chunks of several extents");
  if (std::ranges::any_of(array.codecs.filters, [](const Filter& filter) { return filter.rounds; }))
    refuse("with filters that round");
}

/// Sets the shape in the array's metadata, and in the consolidated metadata of enclosing groups.
void set_shape(const Growing& growing, const Shape& shape) {
  const auto file = growing.metadata.filename().string();
  auto all = parse_json(growing.text, growing.metadata.string(), append_op);
  all["shape"] = shape;
  write_metadata(growing.directory, {{file, all}}, append_op);
  auto store = growing.directory;
  std::string name;
  const auto format = file == ".zarray" ? 2 : 3;
  while (format_of_group(store.parent_path(), append_op) == format && store.has_relative_path()) {
    name = joined_name(store.filename().string(), name);
    store = store.parent_path();
  }
  tell_groups(store, name, {{file, all}}, append_op);
}

/// Returns `x` after the rows that the last chunks already have.
DNDarray with_last_rows(const DNDarray& x, const fs::path& path, std::int64_t begin, std::int64_t end) {
  if (begin == end) return x;
  const auto rows = end - begin;
  auto shape = x.shape(), old_shape = x.shape();
  shape[0] += rows;
  old_shape[0] = rows;
  const auto old =
      load_zarr(path, "", {.split = x.split(), .slices = {Slice(begin, end)}, .comm = x.comm(), .decode = false});
  const auto put_together = [&](const Layout& of_old, Layout all) {
    const auto before = heatpp::detail::relayout(old, of_old).to(x.larray().device());
    return heatpp::detail::wrap(at::cat({before, x.larray()}), std::move(all), x.comm());
  };
  if (x.split() != 0) return put_together(x.layout().with(old_shape, x.split()), x.layout().with(shape, x.split()));
  // The rows of rank 0 come first.
  std::vector<std::int64_t> first(static_cast<std::size_t>(x.comm().size()) + 1, rows), offsets = first;
  first[0] = offsets[0] = 0;
  for (std::size_t rank = 1; rank < offsets.size(); ++rank) offsets[rank] += x.layout().offset(static_cast<int>(rank));
  return put_together(Layout(old_shape, 0, first), Layout(shape, 0, offsets));
}

}  // namespace

void append_rows_zarr(const DNDarray& x, const fs::path& path, const SaveOptions& options) {
  const auto& comm = x.comm();
  const auto place = store_path(path.string(), options.dataset);
  const auto growing = find_growing(place, comm);
  if (growing.text.empty()) {
    auto saved = zarr_options(options);
    saved.dataset = place.name;
    saved.append = true;
    return save_zarr(x, place.store, saved);
  }
  check_visible(growing.metadata.string(), append_op, comm);
  const auto array = parse_zarray(growing.text, growing.metadata.string(), append_op);
  check_growth({path.string(), array.shape, array.type.element.dtype}, x);
  check_stored(array, path, x);
  auto shape = array.shape;
  const auto begin = shape[0] / array.chunks[0] * array.chunks[0];
  write_chunks({.op = append_op, .path = growing.directory, .shown = path.string(), .array = array, .replace = true},
               with_last_rows(x, growing.directory, begin, shape[0]), begin);
  shape[0] += x.shape()[0];
  all_or_none(comm, [&] {
    if (comm.rank() == 0) set_shape(growing, shape);
  });
}

}  // namespace heatpp::io::detail
