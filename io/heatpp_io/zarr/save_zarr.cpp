#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/detail/files/aside_directory.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_io/detail/files/expand.hpp>
#include <heatpp_io/hdf5/detail/new_dataset.hpp>
#include <heatpp_io/detail/shards/chunk_grid.hpp>
#include <heatpp_io/stream/detail/row_pieces.hpp>
#include <heatpp_io/zarr/detail/zarr_metadata.hpp>
#include <heatpp_io/zarr/zarr.hpp>

#include <fcntl.h>
#include <zlib.h>

#include <algorithm>

namespace heatpp::io {
namespace {

using heatpp::detail::raise;
namespace fs = std::filesystem;

constexpr auto op = "save_zarr";

void check_options(const Shape& shape, const SaveZarrOptions& options) {
  if (options.compression && (*options.compression < 0 || *options.compression > 9))
    raise<ValueError>(op, "got compression {}; expected a zlib level from 0 to 9", *options.compression);
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

/// Writes the chunks of whole rows of them.
class ChunkWriter {
 public:
  ChunkWriter(fs::path path, std::string shown, const Shape& chunks, std::optional<int> level)
      : path_(std::move(path)), shown_(std::move(shown)), chunks_(chunks), level_(level) {}

  void write(std::int64_t first, const at::Tensor& rows) const {
    const Shape extents(rows.sizes().begin(), rows.sizes().end());
    detail::each_chunk(detail::select(extents, {}, op), chunks_, [&](const detail::ChunkPart& part) {
      auto values = rows;
      auto chunk = at::zeros(chunks_, rows.options());
      auto inside = chunk;
      for (std::size_t i = 0; i < part.where.size(); ++i) {
        const auto axis = static_cast<std::int64_t>(i);
        values = values.narrow(axis, part.where[i].start, part.where[i].count);
        inside = inside.narrow(axis, 0, part.where[i].count);
      }
      inside.copy_(values);
      auto place = part.place;
      if (!place.empty()) place[0] += first / chunks_[0];
      write_file(detail::chunk_name(place, '.'), chunk);
    });
  }
  void write_file(const std::string& name, const void* data, std::int64_t bytes) const {
    const auto path = path_ / name;
    static_cast<void>(detail::Descriptor(path, O_CREAT | O_WRONLY | O_TRUNC));
    detail::FileWriter(path, shown_, op).write(0, bytes, data);
  }

 private:
  void write_file(const std::string& name, const at::Tensor& chunk) const {
    const auto bytes = chunk.numel() * chunk.element_size();
    if (!level_) return write_file(name, chunk.const_data_ptr(), bytes);
    auto size = compressBound(static_cast<uLong>(bytes));
    std::vector<Bytef> packed(size);
    if (compress2(packed.data(), &size, static_cast<const Bytef*>(chunk.const_data_ptr()), static_cast<uLong>(bytes),
                  *level_) != Z_OK)
      raise<MemoryError>(op, "got an error of zlib on compressing {} bytes; expected memory", bytes);
    write_file(name, packed.data(), static_cast<std::int64_t>(size));
  }

  fs::path path_;
  std::string shown_;
  const Shape& chunks_;
  std::optional<int> level_;
};

/// Writes an array, or a piece of one that begins at row `begin`.
void write_chunks(const ChunkWriter& writer, const DNDarray& x, const Shape& chunks, std::int64_t begin = 0) {
  const auto& comm = x.comm();
  const auto write = [&](std::int64_t first, const at::Tensor& rows) { writer.write(begin + first, rows); };
  if (x.ndim() == 0) {
    all_or_none(comm, [&] {
      if (comm.rank() == 0) write(0, x.larray().to(at::kCPU));
    });
  } else if (x.split().value_or(0) == 0) {
    const auto layout = detail::between_chunks(x.split() ? x.layout() : Layout(x.shape(), 0, comm.size()), chunks[0]);
    detail::each_rows(layout, heatpp::detail::relayout(x, layout).to(at::kCPU), comm, write);
  } else {
    detail::each_rows(x.layout(), x.larray().to(at::kCPU).contiguous(), comm, write, chunks[0]);
  }
}

/// A store that is made aside.
struct NewStore {
  const detail::NewZarray& array;
  const Communicator& comm;
  const fs::path& path;
  const SaveZarrOptions& options;
};

void save_store(const NewStore& store, const std::function<void(const ChunkWriter&)>& write) {
  const detail::Recorder recorder(op);
  const auto& [array, comm, path, options] = store;
  const auto bytes = size_of(array.shape) * static_cast<std::int64_t>(itemsize(array.dtype));
  std::optional<detail::AsideDirectory> aside;
  all_or_none(comm, [&, &path = path, &options = options, &comm = comm] {
    if (comm.rank() != 0) return;
    check_target(path, options);
    aside.emplace(path, op);
    detail::Room(aside->path(), path.string(), op).check(bytes);
  });
  const auto name = detail::broadcast_texts({aside ? aside->path().string() : ""}, comm)[0];
  const ChunkWriter writer(name, path.string(), array.chunks, options.compression);
  write(writer);
  all_or_none(comm, [&, &array = array] {
    if (!aside) return;
    const auto text = detail::zarray_text(array);
    writer.write_file(".zarray", text.data(), std::ssize(text));
    aside->commit();
  });
  recorder.finish(bytes, 1, {false, "independent: each rank writes its chunks"});
}

}  // namespace

void save_zarr(const DNDarray& x, const fs::path& path, const SaveZarrOptions& options) {
  check_options(x.shape(), options);
  const auto rows = x.ndim() > 0 ? std::optional(0) : std::nullopt;
  const auto chunks = chunks_of(x.split() ? x.layout() : Layout(x.shape(), rows, x.comm().size()), x.dtype(), options);
  const detail::NewZarray array{x.dtype(), x.shape(), chunks, options.compression};
  save_store({array, x.comm(), path, options}, [&](const ChunkWriter& writer) { write_chunks(writer, x, chunks); });
}

void detail::save_rows_zarr(const RowsToSave& x, const fs::path& path, const SaveOptions& saved) {
  const SaveZarrOptions options{.chunks = saved.chunks, .compression = saved.compression};
  check_options(x.shape, options);
  const auto& comm = comm_of(x);
  const auto chunks = chunks_of(Layout(x.shape, 0, comm.size()), x.dtype, options);
  const NewZarray array{x.dtype, x.shape, chunks, options.compression};
  save_store({array, comm, path, options}, [&](const ChunkWriter& writer) {
    each_piece(op, x, chunks[0],
               [&](std::int64_t first, const DNDarray& rows) { write_chunks(writer, rows, chunks, first); });
  });
}

}  // namespace heatpp::io
