#pragma once

#include <heatpp/core/detail/alike.hpp>
#include <heatpp_io/detail/elements/record.hpp>
#include <heatpp_io/detail/elements/rows.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>

namespace heatpp::io::detail {

/// A file that is written aside, and what it is called in errors.
struct SaveJob {
  const char* op;
  std::string path;   ///< where it is written
  std::string shown;  ///< where it will be
};

/// What makes a file.
struct NewFile {
  const char* op;
  const Communicator& comm;
  const std::filesystem::path& path;
  std::int64_t bytes;  ///< of elements, for which there has to be room
  AsideFile::Begin begin = AsideFile::Begin::empty;
};

/// Makes one file by all ranks: rank 0 creates it aside, `write` fills it on all ranks and throws on all or none, and
/// it is moved to its place. Collective. Throws IoError.
Transfer save_one(const NewFile& file, const std::function<Transfer(const SaveJob&)>& write);

/// Makes one file for each rank under the names of detail::shard_names; `write` fills each with the rank's rows, and
/// all are moved to their places or none. Collective.
Transfer save_shards(const NewFile& file, const DNDarray& x, const std::string& extension,
                     const std::function<void(const SaveJob&, const at::Tensor& rows)>& write);

/// Throws IoError on all ranks where one of them does not see the file that rank 0 has made or found. Collective.
void check_visible(const std::string& path, const char* op, const Communicator& comm);

[[nodiscard]] std::int64_t bytes_of(const DNDarray& x);
[[nodiscard]] std::int64_t bytes_of(const Shape& shape, Dtype dtype);

/// What all ranks have to say alike of a file to write.
[[nodiscard]] std::vector<heatpp::detail::Setting> settings_of(const std::filesystem::path& path,
                                                               const SaveOptions& options);

/// Throws ValueError, naming `op`, for extents of chunks that do not lie within those of an array of this shape, or
/// below `most`. None are right.
void check_chunks(const char* op, const Shape& chunks, const Shape& shape, std::int64_t most);

}  // namespace heatpp::io::detail
