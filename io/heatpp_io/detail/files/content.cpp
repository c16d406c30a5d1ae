#include <heatpp_io/detail/files/content.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/expand.hpp>
#include <heatpp_io/detail/files/format_of.hpp>
#include <heatpp_io/detail/files/look.hpp>

#include <zlib.h>

#include <array>
#include <cstring>
#include <fstream>
#include <string_view>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;
using namespace std::string_view_literals;
namespace fs = std::filesystem;

constexpr std::size_t head_bytes = 4096;

struct Begin {
  std::string_view bytes, ending;
};
constexpr std::array begins{Begin{"CDF\1"sv, ".nc"},      Begin{"CDF\2"sv, ".nc"},   Begin{"CDF\5"sv, ".nc"},
                            Begin{"\x93NUMPY"sv, ".npy"}, Begin{"PK\3\4"sv, ".npz"}, Begin{"%%MatrixMarket"sv, ".mtx"}};
constexpr auto hdf5 = "\x89HDF\r\n\x1a\n"sv;
constexpr auto gzip = "\x1f\x8b"sv;

/// A format that is not read, and what to do with its files.
struct Foreign {
  std::string_view bytes, name, way;
};
constexpr std::array foreign{
    Foreign{"MATLAB 5.0 MAT-file"sv, "a MATLAB file of version 5 to 7.2",
            "-v7.3 when MATLAB saves it, or scipy.io.loadmat"},
    Foreign{"\x0e\x03\x13\x01"sv, "HDF4", "HDF5, into which h4toh5 converts it"},
    Foreign{"SIMPLE  ="sv, "FITS", "astropy.io.fits to read it"},
    Foreign{"GRIB"sv, "GRIB", "netCDF or Zarr, into which xarray (engine cfgrib) converts it"},
    Foreign{"PAR1"sv, "Parquet", "pandas or polars to read it, and .npy"},
    Foreign{"ARROW1"sv, "Arrow", "pyarrow to read it, and .npy"},
    Foreign{"II*\0"sv, "TIFF", "tifffile to read it, and .npy or Zarr"},
    Foreign{"MM\0*"sv, "TIFF", "tifffile to read it, and .npy or Zarr"},
    Foreign{"BZh"sv, "compressed by bzip2", "bunzip2 first"},
    Foreign{"\xfd"
            "7zXZ"sv,
            "compressed by xz", "unxz first"},
    Foreign{"\x28\xb5\x2f\xfd"sv, "compressed by zstd", "unzstd first"},
    Foreign{gzip, "compressed by gzip", "gunzip first"},
};

/// The beginning of a file, which is opened once; empty for directories and missing files.
struct Head {
  std::string bytes = {};
  bool hdf5 = false;
};

/// HDF5's signature is at byte 0, 512, 1024, 2048, ..., after data of other programs such as MATLAB.
bool is_hdf5(std::ifstream& file) {
  file.clear();
  std::array<char, hdf5.size()> found{};
  for (std::streamoff at = 0; file.seekg(at) && file.read(found.data(), std::ssize(found)); at = at == 0 ? 512 : 2 * at)
    if (std::string_view(found.data(), found.size()) == hdf5) return true;
  return false;
}

Head head_of(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  Head head{std::string(head_bytes, '\0')};
  std::ifstream file(path, std::ios::binary);
  file.read(head.bytes.data(), std::ssize(head.bytes));
  head.bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  head.hdf5 = is_hdf5(file);
  return head;
}

bool is_netcdf_name(const fs::path& path) {
  const auto ending = extension_of(path);
  return ending == ".nc" || ending == ".nc4" || ending == ".cdf" || ending == ".netcdf";
}

/// The file begins with the length of a JSON header, and this header.
bool is_safetensors(const fs::path& path, const std::string& head) {
  std::uint64_t length = 0;
  std::error_code error;
  if (head.size() <= sizeof length || head[sizeof length] != '{') return false;
  std::memcpy(&length, head.data(), sizeof length);
  const auto bytes = fs::file_size(path, error);
  return !error && length >= 2 && length <= bytes - sizeof length;
}

