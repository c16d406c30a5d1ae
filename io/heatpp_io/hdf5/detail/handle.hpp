#pragma once

#include <hdf5.h>

#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace heatpp::io::detail {

/// An HDF5 identifier of any kind, released with the object.
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
  /// False where HDF5 could not release it, for a file: not write all of it.
  bool close() {
    const auto id = std::exchange(id_, -1);
    return id < 0 || H5Idec_ref(id) >= 0;
  }

 private:
  hid_t id_ = -1;
};

/// This thread's turn to use HDF5, in which it prints no error stack; the host code's setting returns with its end.
class Hdf5Turn {
 public:
  Hdf5Turn();
  ~Hdf5Turn();
  Hdf5Turn(const Hdf5Turn&) = delete;
  Hdf5Turn& operator=(const Hdf5Turn&) = delete;

  /// Does work without HDF5, of this thread, while others may have their turn. What this thread has open it still has
  /// afterwards; what it shares with other threads may have changed.
  static void let_others(const std::function<void()>& work);

 private:
  void begin();
  void end();

  Hdf5Turn* outer_;
  std::unique_lock<std::recursive_mutex> lock_;
  H5E_auto2_t printer_ = nullptr;
  void* data_ = nullptr;
};

/// What HDF5 says about the call that failed last, without its stack.
[[nodiscard]] std::string innermost_error();

/// What is expected of a file for which HDF5 gave that reason: where its format is too new, the oldest HDF5 that reads
/// it and how to write it readable, else `usual`.
[[nodiscard]] std::string way_to_read(const std::string& reason, const std::string& usual);

}  // namespace heatpp::io::detail
