#pragma once

#include <heatpp_c/heatpp.h>

#include <heatpp/core/blocks/blocks.hpp>
#include <heatpp/core/dndarray.hpp>

#include <functional>

struct ht_comm {
  heatpp::Communicator ranks;
};
struct ht_array {
  heatpp::DNDarray value;
};
struct ht_plan {
  heatpp::BlockPlan value;
};

namespace heatpp::c {

/// HT_OK once `call` is done, or the kind of error that it threw, whose text is kept. No exception leaves it.
int status_of(const std::function<void()>& call) noexcept;

/// What a pointer points at. Throws ValueError, naming the argument, where it is null.
template <class T>
T& given(const char* op, const char* argument, T* pointer);

/// Runs `make` and puts a new object with what it returns to `result`.
template <class Handle>
int made(const char* op, Handle** result, const auto& make) {
  return status_of([&] {
    auto& to = given(op, "place for the result", result);
    to = new Handle{make()};
  });
}

/// Throw ValueError for what C may pass, and C++ cannot.
Dtype dtype_of(const char* op, int number);
Shape shape_of(const char* op, int ndim, const std::int64_t* extents);
std::optional<int> split_of(const char* op, int number);
std::string text(const char* characters);

[[noreturn]] void throw_null(const char* op, const char* argument);

template <class T>
T& given(const char* op, const char* argument, T* pointer) {
  if (!pointer) throw_null(op, argument);
  return *pointer;
}

}  // namespace heatpp::c
