#include <c10/core/CPUAllocator.h>

#include "../scarce_memory.hpp"
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

TEST_CASE("Memory that one rank cannot have is one error on all ranks", "[core][memory]") {
  constexpr std::int64_t mebi = 1 << 20;
  const auto ranks = ht::world().size();
  const auto x = ht::ones({128, mebi}, {.dtype = ht::uint8, .split = 0});
  const auto fails = [](const std::string& op, auto make) {
    CHECK_THAT(message_of<ht::MemoryError>(make),
               Catch::StartsWith("[" + op + "] got no memory for a block of shape ("));
  };

  {
    const ScarceMemory scarce;
    fails("zeros", [&] { return ht::zeros({128 * ranks, mebi}, {.dtype = ht::uint8, .split = 0}); });
    fails("empty", [&] { return ht::empty({128, mebi}, {.dtype = ht::uint8}); });
    fails("full", [&] { return ht::full({64, mebi}, 1.5); });
    fails("arange", [&] { return ht::arange(64 * mebi); });
    if (ranks > 1) fails("resplit", [&] { return ht::resplit(x, std::nullopt); });
  }

  CHECK(x.split() == 0);
  CHECK(x.larray().sum().item<std::int64_t>() == x.lshape()[0] * mebi);
  CHECK(same(ht::zeros({3, 2}, {.split = 0}), at::zeros({3, 2})));
}

TEST_CASE("Sizes that no machine has are one error on all ranks", "[core][memory]") {
  const std::int64_t huge = std::int64_t{1} << 50;
  for (const std::optional<int> split : {std::optional<int>{}, std::optional(0), std::optional(1)}) {
    CHECK_THROWS_AS(ht::empty({huge, 8}, {.split = split}), ht::MemoryError);
    CHECK_THROWS_AS(ht::zeros({huge, huge}, {.split = split}), ht::Error);
  }
}
