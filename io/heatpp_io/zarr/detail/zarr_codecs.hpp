#pragma once

#include <heatpp_io/zarr/detail/chunk_codecs.hpp>

#include <nlohmann/json_fwd.hpp>

namespace heatpp::io::detail {

/// Returns the codecs of an array of elements of `type`, a name of NumPy: the filters and the compressor of format 2,
/// or the codecs of format 3. Chunks have this shape, which is that of the largest. Throws IoError for unknown codecs,
/// and json::exception.
struct CodecsOf {
  const std::string& type;
  const Shape& chunks;
  ChunkName name;
};
[[nodiscard]] ChunkCodecs codecs_of_format_2(const nlohmann::json& array, const CodecsOf& what);
[[nodiscard]] ChunkCodecs codecs_of_format_3(const nlohmann::json& codecs, const CodecsOf& what);

/// Returns NumPy's name of a data type of format 3, without the byte order: "i4" for "int32".
[[nodiscard]] std::string numpy_name(const std::string& name);

/// Return the description of a compression in format 2 and in format 3; null and nothing without one.
[[nodiscard]] nlohmann::json compressor_of(const std::optional<Compression>& compression);
[[nodiscard]] nlohmann::json codec_of(const Compression& compression, std::int64_t itemsize);

}  // namespace heatpp::io::detail
