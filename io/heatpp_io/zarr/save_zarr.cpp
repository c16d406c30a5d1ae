#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/cuts/without_copies.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/detail/elements/attribute_rules.hpp>
#include <heatpp_io/detail/options/fields.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/detail/files/aside_directory.hpp>
#include <heatpp_io/detail/files/look.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/hdf5/detail/new_dataset.hpp>
#include <heatpp_io/stream/detail/row_pieces.hpp>
#include <heatpp_io/zarr/detail/chunk_files.hpp>
#include <heatpp_io/zarr/detail/find_array.hpp>
#include <heatpp_io/zarr/detail/zarr_group.hpp>
#include <heatpp_io/zarr/zarr.hpp>

#include <algorithm>

namespace heatpp::io {
namespace {

using heatpp::detail::raise;
namespace fs = std::filesystem;

constexpr auto op = "save_zarr";

/// Throws ValueError if the extents are not one positive number for each axis. No extents are valid.
void check_extents(const char* what, const Shape& extents, const Shape& shape) {
  if (extents.empty()) return;
  if (extents.size() != shape.size() || std::ranges::any_of(extents, [](std::int64_t extent) { return extent < 1; }))
    raise<ValueError>(op, "got {} {} for an array of shape {}; expected one positive extent for each axis", what,
                      heatpp::to_string(extents), heatpp::to_string(shape));
  static_cast<void>(size_of(extents));
}

void check_options(const Shape& shape, const SaveZarrOptions& options) {
  detail::check_compression(options.compression, op);
  if (options.compression && options.compression->shuffle == true && options.compression->codec != Codec::blosc)
    raise<ValueError>(op, "got shuffle for {}; expected none, or blosc, which has it in Zarr",
                      detail::name_of(options.compression->codec));
  detail::check(op, detail::annotations_of(options), shape, detail::zarr_rules, {});
  check_extents("chunks", options.chunks, shape);
  check_extents("shards", options.shards, shape);
  const auto format = options.format.value_or(options.shards.empty() ? 2 : 3);
  if (format != 2 && format != 3) raise<ValueError>(op, "got format {}; expected 2 or 3", format);
  if (format == 2 && !options.shards.empty())
    raise<ValueError>(op, "got shards in format 2; expected format 3, which has them");
  for (std::size_t i = 0; i < std::min(options.chunks.size(), options.shards.size()); ++i)
    if (options.shards[i] % options.chunks[i] != 0)
      raise<ValueError>(op, "got shards {} of chunks {}; expected multiples of chunks",
                        heatpp::to_string(options.shards), heatpp::to_string(options.chunks));
}

/// The place where an array is written.
struct Target {
  fs::path store;
  std::string name;   ///< name of the array in it; empty: the store itself is the array
  bool adds = false;  ///< adds it to an existing group and keeps the other arrays
  int format = 2;
};

Target target_of(const fs::path& path, const SaveZarrOptions& options) {
  const auto [store, inside] = detail::store_path(path.string(), "");
  const auto name = detail::joined_name(inside, options.dataset);
  const auto format = options.format.value_or(options.shards.empty() ? 2 : 3);
  const bool is_store = name.empty() && !options.dataset.empty();
  return {store, name.empty() && !is_store ? "data" : name, options.append || !inside.empty(), format};
}

/// Throws ValueError for places where no array can be.
void check_target(const Target& target) {
  if (target.store.extension() == ".zip")
    raise<ValueError>(op, "got \"{}\"; expected a directory, \"....zarr\", as zip files are read only",
                      target.store.string());
  if (std::ranges::any_of(fs::path(target.name), [](const fs::path& part) { return part == "." || part == ".."; }))
    raise<ValueError>(op, "got dataset \"{}\"; expected a name in the store", target.name);
  if (target.name.empty() && target.adds)
    raise<ValueError>(op, "got dataset \"/\" to add to \"{}\"; expected a name in the store", target.store.string());
}

bool is_array(const fs::path& place) {
  std::error_code ignored;
  return fs::exists(place / ".zarray", ignored) ||
         (fs::exists(place / "zarr.json", ignored) && detail::format_of_group(place, op) == 0);
}

/// Throws if the path to the target contains an array, whose metadata a group would replace.
void check_way(const Target& target) {
  for (auto way = fs::path(target.name).parent_path(); !way.empty(); way = way.parent_path())
    if (is_array(target.store / way))
      raise<IoError>(op, "got \"{}\" below the array \"{}\"; expected a name in a group", target.name,
                     (target.store / way).string());
}

/// Throws if the target must not be replaced. An array that is added to a group gets its format.
void look_at(Target& target, const SaveZarrOptions& options) {
  std::error_code ignored;
  const auto path = target.store;
  const auto group = detail::format_of_group(path, op);
  const bool there = fs::exists(path, ignored);
  const bool store = group != 0 || fs::exists(path / ".zarray", ignored) || fs::exists(path / "zarr.json", ignored);
  target.adds = target.adds && there;
  if (there && (!store || (!target.adds && !options.overwrite)))
    raise<IoError>(op, "got \"{}\", which is there already and {}; expected a new name or a store to replace",
                   path.string(), store ? "not to be replaced" : "is no Zarr store");
  if (!target.adds) return;
  if (group == 0)
    raise<IoError>(op, "got \"{}\", whose root is an array; expected a group to add an array to", path.string());
  if (group != target.format && (options.format || !options.shards.empty()))
    raise<ValueError>(op, "got format {} for \"{}\", which is of format {}; expected the same", target.format,
                      path.string(), group);
  check_way(target);
  target.format = group;
  const auto place = path / target.name;
  if (!fs::exists(place, ignored)) return;
  if (options.append || !options.overwrite)
    raise<ValueError>(op, "got \"{}\", which \"{}\" has already; expected another name", target.name, path.string());
  if (!is_array(place))
    raise<IoError>(op, "got \"{}\", which is there already and is no array; expected a new name or an array to replace",
                   place.string());
}

/// Returns extents that divide those of shards and are about as large as wanted.
Shape dividing(Shape chunks, const Shape& shards) {
  for (std::size_t i = 0; i < shards.size() && shards[i] > 0; ++i) {
    chunks[i] = std::min(chunks[i], shards[i]);
    while (shards[i] % chunks[i] != 0) --chunks[i];
  }
  return chunks;
}

Shape chunks_of(const Layout& layout, Dtype dtype, const SaveZarrOptions& options) {
  if (!options.chunks.empty()) return options.chunks;
  auto chunks = detail::fitting_chunks(layout, static_cast<std::int64_t>(itemsize(dtype)));
  for (auto& extent : chunks) extent = std::max<std::int64_t>(1, extent);
  return dividing(std::move(chunks), options.shards.size() == chunks.size() ? options.shards : Shape());
}

/// A store, or an array in a store, that is made under a temporary name.
struct NewStore {
  detail::NewZarray array;
  const Communicator& comm;
  const fs::path& path;
  const SaveZarrOptions& options;
};

std::vector<heatpp::detail::Setting> settings_of(const NewStore& store) {
  auto options = store.options;
  options.chunks = store.array.chunks;
  return detail::settings_to_write(store.path, options);
}

/// Returns the directory where rank 0 makes the new files; null on other ranks.
std::unique_ptr<detail::AsideDirectory> begin(const NewStore& store, Target& target, std::int64_t bytes) {
  std::unique_ptr<detail::AsideDirectory> aside;
  all_or_none(store.comm, [&] {
    if (store.comm.rank() != 0) return;
    look_at(target, store.options);
    std::error_code ignored;
    const auto place = target.adds ? target.store / target.name : target.store;
    if (target.adds) fs::create_directories(place.parent_path(), ignored);
    aside = std::make_unique<detail::AsideDirectory>(place, op);
    if (!store.options.compression) detail::Room(aside->path(), store.path.string(), op).check(bytes);
  });
  return aside;
}

void save_store(NewStore store, const std::function<void(const detail::ChunkFiles&)>& write) {
  const detail::Recorder recorder(op);
  auto& [array, comm, path, options] = store;
  heatpp::detail::check_agreed(op, comm, settings_of(store), [&, &array = array, &path = path, &options = options] {
    check_options(array.shape, options);
    detail::check_uint64(options.uint64, array.dtype, op);
    check_target(target_of(path, options));
  });
  const auto bytes = size_of(array.shape) * static_cast<std::int64_t>(itemsize(array.dtype));
  auto target = target_of(path, options);
  auto aside = begin(store, target, bytes);
  const auto made = detail::texts_seen_by_first(comm, [&]() -> std::vector<std::string> {
    return {aside ? aside->path().string() : "", std::to_string(target.format), target.adds ? "adds" : ""};
  });
  detail::check_visible(made[0], op, comm);
  array.format = std::stoi(made[1]);
  const auto directory = made[2].empty() ? fs::path(made[0]) / target.name : fs::path(made[0]);
  const auto metadata = detail::metadata_of(array, detail::annotations_of(options), target.name);
  const auto text = metadata.begin()->second.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  write({.op = op, .path = directory, .shown = path.string(), .array = detail::parse_zarray(text, path.string(), op)});
  all_or_none(comm, [&] {
    if (!aside) return;
    detail::write_metadata(directory, metadata, op);
    if (!target.adds && !target.name.empty()) detail::tell_groups(aside->path(), target.name, metadata, op);
    aside->commit();
    if (target.adds) detail::tell_groups(target.store, target.name, metadata, op);
  });
  recorder.finish(bytes, 1, {false, "independent: each rank writes its chunks"});
}

}  // namespace

void save_zarr(const DNDarray& given, const fs::path& path, const SaveZarrOptions& options) {
  const auto x = heatpp::detail::without_copies(given);
  const auto rows = x.ndim() > 0 ? std::optional(0) : std::nullopt;
  const auto layout = x.layout().is_cut() ? x.layout() : Layout(x.shape(), rows, x.comm().size());
  const auto chunks = chunks_of(layout, x.dtype(), options);
  const detail::NewZarray array{x.dtype(), x.shape(), chunks, options.shards, options.compression, 2, options.uint64};
  save_store({array, x.comm(), path, options}, [&](const detail::ChunkFiles& files) { write_chunks(files, x); });
}

void detail::save_rows_zarr(const RowsToSave& x, const fs::path& path, const SaveOptions& saved) {
  const auto options = zarr_options(saved);
  const auto& comm = comm_of(x);
  const auto chunks = chunks_of(Layout(x.shape, 0, comm.size()), x.dtype, options);
  const NewZarray array{x.dtype, x.shape, chunks, options.shards, options.compression, 2, options.uint64};
  save_store({array, comm, path, options}, [&](const ChunkFiles& files) {
    each_piece(op, x, files.array.chunks[0],
               [&](std::int64_t first, const DNDarray& rows) { write_chunks(files, rows, first); });
  });
}

}  // namespace heatpp::io
