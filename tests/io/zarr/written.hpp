#pragma once

#include "../bytes.hpp"

#include <functional>

// Handmade Zarr stores of format 3.

/// Returns CRC-32C, computed bit by bit.
std::string crc32c_of(const std::string& bytes);

/// Compresses with gzip or zlib.
std::string deflated(const std::string& bytes, bool gzip);

/// Describes the zarr.json of an array of shape (7, 5).
struct Described {
  std::string codecs;
  std::string chunks = "[4, 4]";
  std::string type = "int32";
  std::string fill = "-1";
};
std::string array_json(const Described& array);

/// A function that returns the bytes of a chunk.
using Encode = std::function<std::string(const at::Tensor& chunk)>;
/// Encodes a chunk as its bytes alone.
inline std::string text_of(const at::Tensor& x) { return bytes_of(x); }

/// Writes the chunks of `values`, of these extents, except those for which `has` is false, padded with 99.
void write_chunks(const std::string& path, const at::Tensor& values, const ht::Shape& extents, const Encode& encode,
                  const std::function<bool(std::int64_t, std::int64_t)>& has = {});

/// Returns the bytes of a shard of parts, with its table at the end or the start; parts full of -1 are left out.
std::string shard_of(const at::Tensor& chunk, const ht::Shape& part, const Encode& encode, bool table_first,
                     bool checksum = true);

/// Returns the codec of such shards, with codecs of the parts.
std::string shard_json(const std::string& part, const std::string& codecs, bool table_first, bool checksum = true);

/// Checks that an array of shape (7, 5) loads with every split, and parts of it in another dtype.
void check_reads(const std::string& path, const at::Tensor& global);

inline const std::string little = R"({"name": "bytes", "configuration": {"endian": "little"}})";
