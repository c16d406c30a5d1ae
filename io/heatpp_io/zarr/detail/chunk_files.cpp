#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/detail/elements/rows.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_io/detail/shards/chunk_grid.hpp>
#include <heatpp_io/zarr/detail/chunk_files.hpp>
#include <heatpp_io/zarr/detail/zarr_metadata.hpp>

#include <fcntl.h>

namespace heatpp::io::detail {
namespace {

void write_file(const ChunkFiles& files, const std::string& name, Block bytes) {
  const auto path = files.path / name;
  std::error_code ignored;
  if (files.replace && std::filesystem::exists(path, ignored))
    return write_atomically(files.op, path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  static_cast<void>(Descriptor(path, O_CREAT | O_WRONLY | O_TRUNC));
  FileWriter(path, files.shown, files.op).write(0, std::ssize(bytes), bytes.data());
}

void write_chunk(const ChunkFiles& files, const std::string& name, const at::Tensor& chunk) {
  const auto bytes = static_cast<std::size_t>(chunk.numel() * chunk.element_size());
  const Block block(static_cast<const std::byte*>(chunk.const_data_ptr()), bytes);
  if (!files.compression) return write_file(files, name, block);
  const auto& [codec, level] = *files.compression;
  const auto packed = block_codec(codec)->compress(block, level, static_cast<int>(chunk.element_size()));
  if (!packed)
    heatpp::detail::raise<ValueError>(files.op,
                                      "got a chunk of {} bytes, which {} does not compress; expected smaller chunks",
                                      bytes, name_of(codec));
  write_file(files, name, *packed);
}

/// Whole rows of chunks.
void write_rows(const ChunkFiles& files, std::int64_t first, const at::Tensor& rows) {
  const Shape extents(rows.sizes().begin(), rows.sizes().end());
  each_chunk(select(extents, {}, files.op), files.chunks, [&](const ChunkPart& part) {
    auto values = rows;
    auto chunk = at::zeros(files.chunks, rows.options());
    auto inside = chunk;
    for (std::size_t i = 0; i < part.where.size(); ++i) {
      const auto axis = static_cast<std::int64_t>(i);
      values = values.narrow(axis, part.where[i].start, part.where[i].count);
      inside = inside.narrow(axis, 0, part.where[i].count);
    }
    inside.copy_(values);
    auto place = part.place;
    if (!place.empty()) place[0] += first / files.chunks[0];
    write_chunk(files, chunk_name(place, files.separator), chunk);
  });
}

}  // namespace

void write_chunks(const ChunkFiles& files, const DNDarray& x, std::int64_t begin) {
  const auto& comm = x.comm();
  const auto write = [&](std::int64_t first, const at::Tensor& rows) { write_rows(files, begin + first, rows); };
  if (x.ndim() == 0) {
    all_or_none(comm, [&] {
      if (comm.rank() == 0) write(0, x.larray().to(at::kCPU));
    });
  } else if (x.split().value_or(0) == 0) {
    const auto layout = between_chunks(x.split() ? x.layout() : Layout(x.shape(), 0, comm.size()), files.chunks[0]);
    each_rows(layout, heatpp::detail::relayout(x, layout).to(at::kCPU), comm, write);
  } else {
    each_rows(x.layout(), x.larray().to(at::kCPU).contiguous(), comm, write, files.chunks[0]);
  }
}

}  // namespace heatpp::io::detail
