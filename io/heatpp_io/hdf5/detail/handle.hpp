#pragma once

#include <hdf5.h>

#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace heatpp::io::detail {

/// An HDF5 identifier of any kind, released at the end of its scope.
class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) : id_(id) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Handle() { close(); }

  [[nodiscard]] hid_t get() const { return id_; }
  [[nodiscard]] explicit operator bool() const { return id_ >= 0; }
  /// Returns false if HDF5 could not release it; for a file, if it could not write all data.
  bool close() {
    const auto id = std::exchange(id_, -1);
    return id < 0 || H5Idec_ref(id) >= 0;
  }

 private:
  hid_t id_ = -1;
};

/// The right of this thread to use HDF5. HDF5 prints no errors meanwhile; later the host's setting applies again.
class Hdf5Turn {
 public:
  Hdf5Turn();
  ~Hdf5Turn();
  Hdf5Turn(const Hdf5Turn&) = delete;
  Hdf5Turn& operator=(const Hdf5Turn&) = delete;

  /// Does work without HDF5 while other threads may use HDF5. Objects that this thread has open stay open; shared ones
  /// may have changed.
  static void let_others(const std::function<void()>& work);

 private:
  void begin();
  void end();

  Hdf5Turn* outer_;
  std::unique_lock<std::recursive_mutex> lock_;
  H5E_auto2_t printer_ = nullptr;
  void* data_ = nullptr;
};

/// Returns HDF5's message about the last call that failed, without its stack.
[[nodiscard]] std::string innermost_error();

/// Returns what is expected of a file that HDF5 could not read for this reason. If its format is too new, this is the
/// oldest HDF5 that reads it and how to write it in an older format, else `usual`.
[[nodiscard]] std::string way_to_read(const std::string& reason, const std::string& usual);

}  // namespace heatpp::io::detail
