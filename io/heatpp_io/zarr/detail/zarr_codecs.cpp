#include <heatpp_io/zarr/detail/zarr_codecs.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;
using nlohmann::json;

constexpr auto known_codecs =
    "transpose, bytes, sharding_indexed, gzip, zlib, zstd, lz4, blosc, bz2, lzma, crc32c, crc32, adler32, shuffle, "
    "delta, fixedscaleoffset, quantize, bitround and astype";

struct Compressor {
  std::string_view name, package;
  std::int64_t most;  ///< limit of bytes for one byte, by the formats; none for blosc, whose blocks state it
};
constexpr std::array compressors{Compressor{"zlib", "zlib1g-dev", 1032},
                                 Compressor{"gzip", "zlib1g-dev", 1032},
                                 Compressor{"zstd", "libzstd-dev", 1 << 16},
                                 Compressor{"lz4", "liblz4-dev", 256},
                                 Compressor{"blosc", "libblosc-dev", std::numeric_limits<std::int64_t>::max()},
                                 Compressor{"bz2", "libbz2-dev", 1 << 21},
                                 Compressor{"lzma", "liblzma-dev", 1 << 13}};

/// A codec by its name, without a leading "numcodecs.".
struct Described {
  std::string name;
  json configuration;
};
Described described(const json& codec) {
  if (codec.is_string()) return {codec.get<std::string>(), json::object()};
  if (codec.contains("id")) return {codec["id"].get<std::string>(), codec};
  auto name = codec.at("name").get<std::string>();
  constexpr std::string_view prefix = "numcodecs.";
  if (name.starts_with(prefix)) name.erase(0, prefix.size());
  return {name, codec.value("configuration", json::object())};
}

/// Returns a text, or `otherwise` if there is none.
std::string text_or(const json& all, const char* key, const std::string& otherwise) {
  const auto value = all.value(key, json());
  return value.is_string() ? value.get<std::string>() : otherwise;
}

/// Codecs, one after another. In format 2 they begin with filters, and the step from elements to bytes is implicit.
class Chain {
 public:
  enum class Format { two, three };
  Chain(const CodecsOf& what, Format format) : what_(what), format_(format), type_(what.type) {
    codecs_.type = stored(type_);
    in_bytes_ = format == Format::two;
  }

  void add(const json& codec) {
    const auto [name, configuration] = described(codec);
    if (add_compressor(name, configuration) || add_to_bytes(name, configuration) || add_filter(name, configuration) ||
        add_serializer(name, configuration))
      return;
    refuse(codec.dump(), formatted("some of {}; other programs can rewrite it with these", known_codecs));
  }
  [[nodiscard]] ChunkCodecs finish() {
    if (!in_bytes_)
      raise<IoError>(what_.name.op, "got \"{}\" with codecs that give no bytes; expected bytes or sharding_indexed",
                     what_.name.path);
    if (std::ranges::is_sorted(codecs_.order)) codecs_.order.clear();
    return std::move(codecs_);
  }

 private:
  [[noreturn]] void refuse(const std::string& got, const std::string& expected) const {
    raise<IoError>(what_.name.op, "got \"{}\" with the codec {}; expected {}", what_.name.path, got, expected);
  }
  [[nodiscard]] StoredType stored(const std::string& type) const {
    return stored_type(type, formatted("\"{}\"", what_.name.path), what_.name.op);
  }
  /// Elements that filters have made are checked when the filters are undone.
  void take_type(const std::string& type) {
    type_ = type;
    codecs_.type = stored(type);
    if (!codecs_.filters.empty()) codecs_.type.element.may_overflow = false;
  }
  void check_bytes(const std::string& name) const {
    if (!in_bytes_) refuse(formatted("\"{}\" before bytes", name), "it behind them");
  }
  void check_elements(const std::string& name) const {
    if (in_bytes_ && (format_ == Format::three || !codecs_.bytes.empty()))
      refuse(formatted("\"{}\" of bytes", name), "it before elements become bytes");
  }

