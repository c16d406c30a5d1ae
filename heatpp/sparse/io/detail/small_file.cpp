#include <heatpp/sparse/io/detail/small_file.hpp>

#include <heatpp_io/detail/files/look.hpp>
#include <heatpp_io/detail/files/subfiles.hpp>
#include <heatpp_io/detail/shards/strategy.hpp>

#include <cstring>
#include <filesystem>

namespace heatpp::sparse::detail {
namespace {

namespace fs = std::filesystem;

/// Returns the bytes of a file, or of all files in a directory, of which it looks at some; more than `most` if there
/// are too many. Returns 0 for a path that cannot be found, whose error the load gives.
std::int64_t bytes_of(const fs::path& path, std::int64_t most) {
  constexpr int most_files = 1000;
  std::error_code ignored;
  if (io::detail::in_subfiles(path)) return most + 1;
  if (!fs::is_directory(path, ignored)) {
    const auto bytes = fs::file_size(path, ignored);
    return ignored ? 0 : static_cast<std::int64_t>(bytes);
  }
  std::int64_t bytes = 0, files = 0;
  for (fs::recursive_directory_iterator at(path, ignored), end; at != end && bytes <= most; at.increment(ignored)) {
    if (at->is_regular_file(ignored)) bytes += static_cast<std::int64_t>(at->file_size(ignored));
    if (++files > most_files) return most + 1;
  }
  return bytes;
}

/// What rank 0 saw: whether it has loaded the matrix, and what the others need to take part of it.
struct Seen {
  std::int64_t small = 0, rows = 0, columns = 0, dtype = 0;
};

/// Loads the matrix on this rank alone, with its dtype, and returns its entries.
Triples load_alone(const Loading& file, const std::function<DCSRMatrix(const Loading&)>& load_part, Seen& seen) {
  auto options = file.options;
  options.split = std::nullopt;
  options.comm = self();
  const auto a = load_part(Loading(file.op, file.path, options));
  auto found = triples_of(block_of(a), 0);
  seen = {1, a.rows(), a.columns(), static_cast<std::int64_t>(found.values.scalar_type())};
  return {found.rows.to(at::kLong), found.columns.to(at::kLong), found.values};
}

}  // namespace

DCSRMatrix load_matrix(const Loading& file, const std::function<DCSRMatrix(const Loading&)>& load_part) {
  if (file.comm.size() == 1) return load_part(file);
  Triples found;
  const auto bytes = io::detail::seen_by_first(file.comm, [&] {
    Seen seen;
    const auto most = io::detail::most_by_first();
    if (most > 0 && bytes_of(file.path, most) <= most) found = load_alone(file, load_part, seen);
    return std::string(reinterpret_cast<const char*>(&seen), sizeof seen);  // sent as bytes
  });
  Seen seen;
  std::memcpy(&seen, bytes.data(), sizeof seen);
  if (seen.small == 0) return load_part(file);
  if (file.comm.rank() != 0) {
    const auto type = static_cast<at::ScalarType>(seen.dtype);
    found = {at::empty({0}, at::kLong), at::empty({0}, at::kLong), at::empty({0}, type)};
  }
  return load_triples(file, {seen.rows, seen.columns}, std::move(found));
}

}  // namespace heatpp::sparse::detail
