#include "files.hpp"

#include <heatpp_io/detail/shards/strategy.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

void read_small_by_first(bool yes) { ht::io::detail::most_by_first() = yes ? std::int64_t{1} << 20 : 0; }

TempDir::TempDir() : path_(64, '\0') {
  read_small_by_first(std::getenv("HEATPP_TEST_SMALL_FILES") != nullptr);
  if (ht::world().rank() == 0) {
    std::string pattern = std::filesystem::temp_directory_path() / "heatpp-io-XXXXXX";
    if (::mkdtemp(pattern.data())) std::ranges::copy(pattern, path_.begin());
  }
  ht::world().broadcast({path_.data(), std::ssize(path_), ht::int8}, 0);
  path_.resize(path_.find('\0'));
  if (path_.empty()) throw std::runtime_error("no temporary directory");
}

TempDir::~TempDir() {
  on_root([&] { std::filesystem::remove_all(path_); });
}

std::vector<std::string> TempDir::names() const {
  ht::world().barrier();
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  ht::world().barrier();  // before another rank writes the next file
  return names;
}

void on_root(const std::function<void()>& work) {
  ht::world().barrier();
  if (ht::world().rank() == 0) work();
  ht::world().barrier();
}

hid_t native_type(const at::Tensor& values) {
  switch (values.scalar_type()) {
    case at::kByte: return H5T_NATIVE_UINT8;
    case at::kChar: return H5T_NATIVE_INT8;
    case at::kShort: return H5T_NATIVE_INT16;
    case at::kInt: return H5T_NATIVE_INT32;
    case at::kLong: return H5T_NATIVE_INT64;
    case at::kFloat: return H5T_NATIVE_FLOAT;
    default: return H5T_NATIVE_DOUBLE;
  }
}

void write_plain(const std::string& path, const std::string& dataset, const at::Tensor& values,
                 const Storage& storage) {
  on_root([&] {
    const auto data = values.contiguous();
    const std::vector<hsize_t> extents(data.sizes().begin(), data.sizes().end());
    const auto ndim = static_cast<int>(extents.size());
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = ndim == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(ndim, extents.data(), nullptr);
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE), links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    if (!storage.chunk.empty()) H5Pset_chunk(create, ndim, storage.chunk.data());
    if (storage.shuffle) H5Pset_shuffle(create);
    if (storage.gzip >= 0) H5Pset_deflate(create, static_cast<unsigned>(storage.gzip));
    if (storage.checksum) H5Pset_fletcher32(create);
    const hid_t stored = storage.type >= 0 ? storage.type : native_type(data);
    const hid_t set = H5Dcreate2(file, dataset.c_str(), stored, space, links, create, H5P_DEFAULT);
    H5Dwrite(set, native_type(data), H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data_ptr());
    for (const hid_t id : {set, create, links, space, file}) H5Idec_ref(id);
  });
}

at::Tensor counting(const ht::Shape& shape, at::ScalarType type) {
  return at::arange(ht::size_of(shape), at::kLong).reshape(shape).to(type);
}