  bool add_compressor(const std::string& name, const json& configuration) {
    const auto* const found = std::ranges::find(compressors, name, &Compressor::name);
    if (found == compressors.end()) return false;
    check_bytes(name);
    const auto* blocks = block_codec(name);
    if (!blocks) refuse(formatted("\"{}\"", name), formatted("{} (Debian), and heatpp built with it", found->package));
    if (name == "lzma" && configuration.value("format", 1) == 3)
      refuse("\"lzma\" of format 3, without a header", "format 1 or 2");
    const auto level =
        configuration.value("level", configuration.value("clevel", configuration.value("preset", json())));
    codecs_.bytes.push_back({.name = name,
                             .blocks = blocks,
                             .most = found->most,
                             .level = level.is_number_integer() ? level.get<int>()
                                      : name == "lzma"          ? 6
                                                                : 1,
                             .itemsize = codecs_.type.bytes});
    return true;
  }

  bool add_to_bytes(const std::string& name, const json& configuration) {
    using Kind = BytesCodec::Kind;
    constexpr std::array kinds{std::pair{"shuffle", Kind::shuffled}, std::pair{"crc32c", Kind::crc32c},
                               std::pair{"crc32", Kind::crc32}, std::pair{"adler32", Kind::adler32}};
    const auto* const found = std::ranges::find_if(kinds, [&](const auto& kind) { return name == kind.first; });
    if (found == kinds.end()) return false;
    check_bytes(name);
    BytesCodec codec{.kind = found->second, .name = name, .itemsize = codecs_.type.bytes};
    if (codec.kind == Kind::shuffled) codec.itemsize = configuration.value("elementsize", codec.itemsize);
    if (codec.itemsize < 1) refuse(formatted("\"shuffle\" of {} bytes", codec.itemsize), "1 or more");
    codec.sum_first = text_or(configuration, "location", name == "crc32c" ? "end" : "start") == "start";
    codecs_.bytes.push_back(std::move(codec));
    return true;
  }

  bool add_filter(const std::string& name, const json& configuration) {
    if (name == "transpose") return add_order(configuration.value("order", json()));
    if (name != "delta" && name != "fixedscaleoffset" && name != "quantize" && name != "bitround" && name != "astype")
      return false;
    check_elements(name);
    Filter filter{.rounds = name != "delta" && name != "astype"};
    const auto before = text_or(configuration, name == "astype" ? "decode_dtype" : "dtype", type_);
    const auto after = text_or(configuration, name == "astype" ? "encode_dtype" : "astype", before);
    filter.before = stored(before);
    filter.after = stored(after);
    if (name == "delta") filter.kind = Filter::Kind::delta;
    if (name == "fixedscaleoffset") take_scale(configuration, filter);
    if (filter.kind != Filter::Kind::cast && !(is_number(filter.before) && is_number(filter.after)))
      refuse(formatted("\"{}\" of {}", name, before), "real numbers");
    codecs_.filters.push_back(filter);
    take_type(after);
    return true;
  }
  static void take_scale(const json& configuration, Filter& filter) {
    filter.kind = Filter::Kind::scaled;
    filter.offset = configuration.at("offset").get<double>();
    filter.scale = configuration.at("scale").get<double>();
  }
  static bool is_number(const StoredType& type) {
    return !is_complex(type.element.dtype) && type.element.dtype != bool_;
  }

  bool add_order(const json& given) {
    check_elements("transpose");
    const auto axes = std::ssize(what_.chunks);
    Shape axis, order;
    for (std::int64_t i = 0; i < axes; ++i) axis.push_back(i);
    if (given == "C" || given == "F") order = axis;
    else order = given.get<Shape>();
    if (given == "F") std::ranges::reverse(order);
    if (!std::ranges::is_permutation(order, axis))
      refuse(formatted("\"transpose\" to {}", given.dump()), formatted("each of {} axes once", axes));
    if (std::ranges::any_of(codecs_.filters, [](const Filter& f) { return f.kind == Filter::Kind::delta; }))
      refuse("\"transpose\" behind \"delta\"", "it before");
    codecs_.order = codecs_.order.empty() ? order : reordered(codecs_.order, order);
    return true;
  }

  bool add_serializer(const std::string& name, const json& configuration) {
    if (name != "bytes" && name != "sharding_indexed") return false;
    check_elements(name);
    if (name == "sharding_indexed") {
      codecs_.sharding = sharding_of(configuration);
    } else {
      const bool ordered = type_.find_first_of("<>=|") == 0;
      const auto* order = text_or(configuration, "endian", "little") == "big" ? ">" : "<";
      take_type(heatpp::detail::formatted("{}{}", order, type_.substr(ordered ? 1 : 0)));
    }
    in_bytes_ = true;
    return true;
  }
  [[nodiscard]] std::shared_ptr<const Sharding> sharding_of(const json& configuration) const;

