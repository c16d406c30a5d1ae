#include "../bytes.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

using Catch::Contains;

TEST_CASE("without HDF5's subfiling driver subfiles are errors on all ranks", "[io][subfiling]") {
  const TempDir dir;
  const auto path = dir.path("a.h5");
  const auto x = ht::ones({4, 2}, {.split = 0});
  CHECK_FALSE(ht::io::supports_subfiling());
  const auto message = same_message<ht::NotCompiled>([&] { ht::io::save(x, path, {.subfiles = 2}); });
  CHECK_THAT(message, Contains("got 2 subfiles") && Contains("expected HDF5 1.14 or newer"));
  CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::save(x, path, {.subfiles = -1}); }), Contains("-1 subfiles"));
  CHECK(dir.names().empty());

  // HDF5 1.14.5 leaves a superblock, which states 255 bytes, and a list of a file in subfiles.
  std::string superblock(112, '\0');
  superblock.replace(0, 8, "\211HDF\r\n\032\n");
  superblock[40] = '\377';
  write_bytes(path, superblock);
  struct stat status {};
  ::stat(path.c_str(), &status);
  write_bytes(fmt::format("{}.subfile_{}.config", path, status.st_ino), "stripe_size=512\n");
  CHECK_THAT(same_message<ht::NotCompiled>([&] { static_cast<void>(ht::io::load(path)); }),
             Contains("a.h5\", which is in subfiles") && Contains("expected HDF5 1.14 or newer"));
  CHECK_THAT(same_message<ht::IoError>([&] { ht::io::save(x, path, {.dataset = "y", .append = true}); }),
             Contains("in subfiles"));
  ht::io::save(x, path);
  CHECK(dir.names() == std::vector<std::string>{"a.h5"});
  CHECK(same(ht::io::load(path), at::ones({4, 2})));
}
