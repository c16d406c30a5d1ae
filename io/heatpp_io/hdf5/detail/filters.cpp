#include <heatpp_io/hdf5/detail/filters.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace heatpp::io::detail {
namespace {

/// A registered filter, and the places of the level and the element size in its parameters. The numbers and parameters
/// are from The HDF Group's list of registered filters and their plugins.
struct Filter {
  H5Z_filter_t id;
  Codec codec;
  std::size_t level_at, itemsize_at;
};
constexpr std::size_t nowhere = SIZE_MAX, most_parameters = 32;
constexpr std::array filters{Filter{32015, Codec::zstd, 0, nowhere}, Filter{32004, Codec::lz4, nowhere, nowhere},
                             Filter{32001, Codec::blosc, 4, 2}};

const BlockCodec* blocks_of(Codec codec) {
#if HEATPP_HAS_LZ4
  if (codec == Codec::lz4) return &lz4_blocks_of_hdf5;
#endif
  return block_codec(codec);
}

/// Is called by HDF5. Takes the memory of `buffer` and replaces it by other memory. Returns 0 if it failed.
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
  } catch (const std::exception&) {  // an allocation failed; HDF5 cannot handle exceptions
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

// Registered filters have precedence over plugins of the same number. blosc's plugin fails if bytes do not get smaller.
template <std::size_t i>
void register_filter() {
  constexpr auto filter = filters[i];
  if (!blocks_of(filter.codec)) return;
  const H5Z_class2_t type{H5Z_CLASS_T_VERS, filter.id, 1, 1, name_of(filter.codec).data(), nullptr, nullptr, &apply<i>};
  H5Zregister(&type);
}

std::vector<H5Z_filter_t> ids_of(const Handle& properties) {
  std::vector<H5Z_filter_t> ids;
  for (const auto& filter : applied_filters(properties)) ids.push_back(filter.id);
  return ids;
}

/// Returns the compression that is nearest to one filter.
Compression nearest_to(H5Z_filter_t id, const std::vector<unsigned>& parameters) {
  const auto level = [&](std::size_t at) { return at < parameters.size() ? static_cast<int>(parameters[at]) : -1; };
  if (id == H5Z_FILTER_DEFLATE) return nearest_compression("gzip", level(0));
  const auto* found = std::ranges::find(filters, id, &Filter::id);
  return found == filters.end() ? nearest_compression("", -1)
                                : nearest_compression(name_of(found->codec), level(found->level_at));
}

/// A registered filter that heatpp does not have, and the packages that contain its plugin.
struct Plugin {
  H5Z_filter_t id;
  std::string_view name, package;
};
constexpr std::string_view of_python = "hdf5plugin (PyPI)";
constexpr std::array plugins{
    Plugin{305, "LZO", "tables (PyPI), by which to rewrite it"},
    Plugin{307, "bzip2", "hdf5-filter-plugin (Debian) or hdf5plugin (PyPI)"},
    Plugin{32000, "LZF", "hdf5-plugin-lzf (Debian)"},
    Plugin{32008, "bitshuffle", "hdf5-filter-plugin (Debian) or hdf5plugin (PyPI)"},
    Plugin{32013, "ZFP", "hdf5-filter-plugin-zfp-serial (Debian) or hdf5plugin (PyPI)"},
    Plugin{32017, "SZ", of_python},
    Plugin{32018, "FCIDECOMP", of_python},
    Plugin{32020, "VBZ", "ont-vbz-hdf-plugin (of Oxford Nanopore)"},
    Plugin{32022, "BitGroom", "ccr (Community Codec Repository)"},
    Plugin{32023, "Granular BitRound", "ccr (Community Codec Repository)"},
    Plugin{32024, "SZ3", of_python},
    Plugin{32026, "Blosc2", of_python},
    Plugin{32028, "SPERR", of_python},
    Plugin{32033, "HTJ2K", of_python},
};

/// Returns the name of a filter, and the package that contains it.
std::string described(H5Z_filter_t id) {
  if (const auto* filter = std::ranges::find(filters, id, &Filter::id); filter != filters.end())
    return heatpp::detail::formatted("filter {} ({}); expected {}", id, name_of(filter->codec),
                                     how_to_get(filter->codec));
  const auto* plugin = std::ranges::find(plugins, id, &Plugin::id);
  if (plugin == plugins.end())
    return heatpp::detail::formatted(
        "filter {}; expected the plugin that The HDF Group's list of registered filters names, its folder in "
        "HDF5_PLUGIN_PATH",
        id);
  return heatpp::detail::formatted("filter {} ({}); expected the plugin of {}, its folder in HDF5_PLUGIN_PATH{}", id,
                                   plugin->name, plugin->package,
                                   plugin->package.ends_with(of_python)
                                       ? ", as python3 -c \"import hdf5plugin; print(hdf5plugin.PLUGIN_PATH)\" says it"
                                       : "");
}

}  // namespace

void set_compression(const Handle& properties, const Compression& compression, int itemsize) {
  const auto level = static_cast<unsigned>(compression.level), bytes = static_cast<unsigned>(itemsize);
  const bool usual = compression.codec == Codec::zstd || compression.codec == Codec::lz4;
  if (compression.shuffle.value_or(usual)) H5Pset_shuffle(properties.get());
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
  if (compression.codec == Codec::zstd) set({level});
  else set({0});  // the largest possible blocks
}

void register_filters() {
  [&]<std::size_t... i>(std::index_sequence<i...>) { (register_filter<i>(), ...); }
  (std::make_index_sequence<filters.size()>{});
}

std::optional<ChunkFilters> known_filters(const Handle& properties) {
  auto ids = ids_of(properties);
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

std::vector<AppliedFilter> applied_filters(const Handle& properties) {
  std::vector<AppliedFilter> applied;
  for (int i = 0; i < H5Pget_nfilters(properties.get()); ++i) {
    unsigned flags = 0, config = 0;
    std::vector<unsigned> parameters(most_parameters);
    auto count = parameters.size();
    const auto id = H5Pget_filter2(properties.get(), static_cast<unsigned>(i), &flags, &count, parameters.data(), 0,
                                   nullptr, &config);
    parameters.resize(std::min(count, most_parameters));
    applied.push_back({id, std::move(parameters)});
  }
  return applied;
}

std::optional<Compression> nearest_compression(const std::vector<AppliedFilter>& applied) {
  std::optional<Compression> nearest;
  bool shuffled = false;
  for (const auto& [id, parameters] : applied) {
    if (id == H5Z_FILTER_SHUFFLE) shuffled = true;
    else if (id != H5Z_FILTER_FLETCHER32) nearest = nearest_to(id, parameters);
  }
  if (nearest && nearest->codec != Codec::blosc) nearest->shuffle = shuffled;
  return nearest;
}

std::optional<std::string> missing_filter(const std::vector<AppliedFilter>& applied) {
  std::string missing;
  for (const auto& [id, parameters] : applied)
    if (H5Zfilter_avail(id) <= 0) missing += (missing.empty() ? "" : ", and through ") + described(id);
  return missing.empty() ? std::nullopt : std::optional(missing);
}

}  // namespace heatpp::io::detail
