#include <heatpp_io/hdf5/detail/new_dataset.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/hdf5/detail/dataset_attributes.hpp>
#include <heatpp_io/hdf5/detail/filters.hpp>

#include <algorithm>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;

constexpr std::int64_t chunk_bytes = std::int64_t{1} << 20;

/// Returns the extents of the chunks; empty if the dataset is stored contiguously.
Shape chunks_of(const WriteJob& job, const Layout& layout, Dtype dtype) {
  const bool grows = job.options.grows;
  if (layout.ndim() == 0 || (layout.size() == 0 && !grows)) return {};
  auto chunks = job.options.chunks;
  for (std::size_t axis = grows ? 1 : 0; axis < chunks.size(); ++axis)  // a shard may be smaller than a chunk
    chunks[axis] = std::min(chunks[axis], layout.shape()[axis]);
  if (!chunks.empty() || (!job.options.compression && !grows)) return chunks;
  chunks = fitting_chunks(layout, static_cast<std::int64_t>(itemsize(dtype)));
  for (auto& extent : chunks) extent = std::max<std::int64_t>(1, extent);
  return chunks;
}

Handle storage_of(const WriteJob& job, const Shape& chunks, Dtype dtype) {
  Handle properties(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER);  // every element is written
  if (chunks.empty()) return properties;
  const std::vector<hsize_t> extents(chunks.begin(), chunks.end());
  H5Pset_chunk(properties.get(), static_cast<int>(extents.size()), extents.data());
  if (job.options.grows) H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_EARLY);  // several ranks need it later
  if (job.options.compression) set_compression(properties, *job.options.compression, static_cast<int>(itemsize(dtype)));
  return properties;
}

Handle file_of(const WriteJob& job, const Handle& access) {
  Handle file(job.options.append ? H5Fopen(job.path.c_str(), H5F_ACC_RDWR, access.get())
                                 : H5Fcreate(job.path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()));
  if (!file)
    raise<IoError>(job.op, "got \"{}\", which cannot be written ({}); expected a place for an HDF5 file", job.shown,
                   innermost_error());
  return file;
}

/// Removes a dataset of this name. The new one can use its space while the file is open.
void make_room(const Handle& file, const WriteJob& job) {
  const bool there = static_cast<bool>(Handle(H5Oopen(file.get(), job.dataset.c_str(), H5P_DEFAULT)));
  if (there && H5Ldelete(file.get(), job.dataset.c_str(), H5P_DEFAULT) < 0)
    raise<IoError>(job.op, "got dataset \"{}\" of \"{}\", which cannot be replaced ({}); expected a file to write to",
                   job.dataset, job.shown, innermost_error());
}

}  // namespace

Shape fitting_chunks(const Layout& layout, std::int64_t itemsize) {
  auto chunks = layout.shape();
  for (int axis = 0; axis < layout.ndim(); ++axis) {
    auto& extent = chunks[static_cast<std::size_t>(axis)];
    if (const auto ranks = layout.cut_along(axis).ranks(); ranks > 1)
      extent = std::max<std::int64_t>(1, (extent + ranks - 1) / ranks);
  }
  // Halving all equally keeps chunks within the blocks from which they were made.
  for (std::size_t axis = 0; axis < chunks.size(); ++axis)
    while (chunks[axis] > 1 && size_of(chunks) * itemsize > chunk_bytes) chunks[axis] = (chunks[axis] + 1) / 2;
  return chunks;
}

Dataset create_dataset(const WriteJob& job, const Layout& layout, Dtype dtype, const Handle& access) {
  Dataset result;
  result.file = file_of(job, access);
  if (job.replace) make_room(result.file, job);
  check_uint64(job.options.uint64, dtype, job.op);
  result.memory = job.options.uint64 ? Handle(H5Tcopy(H5T_NATIVE_UINT64)) : saved_type(dtype);
  result.info.shape = layout.shape();
  result.info.element = {dtype};
  result.info.chunk = chunks_of(job, layout, dtype);
  const std::vector<hsize_t> extents(layout.shape().begin(), layout.shape().end());
  auto most = extents;
  if (job.options.grows) most.at(0) = H5S_UNLIMITED;
  const Handle space(extents.empty() ? H5Screate(H5S_SCALAR)
                                     : H5Screate_simple(layout.ndim(), extents.data(), most.data()));
  const auto storage = storage_of(job, result.info.chunk, dtype);
  const Handle groups(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_create_intermediate_group(groups.get(), 1);
  result.id = Handle(H5Dcreate2(result.file.get(), job.dataset.c_str(), result.memory.get(), space.get(), groups.get(),
                                storage.get(), H5P_DEFAULT));
  if (!result.id)
    raise<IoError>(job.op, "got dataset \"{}\", which cannot be made in \"{}\" ({}); expected a free name and room",
                   job.dataset, job.shown, innermost_error());
  write_annotations(result.id.get(), annotations_of(job.options),
                    heatpp::detail::formatted("dataset \"{}\" of \"{}\"", job.dataset, job.shown), job.op);
  return result;
}

std::int64_t bytes_needed(const Dataset& dataset) {
  constexpr std::int64_t headers = std::int64_t{64} << 10;
  const auto bytes = size_of(dataset.info.shape) * static_cast<std::int64_t>(itemsize(dataset.info.element.dtype));
  return headers + bytes + (dataset.info.chunk.empty() ? 0 : bytes / 8);
}

void close_dataset(Dataset& dataset, const WriteJob& job) {
  const bool closed = dataset.id.close();
  if (!dataset.file.close() || !closed)
    raise<IoError>(job.op, "got an error while writing \"{}\" ({}); expected room on the disk", job.shown,
                   innermost_error());
}

}  // namespace heatpp::io::detail