  const CodecsOf& what_;
  Format format_;
  std::string type_;
  bool in_bytes_ = false;
  ChunkCodecs codecs_ = {};
};

ChunkCodecs chain_of(const json& codecs, const CodecsOf& what) {
  Chain chain(what, Chain::Format::three);
  for (const auto& codec : codecs) chain.add(codec);
  return chain.finish();
}

std::shared_ptr<const Sharding> Chain::sharding_of(const json& configuration) const {
  const auto shard = reordered(what_.chunks, codecs_.order);
  auto sharding = std::make_shared<Sharding>();
  sharding->chunks = configuration.at("chunk_shape").get<Shape>();
  bool fits = sharding->chunks.size() == shard.size();
  for (std::size_t i = 0; i < shard.size() && fits; ++i)
    fits = sharding->chunks[i] >= 1 && shard[i] % sharding->chunks[i] == 0;
  if (!fits)
    refuse(formatted("\"sharding_indexed\" of chunks {} in shards {}", to_string(sharding->chunks), to_string(shard)),
           "chunks that divide shards");
  sharding->codecs = chain_of(configuration.at("codecs"), {type_, sharding->chunks, what_.name});
  auto table = shard;
  table.push_back(2);
  const std::string whole = "i8";
  sharding->index = chain_of(configuration.at("index_codecs"), {whole, table, what_.name});
  const auto& index = sharding->index;
  if (index.sharding || !index.filters.empty() || !stored_bytes(index.bytes, 0))
    refuse(formatted("\"sharding_indexed\" with a table of {}", configuration["index_codecs"].dump()),
           "bytes, and perhaps crc32c");
  sharding->index_first = text_or(configuration, "index_location", "end") == "start";
  return sharding;
}

}  // namespace

ChunkCodecs codecs_of_format_2(const json& array, const CodecsOf& what) {
  Chain chain(what, Chain::Format::two);
  const auto filters = array.value("filters", json());
  for (const auto& filter : filters.is_array() ? filters : json::array()) chain.add(filter);
  if (const auto compressor = array.at("compressor"); !compressor.is_null()) chain.add(compressor);
  auto codecs = chain.finish();
  if (array.at("order") == "F")
    for (auto i = std::ssize(what.chunks); i-- > 0;) codecs.order.push_back(i);
  return codecs;
}

ChunkCodecs codecs_of_format_3(const json& codecs, const CodecsOf& what) { return chain_of(codecs, what); }

std::string numpy_name(const std::string& name) {
  const auto digits = name.find_first_of("0123456789");
  const auto kind = name.substr(0, digits);
  const auto bits = digits < name.size() ? name.substr(digits) : "";
  for (const auto& [known, code] : {std::pair{"int", 'i'}, {"uint", 'u'}, {"float", 'f'}, {"complex", 'c'}})
    if (kind == known && (bits == "8" || bits == "16" || bits == "32" || bits == "64" || bits == "128"))
      return code + std::to_string(std::stoi(bits) / 8);
  return name == "bool" ? "b1" : name == "bfloat16" ? "V2" : name;
}

json compressor_of(const std::optional<Compression>& compression) {
  if (!compression) return nullptr;
  const auto level = compression->level;
  switch (compression->codec) {
    case Codec::gzip: return {{"id", "zlib"}, {"level", level}};
    case Codec::zstd: return {{"id", "zstd"}, {"level", level}};
    case Codec::lz4: return {{"id", "lz4"}, {"acceleration", 1}};
    case Codec::blosc: return {{"id", "blosc"}, {"cname", "lz4"}, {"clevel", level}, {"shuffle", 1}, {"blocksize", 0}};
  }
  return nullptr;
}

json codec_of(const Compression& compression, std::int64_t itemsize) {
  const auto level = compression.level;
  const auto named = [](const char* name, json configuration) {
    return json{{"name", name}, {"configuration", std::move(configuration)}};
  };
  switch (compression.codec) {
    case Codec::gzip: return named("gzip", {{"level", level}});
    case Codec::zstd: return named("zstd", {{"level", level}, {"checksum", false}});
    case Codec::lz4: return named("numcodecs.lz4", {{"acceleration", 1}});
    case Codec::blosc:
      return named(
          "blosc",
          {{"cname", "lz4"}, {"clevel", level}, {"shuffle", "shuffle"}, {"typesize", itemsize}, {"blocksize", 0}});
  }
  return nullptr;
}

}  // namespace heatpp::io::detail
