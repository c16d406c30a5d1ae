#pragma once

#include <heatpp/comm/detail/raise.hpp>

#include <c10/util/Exception.h>

namespace heatpp::nn::detail {

/// Returns the result of `work`, which computes a network and a loss of the caller. It replaces LibTorch's errors by
/// heatpp's, without their stack traces.
template <class Work>
auto in_words(const char* op, const Work& work) {
  try {
    return work();
  } catch (const c10::Error& error) {
    heatpp::detail::raise<Error>(op, "got an error of LibTorch's ({}); expected a network and a loss for these rows",
                                 error.what_without_backtrace());
  }
}

}  // namespace heatpp::nn::detail
