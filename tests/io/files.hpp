#pragma once

#include "../support.hpp"

#include <heatpp_io/heatpp_io.hpp>
#include <hdf5.h>

/// Whether rank 0 reads small data, as it does for users. A TempDir sets this by HEATPP_TEST_SMALL_FILES; else tests
/// with small files would not reach the ways to read large ones.
void read_small_by_first(bool yes);

/// A directory that all ranks know. It is removed at the end of its scope.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }
  /// Returns the names in it, sorted.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::string path_;
};

/// Runs `work` on rank 0 while the others wait.
void on_root(const std::function<void()>& work);

/// How a test's file is stored. The type is that of the tensor, unless given.
struct Storage {
  hid_t type = H5I_INVALID_HID;
  std::vector<hsize_t> chunk = {};
  int gzip = -1;
  bool shuffle = false, checksum = false;  ///< filters before and after gzip
};

/// Writes a file with one dataset by HDF5's C functions, on rank 0.
void write_plain(const std::string& path, const std::string& dataset, const at::Tensor& values,
                 const Storage& storage = {});

/// Returns HDF5's native type for a tensor of whole numbers or floats.
hid_t native_type(const at::Tensor& values);

/// Returns 0, 1, 2, ... in this shape and dtype.
at::Tensor counting(const ht::Shape& shape, at::ScalarType type = at::kFloat);

/// Returns the error message of a load or save, which must be equal on all ranks.
template <class E, class F>
std::string same_message(F f) {
  auto text = message_of<E>(f);
  std::array<std::int64_t, 2> hash{static_cast<std::int64_t>(std::hash<std::string>()(text) >> 1), 0};
  hash[1] = -hash[0];
  ht::world().allreduce(hash, ht::ReduceOp::max);
  CHECK(hash[0] == -hash[1]);
  return text;
}
