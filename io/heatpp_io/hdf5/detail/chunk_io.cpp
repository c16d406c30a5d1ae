#include <heatpp_io/hdf5/detail/chunk_io.hpp>

#include <heatpp/core/shape.hpp>
#include <heatpp_io/detail/shards/chunk_grid.hpp>
#include <heatpp_io/hdf5/detail/filters.hpp>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <optional>

namespace heatpp::io::detail {
namespace {

constexpr std::int64_t largest_chunk = std::int64_t{64} << 20;

/// Returns the filters of a dataset's chunks, without a codec if there are none, or nothing if HDF5 has to read them.
std::optional<ChunkFilters> filters_of(const Dataset& dataset) {
  const Handle properties(H5Dget_create_plist(dataset.id.get())), type(H5Dget_type(dataset.id.get()));
  unsigned options = 0;
  if (dataset.info.chunk.empty() || H5Tequal(type.get(), dataset.memory.get()) <= 0 ||
      H5Pget_chunk_opts(properties.get(), &options) < 0 || options != 0)
    return std::nullopt;
  return dataset.info.compressed ? known_filters(properties) : ChunkFilters();
}

std::span<std::byte> bytes_of(const at::Tensor& x) {
  return {static_cast<std::byte*>(x.data_ptr()), static_cast<std::size_t>(x.numel() * x.element_size())};
}

/// Restores elements from the first bytes of all elements, then all second ones, and so on.
void unshuffle(const at::Tensor& shuffled, const at::Tensor& out) {
  const auto bytes = out.element_size();
  out.view({-1}).view(at::kByte).view({-1, bytes}).copy_(shuffled.view(at::kByte).view({bytes, -1}).t());
}

/// Whether `place` is a whole chunk whose elements have the order of the file.
bool is_direct(const at::Tensor& place, const at::Tensor& elements) {
  return place.is_contiguous() && place.sizes() == elements.sizes();
}

/// Reads the stored bytes of a chunk into the memory that `room` returns. Returns false if HDF5 has to read it.
bool take_chunk(hid_t dataset, const ChunkBox& part, const std::function<std::byte*(std::size_t bytes)>& room) {
  std::vector<hsize_t> first;
  for (std::size_t i = 0; i < part.place.size(); ++i)
    first.push_back(static_cast<hsize_t>(part.place[i] * part.extents[i]));
  hsize_t bytes = 0;
  if (H5Dget_chunk_storage_size(dataset, first.data(), &bytes) < 0) return false;
  auto* const to = room(static_cast<std::size_t>(bytes));
  std::uint32_t skipped_filters = 0;
  return to && H5Dread_chunk(dataset, H5P_DEFAULT, first.data(), &skipped_filters, to) >= 0 && skipped_filters == 0;
}

/// Reads uncompressed chunks without HDF5's cache.
bool read_plain_chunks(hid_t dataset, const Shape& chunk, const std::vector<ChunkBox>& parts, const at::Tensor& out) {
  const auto elements = at::empty(chunk, out.options());
  for (const auto& part : parts) {
    const auto place = part_of(out, part.where);
    const auto& to = is_direct(place, elements) ? place : elements;
    const auto room = [&](std::size_t bytes) {
      const auto all = bytes_of(to);
      return bytes == all.size() ? all.data() : nullptr;
    };
    if (!take_chunk(dataset, part, room)) return false;
    if (!to.is_same(place)) place.copy_(part_of(elements, part.box));
  }
  return true;
}

/// A set of chunks that are being read.
class Slot {
 public:
  Slot(const Shape& chunk, const at::TensorOptions& options, ChunkFilters filters)
      : elements_(at::empty(chunk, options)), filters_(filters) {
    if (filters.shuffled) shuffled_ = at::empty({elements_.numel()}, options);
  }

  /// Takes the stored bytes of a chunk. HDF5 has one thread.
  [[nodiscard]] bool take(hid_t dataset, const ChunkBox& part) {
    return take_chunk(dataset, part, [&](std::size_t bytes) -> std::byte* {
      if (bytes == 0 || bytes > 2 * bytes_of(elements_).size() + 1024) return nullptr;
      stored_.resize(bytes);
      return stored_.data();
    });
  }

  /// Copies the wanted part of the chunk to its place.
  [[nodiscard]] bool put(const ChunkBox& part, const at::Tensor& place) const {
    const bool direct = !filters_.shuffled && is_direct(place, elements_);
    const auto& whole = direct ? place : filters_.shuffled ? shuffled_ : elements_;
    if (!filters_.codec->decompress(stored_, bytes_of(whole))) return false;
    if (direct) return true;
    if (filters_.shuffled) unshuffle(shuffled_, elements_);
    place.copy_(part_of(elements_, part.box));
    return true;
  }

 private:
  at::Tensor elements_, shuffled_;
  ChunkFilters filters_;
  std::vector<std::byte> stored_;
};

}  // namespace

bool read_chunks(const Dataset& dataset, const Selection& box, const at::Tensor& out) {
  const auto filters = filters_of(dataset);
  const auto elements = size_of(dataset.info.chunk);
  if (!filters || elements == 0 || elements > largest_chunk / out.element_size()) return false;
  std::vector<ChunkBox> parts;
  each_chunk(box, dataset.info.chunk, [&](const ChunkBox& part) { parts.push_back(part); });
  if (std::ssize(parts) > 2 * out.numel() / elements) return false;
  if (!filters->codec) return read_plain_chunks(dataset.id.get(), dataset.info.chunk, parts, out);

  const auto at_once = std::min<std::int64_t>(at::get_num_threads(), std::ssize(parts));
  std::vector<Slot> slots;
  for (std::int64_t i = 0; i < at_once; ++i) slots.emplace_back(dataset.info.chunk, out.options(), *filters);
  std::atomic<bool> sound = true;
  for (std::size_t first = 0; first < parts.size() && sound; first += slots.size()) {
    const auto count = std::min(slots.size(), parts.size() - first);
    for (std::size_t i = 0; i < count; ++i)
      if (!slots[i].take(dataset.id.get(), parts[first + i])) return false;
    const auto put = [&](std::int64_t begin, std::int64_t end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
        if (!slots[i].put(parts[first + i], part_of(out, parts[first + i].where))) sound = false;
    };
    Hdf5Turn::let_others([&] { at::parallel_for(0, static_cast<std::int64_t>(count), 1, put); });
  }
  return sound;
}

}  // namespace heatpp::io::detail
