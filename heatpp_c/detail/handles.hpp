#pragma once

#include <heatpp_c/heatpp.h>

#include <heatpp/core/blocks/blocks.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp/core/dndarray.hpp>

#include <functional>
#include <memory>

namespace heatpp::c {
class TrainedNetwork;
}

// Copies share the object, so that assignment in Fortran makes another handle.
struct ht_comm {
  heatpp::Communicator ranks;
};
struct ht_array {
  heatpp::DNDarray value;
};
struct ht_plan {
  heatpp::BlockPlan value;
};
struct ht_network {
  std::shared_ptr<heatpp::c::TrainedNetwork> value;
};

namespace heatpp::c {

/// Returns HT_OK after `call`, or the kind of error that it threw, whose text is kept. No exception leaves it.
int status_of(const std::function<void()>& call) noexcept;

/// Returns what a pointer points to. Throws ValueError, naming the argument, if it is null. In collective calls this
/// serves only for the handle that knows the communicator, because all ranks check the rest together.
template <class T>
T& given(const char* op, const char* argument, T* pointer);

/// Adds to the text of the last error.
void add_to_message(const char* text) noexcept;

/// A number for each of `ndim` axes, as C passes them.
struct Numbers {
  const char* argument;
  const std::int64_t* first;
  int ndim;
};

/// These throw ValueError for values that C may pass, but C++ cannot.
Dtype dtype_of(const char* op, int number);
Shape shape_of(const char* op, const Numbers& numbers);
std::optional<int> split_of(const char* op, int number);

/// How C passes a cut: a split, or the ranks along each of `ndim` axes, where NULL is a balanced grid.
struct CutNumbers {
  int split = HT_REPLICATED;
  bool on_grid = false;
  int ndim = 0;
  const int* grid = nullptr;
};
[[nodiscard]] inline CutNumbers on_grid(int ndim, const int* grid) { return {HT_REPLICATED, true, ndim, grid}; }
/// Returns the split or the grid as a setting that all ranks compare.
heatpp::detail::Setting setting_of(const CutNumbers& cut);
Grid grid_of(const char* op, const CutNumbers& cut);
/// Puts the cut into options with a split and a grid.
template <class Options>
void set_cut(const char* op, Options& options, const CutNumbers& cut) {
  if (cut.on_grid) options.grid = grid_of(op, cut);
  else options.split = split_of(op, cut.split);
}

void check_given(const char* op, const char* argument, const void* pointer);

/// Returns a dtype's name for messages, or the number if it is none.
std::string dtype_text(int number);
std::string quoted(const char* characters);
/// Returns the characters, or an empty text.
std::string text(const char* characters);

template <class T>
T& given(const char* op, const char* argument, T* pointer) {
  check_given(op, argument, pointer);
  return *pointer;
}

}  // namespace heatpp::c
