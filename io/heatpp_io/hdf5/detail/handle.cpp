#include <heatpp_io/hdf5/detail/handle.hpp>

#include <heatpp/comm/detail/raise.hpp>
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

std::string way_to_read(const std::string& reason, const std::string& usual) {
  const auto says = [&](const char* text) { return reason.find(text) != std::string::npos; };
  if (!says("bad version number") && !says("bad superblock version")) return usual;
  const auto* const reads = says("layout message")     ? "HDF5 2.0 or newer reads"
                            : says("datatype message") ? "HDF5 1.12 or newer reads, and of complex numbers HDF5 2.0"
                                                       : "a newer HDF5 reads";
  return heatpp::detail::formatted(
      "a format that HDF5 {}.{}.{} knows: this one {}; write it readable by libver=(\"earliest\", \"v114\") (h5py) or "
      "H5Pset_libver_bounds, or rewrite it by the newer HDF5's h5repack",
      H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE, reads);
}

}  // namespace detail
}  // namespace heatpp::io
