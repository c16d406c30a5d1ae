#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/hdf5/detail/filters.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace heatpp::io::detail {
namespace {

/// A registered filter, and where its parameters have the level and the bytes of an element. Numbers and parameters:
/// The HDF Group's list of registered filters, and their plugins.
struct Filter {
  H5Z_filter_t id;
  Codec codec;
  std::size_t level_at, itemsize_at;
};
constexpr std::size_t nowhere = SIZE_MAX;
constexpr std::array filters{Filter{32015, Codec::zstd, 0, nowhere}, Filter{32004, Codec::lz4, nowhere, nowhere},
                             Filter{32001, Codec::blosc, 4, 2}};

const BlockCodec* blocks_of(Codec codec) {
#if HEATPP_HAS_LZ4
  if (codec == Codec::lz4) return &lz4_blocks_of_hdf5;
#endif
  return block_codec(codec);
}

/// What HDF5 calls: it hands over the memory of `buffer`, and gets other memory back. 0: it failed.
template <std::size_t i>
std::size_t apply(unsigned flags, std::size_t count, const unsigned* parameters, std::size_t bytes, std::size_t* room,
                  void** buffer) {
  constexpr auto filter = filters[i];
  const auto parameter = [&](std::size_t at, int usual) {
    return at < count ? static_cast<int>(parameters[at]) : usual;
  };
  const auto& codec = *blocks_of(filter.codec);
  const Block given(static_cast<const std::byte*>(*buffer), bytes);
  void* made = nullptr;
  std::size_t size = 0;
  const auto make = [&](std::size_t needed) {
    size = needed;
    return made = H5allocate_memory(needed, false);
  };
  try {
    if (flags & H5Z_FLAG_REVERSE) {
      const auto needed = codec.size(given);
      if (!needed || *needed == 0 || !make(*needed) || !codec.decompress(given, {static_cast<std::byte*>(made), size}))
        size = 0;
    } else if (const auto packed =
                   codec.compress(given, parameter(filter.level_at, Compression(name_of(filter.codec)).level),
                                  std::max(1, parameter(filter.itemsize_at, 1)));
               packed && make(packed->size())) {
      std::memcpy(made, packed->data(), size);
    }
  } catch (const std::exception&) {  // memory is short; HDF5 is no place for exceptions
    size = 0;
  }
  if (!made || size == 0) {
    H5free_memory(made);
    return 0;
  }
  H5free_memory(*buffer);
  *buffer = made;
  *room = size;
  return size;
}

// A plugin of the same number comes after what is registered. Those of blosc fail on bytes that get no smaller.
template <std::size_t i>
void register_filter() {
  constexpr auto filter = filters[i];
  if (!blocks_of(filter.codec)) return;
  const H5Z_class2_t type{H5Z_CLASS_T_VERS, filter.id, 1, 1, name_of(filter.codec).data(), nullptr, nullptr, &apply<i>};
  H5Zregister(&type);
}

std::vector<H5Z_filter_t> filters_of(const Handle& properties) {
  std::vector<H5Z_filter_t> ids;
  for (int i = 0; i < H5Pget_nfilters(properties.get()); ++i) {
    unsigned flags = 0, config = 0;
    std::size_t values = 0;
    ids.push_back(
        H5Pget_filter2(properties.get(), static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, &config));
  }
  return ids;
}

/// Debian's packages of plugins.
constexpr std::array plugins{std::pair{307, "hdf5-filter-plugin"}, std::pair{32000, "hdf5-plugin-lzf"},
                             std::pair{32008, "hdf5-filter-plugin"}, std::pair{32013, "hdf5-filter-plugin-zfp-serial"}};

std::string what_brings(H5Z_filter_t id) {
  if (const auto* filter = std::ranges::find(filters, id, &Filter::id); filter != filters.end())
    return how_to_get(filter->codec);
  const auto* plugin = std::ranges::find(plugins, id, [](const auto& known) { return known.first; });
  return plugin == plugins.end() ? "its plugin, in HDF5_PLUGIN_PATH"
                                 : heatpp::detail::formatted("{} (Debian), in HDF5_PLUGIN_PATH", plugin->second);
}

}  // namespace

void set_compression(const Handle& properties, const Compression& compression, int itemsize) {
  const auto level = static_cast<unsigned>(compression.level), bytes = static_cast<unsigned>(itemsize);
  if (compression.codec == Codec::gzip) {
    H5Pset_deflate(properties.get(), level);
    return;
  }
  register_filters();
  const auto id = std::ranges::find(filters, compression.codec, &Filter::codec)->id;
  const auto set = [&](std::initializer_list<unsigned> parameters) {
    H5Pset_filter(properties.get(), id, H5Z_FLAG_MANDATORY, parameters.size(), std::data(parameters));
  };
  if (compression.codec == Codec::blosc) return set({2, 2, bytes, 0, level, 1, 1});  // 1: shuffle; 1: LZ4
  H5Pset_shuffle(properties.get());
  if (compression.codec == Codec::zstd) set({level});
  else set({0});  // blocks as large as may be
}

void register_filters() {
  [&]<std::size_t... i>(std::index_sequence<i...>) { (register_filter<i>(), ...); }
  (std::make_index_sequence<filters.size()>{});
}

std::optional<ChunkFilters> known_filters(const Handle& properties) {
  auto ids = filters_of(properties);
  ChunkFilters known;
  if (ids.size() == 2 && ids[0] == H5Z_FILTER_SHUFFLE) {
    known.shuffled = true;
    ids.erase(ids.begin());
  }
  if (ids.size() != 1) return std::nullopt;
  if (ids[0] == H5Z_FILTER_DEFLATE) known.codec = &gzip_blocks;
  else if (const auto* filter = std::ranges::find(filters, ids[0], &Filter::id); filter != filters.end())
    known.codec = blocks_of(filter->codec);
  return known.codec ? std::optional(known) : std::nullopt;
}

std::optional<std::string> missing_filter(const Handle& properties) {
  for (const auto id : filters_of(properties))
    if (H5Zfilter_avail(id) <= 0) return heatpp::detail::formatted("filter {}; expected {}", id, what_brings(id));
  return std::nullopt;
}

}  // namespace heatpp::io::detail
