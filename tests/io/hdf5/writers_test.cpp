#include "../bytes.hpp"

#include <cstdlib>
#include <filesystem>

/// Reads each file that writers_test.py has written and compares it with the expectation next to it.
TEST_CASE("files of h5py", "[.writers]") {
  namespace fs = std::filesystem;
  const fs::path folder(std::getenv("HEATPP_HDF5_FILES"));
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".h5") paths.push_back(entry.path());
  std::ranges::sort(paths);
  REQUIRE(paths.size() > 10);
  for (auto path : paths) {
    CAPTURE(path.string());
    const auto beside = [&](const char* ending) { return fs::path(path).replace_extension(ending).string(); };
    const auto field = fs::exists(beside(".field")) ? read_bytes(beside(".field")) : "";
    if (fs::exists(beside(".error"))) {
      const auto error = same_message<ht::IoError>([&] { return ht::io::load_hdf5(path, "x", {.split = 0}); });
      CHECK_THAT(error, Catch::Contains(read_bytes(beside(".error"))));
      continue;
    }
    const auto expected = ht::io::load_npy(beside(".npy")).larray();
    for (const auto& split : every_split({expected.sizes().begin(), expected.sizes().end()}))
      for (const bool collective : {false, true})
        CHECK(same(ht::io::load_hdf5(path, "x", {.split = split, .collective = collective, .field = field}), expected));
  }
}
