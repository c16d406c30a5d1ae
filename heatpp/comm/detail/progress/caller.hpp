#pragma once

#include <functional>
#include <string>

namespace heatpp::detail {

/// Returns the line of the program that called the library on this thread, as "solver.cpp:42"; the function if the
/// program has no debugging information; "" if neither is known. Takes milliseconds the first time.
[[nodiscard]] std::string caller();

/// Sets how a program in another language says where it is. This replaces the look at the stack.
void set_caller(std::function<std::string()> tell);

}  // namespace heatpp::detail
