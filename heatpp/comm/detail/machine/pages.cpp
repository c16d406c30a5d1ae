#include <heatpp/comm/detail/machine/scratch.hpp>

#include <cstdlib>

namespace heatpp::detail {

Pool& pages() {
  static Pool instance([](std::size_t bytes) { return std::aligned_alloc(4096, bytes); }, &std::free);
  return instance;
}

}  // namespace heatpp::detail
