#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/detail/elements/attribute_rules.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/detail/files/aside_directory.hpp>
#include <heatpp_io/detail/files/expand.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/hdf5/detail/new_dataset.hpp>
#include <heatpp_io/stream/detail/row_pieces.hpp>
#include <heatpp_io/zarr/detail/chunk_files.hpp>
#include <heatpp_io/zarr/detail/zarr_attributes.hpp>
#include <heatpp_io/zarr/detail/zarr_metadata.hpp>
#include <heatpp_io/zarr/zarr.hpp>

#include <algorithm>

namespace heatpp::io {
namespace {

using heatpp::detail::raise;
namespace fs = std::filesystem;

constexpr auto op = "save_zarr";

void check_options(const Shape& shape, const SaveZarrOptions& options) {
  detail::check_compression(options.compression, op);
  detail::check(op, detail::annotations_of(options), shape, detail::zarr_rules, {});
  if (options.chunks.empty()) return;
  if (options.chunks.size() != shape.size() ||
      std::ranges::any_of(options.chunks, [](std::int64_t extent) { return extent < 1; }))
    raise<ValueError>(op, "got chunks {} for an array of shape {}; expected one positive extent for each axis",
                      heatpp::to_string(options.chunks), heatpp::to_string(shape));
  static_cast<void>(size_of(options.chunks));
}

/// Throws where what is at `path` must not be replaced.
void check_target(const fs::path& path, const SaveZarrOptions& options) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  const bool store = fs::exists(path / ".zarray", ignored) || fs::exists(path / ".zgroup", ignored) ||
                     fs::exists(path / "zarr.json", ignored);
  if (!store || !options.overwrite)
    raise<IoError>(op, "got \"{}\", which is there already and {}; expected a new name or a store to replace",
                   path.string(), store ? "not to be replaced" : "is no Zarr store");
}

Shape chunks_of(const Layout& layout, Dtype dtype, const SaveZarrOptions& options) {
  if (!options.chunks.empty()) return options.chunks;
  auto chunks = detail::fitting_chunks(layout, static_cast<std::int64_t>(itemsize(dtype)));
  for (auto& extent : chunks) extent = std::max<std::int64_t>(1, extent);
  return chunks;
}

/// A store that is made aside.
struct NewStore {
  const detail::NewZarray& array;
  const Communicator& comm;
  const fs::path& path;
  const SaveZarrOptions& options;
};

void save_store(const NewStore& store, const std::function<void(const detail::ChunkFiles&)>& write) {
  const detail::Recorder recorder(op);
  const auto& [array, comm, path, options] = store;
  auto settings = detail::settings_of(path, {.compression = options.compression,
                                             .chunks = array.chunks,
                                             .dimension_names = options.dimension_names,
                                             .attributes = options.attributes});
  settings.push_back({"overwrite", options.overwrite ? "true" : "false"});
  heatpp::detail::check_agreed(op, comm, settings,
                               [&, &array = array, &options = options] { check_options(array.shape, options); });
  const auto bytes = size_of(array.shape) * static_cast<std::int64_t>(itemsize(array.dtype));
  std::optional<detail::AsideDirectory> aside;
  all_or_none(comm, [&, &path = path, &options = options, &comm = comm] {
    if (comm.rank() != 0) return;
    check_target(path, options);
    aside.emplace(path, op);
    if (!options.compression) detail::Room(aside->path(), path.string(), op).check(bytes);
  });
  const auto name = detail::broadcast_texts({aside ? aside->path().string() : ""}, comm)[0];
  write({.op = op, .path = name, .shown = path.string(), .chunks = array.chunks, .compression = options.compression});
  all_or_none(comm, [&, &array = array, &options = options] {
    if (!aside) return;
    if (!options.attributes.empty() || !options.dimension_names.empty())
      detail::write_atomically(op, aside->path() / ".zattrs", detail::zattrs_text(detail::annotations_of(options)));
    detail::write_atomically(op, aside->path() / ".zarray", detail::zarray_text(array));
    aside->commit();
  });
  recorder.finish(bytes, 1, {false, "independent: each rank writes its chunks"});
}

}  // namespace

void save_zarr(const DNDarray& x, const fs::path& path, const SaveZarrOptions& options) {
  const auto rows = x.ndim() > 0 ? std::optional(0) : std::nullopt;
  const auto chunks = chunks_of(x.split() ? x.layout() : Layout(x.shape(), rows, x.comm().size()), x.dtype(), options);
  const detail::NewZarray array{x.dtype(), x.shape(), chunks, options.compression};
  save_store({array, x.comm(), path, options}, [&](const detail::ChunkFiles& files) { write_chunks(files, x); });
}

void detail::save_rows_zarr(const RowsToSave& x, const fs::path& path, const SaveOptions& saved) {
  const auto options = zarr_options(saved);
  const auto& comm = comm_of(x);
  const auto chunks = chunks_of(Layout(x.shape, 0, comm.size()), x.dtype, options);
  const NewZarray array{x.dtype, x.shape, chunks, options.compression};
  save_store({array, comm, path, options}, [&](const ChunkFiles& files) {
    each_piece(op, x, chunks[0], [&](std::int64_t first, const DNDarray& rows) { write_chunks(files, rows, first); });
  });
}

}  // namespace heatpp::io
