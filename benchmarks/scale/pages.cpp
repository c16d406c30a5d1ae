// This file replaces heatpp/comm/detail/machine/pages.cpp. All simulated ranks live in one process, and the contents
// of large scratch memory do not matter, so all of it is the same few pages, which SimGrid then does not copy
// either. Two hops read sizes of blocks from scratch memory of 64 KiB, which is every rank's own.
#include <heatpp/comm/detail/machine/scratch.hpp>

#include <smpi/smpi.h>

#include <cstdlib>
#include <limits>

namespace heatpp::detail {
namespace {

constexpr std::size_t shared_from = 1 << 17;

void* allocate(std::size_t bytes) { return bytes < shared_from ? std::malloc(bytes) : SMPI_SHARED_MALLOC(bytes); }
void free_shared(void* block) { SMPI_SHARED_FREE(block); }

}  // namespace

Pool& pages() {
  // It is never destroyed, because SimGrid ends before static objects do.
  static auto& instance = *new Pool(&allocate, &free_shared, std::numeric_limits<std::size_t>::max());
  return instance;
}

}  // namespace heatpp::detail
