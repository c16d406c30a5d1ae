#include <heatpp_io/zarr/detail/chunk_files.hpp>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <heatpp/core/detail/cuts/without_copies.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp_io/detail/elements/rows.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_io/detail/shards/chunk_grid.hpp>
#include <heatpp_io/zarr/detail/store_files.hpp>

#include <fcntl.h>

namespace heatpp::io::detail {
namespace {

void write_file(const ChunkFiles& files, const std::string& name, Block bytes) {
  const auto path = files.path / name;
  std::error_code ignored;
  if (files.replace && std::filesystem::exists(path, ignored))
    return write_atomically(files.op, path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  std::filesystem::create_directories(path.parent_path(), ignored);  // for chunks "3/1"; writing reports errors
  static_cast<void>(Descriptor(path, O_CREAT | O_WRONLY | O_TRUNC));
  FileWriter(path, files.shown, files.op).write(0, std::ssize(bytes), bytes.data());
}

bool is_plain(const ChunkCodecs& codecs) {
  return codecs.order.empty() && codecs.filters.empty() && !codecs.sharding && codecs.bytes.empty() &&
         codecs.type.swapped == 1;
}

void write_chunk(const ChunkFiles& files, const std::string& name, const at::Tensor& chunk) {
  if (!is_plain(files.array.codecs)) {
    const auto shown = joined_name(files.shown, name);
    return write_file(files, name, encoded_chunk(chunk, files.array.codecs, {shown, files.op}));
  }
  const auto bytes = static_cast<std::size_t>(chunk.numel() * chunk.element_size());
  write_file(files, name, {static_cast<const std::byte*>(chunk.const_data_ptr()), bytes});
}

/// Pads the part of a chunk that a block has with zeros.
at::Tensor whole_chunk(const at::Tensor& values, const Shape& chunks) {
  if (values.sizes() == at::IntArrayRef(chunks)) return values.contiguous();
  auto chunk = at::zeros(chunks, values.options());
  auto inside = chunk;
  for (std::int64_t axis = 0; axis < values.dim(); ++axis) inside = inside.narrow(axis, 0, values.size(axis));
  inside.copy_(values);
  return chunk;
}

/// Writes a block that begins at `first`, at the beginning of a chunk, and ends at the end of a chunk or of the array.
/// All threads of a rank write its chunks.
void write_block(const ChunkFiles& files, const Shape& first, const at::Tensor& block) {
  const auto& chunks = files.array.chunks;
  std::vector<ChunkBox> parts;
  each_chunk(select({block.sizes().begin(), block.sizes().end()}, {}, files.op), chunks,
             [&](const ChunkBox& part) { parts.push_back(part); });
  at::parallel_for(0, std::ssize(parts), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      auto place = parts[i].place;
      for (std::size_t axis = 0; axis < place.size(); ++axis) place[axis] += first[axis] / chunks[axis];
      write_chunk(files, chunk_name(place, files.array.separator, files.array.prefixed),
                  whole_chunk(part_of(block, parts[i].where), chunks));
    }
  });
}

/// Whether a grid gives as many ranks whole chunks as a cut along the rows would.
bool occupies_ranks(const Layout& layout, const Shape& chunks) {
  if (!layout.is_grid()) return false;
  const auto chunks_along = [&](std::size_t axis) { return (layout.shape()[axis] + chunks[axis] - 1) / chunks[axis]; };
  std::int64_t ranks = 1;
  for (std::size_t axis = 0; axis < chunks.size(); ++axis)
    ranks *= std::min<std::int64_t>(chunks_along(axis), layout.cut_along(static_cast<int>(axis)).ranks());
  return ranks >= std::min<std::int64_t>(layout.ranks(), chunks_along(0));
}

}  // namespace

void write_chunks(const ChunkFiles& files, const DNDarray& array, std::int64_t begin) {
  const auto given = heatpp::detail::without_copies(array);
  const auto& comm = given.comm();
  const auto& chunks = files.array.chunks;
  if (begin == 0 && occupies_ranks(given.layout(), chunks)) {
    const auto layout = between_chunks(given.layout(), chunks);
    const auto block = heatpp::detail::relayout(given, layout).to(at::kCPU);
    return all_or_none(comm, [&] { write_block(files, layout.local_offset(comm.rank()), block); });
  }
  const auto x = given.layout().is_grid() ? resplit(given, 0) : given;
  if (x.ndim() == 0)
    return all_or_none(comm, [&] {
      if (comm.rank() == 0) write_block(files, {}, x.larray().to(at::kCPU));
    });
  Shape first(x.shape().size(), 0);
  first[0] = begin;
  const auto split = static_cast<std::size_t>(x.split().value_or(0));
  const auto chunks_along = [&](std::size_t i) { return (x.shape()[i] + chunks[i] - 1) / chunks[i]; };
  if (chunks_along(split) >= std::min<std::int64_t>(comm.size(), chunks_along(0))) {
    const auto cut = x.split() ? x.layout() : Layout(x.shape(), 0, comm.size());
    const auto layout = between_chunks(cut, chunks[split]);
    const auto block = heatpp::detail::relayout(x, layout).to(at::kCPU);
    first[split] += layout.offset(comm.rank());
    all_or_none(comm, [&] { write_block(files, first, block); });
  } else {
    const auto write = [&](std::int64_t row, const at::Tensor& rows) {
      first[0] = begin + row;
      write_block(files, first, rows);
    };
    each_rows(x.layout(), x.larray().to(at::kCPU).contiguous(), comm, write, chunks[0]);
  }
}

}  // namespace heatpp::io::detail
