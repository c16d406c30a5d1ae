#include <heatpp/comm/detail/progress/caller.hpp>

#include <heatpp/comm/detail/progress/stack.hpp>
#include <utility>

namespace heatpp::detail {
namespace {
std::function<std::string()>& told() {
  static auto& tell = *new std::function<std::string()>(outside_of_library);
  return tell;
}
}  // namespace

std::string caller() { return told()(); }
void set_caller(std::function<std::string()> tell) { told() = std::move(tell); }

}  // namespace heatpp::detail
