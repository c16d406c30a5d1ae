#pragma once

#include <functional>
#include <string>

namespace heatpp::detail {

/// The line of the program that has called the library on this thread, as "solver.cpp:42", the function where the
/// program has no debugging information, or "" where neither is known. Takes milliseconds the first time.
[[nodiscard]] std::string caller();

/// How programs of another language say where they are, which is asked in place of the stack.
void set_caller(std::function<std::string()> tell);

}  // namespace heatpp::detail
