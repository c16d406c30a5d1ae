#include <heatpp_io/hdf5/detail/handle.hpp>
#include <heatpp_io/hdf5/stored_rows.hpp>

namespace heatpp::io {

std::recursive_mutex& hdf5_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

namespace detail {

namespace {

Hdf5Turn*& current() {
  static thread_local Hdf5Turn* turn = nullptr;
  return turn;
}

}  // namespace

Hdf5Turn::Hdf5Turn() : outer_(std::exchange(current(), this)), lock_(hdf5_mutex()) { begin(); }
Hdf5Turn::~Hdf5Turn() {
  end();
  current() = outer_;
}

void Hdf5Turn::begin() {
  H5Eget_auto2(H5E_DEFAULT, &printer_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}
void Hdf5Turn::end() { H5Eset_auto2(H5E_DEFAULT, printer_, data_); }

void Hdf5Turn::let_others(const std::function<void()>& work) {
  auto* const turn = current();
  if (!turn || turn->outer_) return work();
  struct Break {
    Hdf5Turn& turn;
    explicit Break(Hdf5Turn& of) : turn(of) {
      turn.end();
      turn.lock_.unlock();
    }
    ~Break() {
      turn.lock_.lock();
      turn.begin();
    }
  };
  const Break pause(*turn);
  work();
}

std::string innermost_error() {
  std::string text;
  const auto take = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
    if (error->desc) *static_cast<std::string*>(out) = error->desc;
    return 1;  // the first record is the innermost
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &text);
  return text.empty() ? "HDF5 gives no reason" : text;
}

}  // namespace detail
}  // namespace heatpp::io
