#include <c10/core/CPUAllocator.h>

#include "../support.hpp"

TEST_CASE("Blocks of any size are freed by the one function that LibTorch's kernels ask for", "[core][memory]") {
  auto* allocator = c10::GetCPUAllocator();
  REQUIRE(allocator->raw_deleter() != nullptr);

  for (const std::size_t bytes : {0, 100, 1 << 20, 3 << 20, 100}) {
    auto* block = static_cast<char*>(allocator->raw_allocate(bytes));
    if (bytes > 0) block[bytes - 1] = 1;
    allocator->raw_deallocate(block);
  }

  const auto images = at::ones({4, 1, 28, 28}), filters = at::ones({32, 1, 3, 3});
  CHECK(at::conv2d(images, filters).sum().item<double>() == 4 * 32 * 26 * 26 * 9);
}