/// Whether the file is a Matrix Market file that gzip has compressed.
bool is_packed_mtx(const std::string& head) {
  z_stream stream{};
  std::array<char, 14> begin{};
  if (!head.starts_with(gzip) || ::inflateInit2(&stream, 15 + 16) != Z_OK) return false;
  auto packed = head;
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());  // the type of zlib
  stream.avail_in = static_cast<unsigned>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(begin.data());  // the type of zlib
  stream.avail_out = static_cast<unsigned>(begin.size());
  ::inflate(&stream, Z_SYNC_FLUSH);
  ::inflateEnd(&stream);
  return std::string_view(begin.data(), begin.size()) == begins.back().bytes;
}

bool has(const fs::path& folder, std::initializer_list<const char*> names) {
  std::error_code ignored;
  return std::ranges::any_of(names, [&](const char* name) { return fs::exists(folder / name, ignored); });
}

/// Recognizes references of kerchunk: JSON that begins with them or their version, or Parquet in a folder.
bool is_kerchunk(const fs::path& path, const std::string& head) {
  const auto json = head.starts_with('{') && head.find("\"refs\"") != std::string::npos;
  return json ||
         (has(path, {".zmetadata"}) && head_of(path / ".zmetadata").bytes.find("\"record_size\"") != std::string::npos);
}

bool is_icechunk(const fs::path& path) {
  return has(path, {"snapshots"}) && has(path, {"manifests", "transactions"}) && has(path, {"refs", "repo"});
}

/// Returns the first file of a source, or the name in the source if there is none.
std::string first_of(const Source& source) {
  if (source.names().empty()) return {};
  const auto& name = source.names().front();
  std::error_code ignored;
  if (name.find_first_of("*?[") == std::string::npos || fs::exists(name, ignored)) return name;
  const auto found = glob(name);
  return found.empty() ? name : found.front();
}

std::string ending_by(const fs::path& path, const Head& head) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return has(path, {"zarr.json", ".zarray", ".zgroup"}) ? ".zarr" : "";
  for (const auto& [bytes, ending] : begins)
    if (head.bytes.starts_with(bytes) && extension_of(path) != ".zip") return std::string(ending);
  if (head.hdf5) return is_netcdf_name(path) ? ".nc" : ".h5";
  if (is_packed_mtx(head.bytes)) return ".mtx.gz";
  return is_safetensors(path, head.bytes) ? ".safetensors" : "";
}

/// Throws as check_is_read, whose file has this head.
void check_head(const std::string& name, const Head& head, const char* op) {
  if (name.find("://") != std::string::npos)
    raise<IoError>(op,
                   "got \"{}\", an address; expected a path: copy it here (curl -O, aws s3 cp --recursive, gcloud "
                   "storage cp), or mount what it is in (rclone mount)",
                   name);
  if (is_icechunk(name))
    raise<IoError>(op,
                   "got \"{}\", a repository of Icechunk; expected Zarr, into which xarray writes it: "
                   "xarray.open_zarr(session.store, consolidated=False).to_zarr(...)",
                   name);
  if (is_kerchunk(name, head.bytes))
    raise<IoError>(op,
                   "got \"{}\", references of kerchunk to other files; expected these files, or Zarr, into which "
                   "xarray writes it: xarray.open_dataset(..., engine=\"kerchunk\").to_zarr(...)",
                   name);
  if (!ending_by(name, head).empty()) return;
  for (const auto& [bytes, what, way] : foreign)
    if (head.bytes.starts_with(bytes)) raise<IoError>(op, "got \"{}\", which is {}; expected {}", name, what, way);
}

}  // namespace

std::string ending_by_content(const fs::path& path) { return ending_by(path, head_of(path)); }

void check_is_read(const std::string& name, const char* op) { check_head(name, head_of(name), op); }

std::string ending_of(const Source& source, const Communicator& comm, const char* op) {
  return seen_by_first(comm, [&] {
    const auto first = first_of(source);
    const auto head = head_of(first);
    check_head(first, head, op);
    const auto ending = ending_by(first, head);
    return ending.empty() ? extension_of(first) : ending;
  });
}

}  // namespace heatpp::io::detail
