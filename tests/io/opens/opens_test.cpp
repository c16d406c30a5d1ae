#include "../files.hpp"
#include "counted.hpp"

#include <heatpp/sparse/construction.hpp>
#include <heatpp/sparse/conversion.hpp>
#include <heatpp/sparse/io/files.hpp>

#include <filesystem>
#include <fstream>

namespace io = ht::io;
using Catch::Contains;

namespace {

std::int64_t over_ranks(std::int64_t mine, ht::ReduceOp op = ht::ReduceOp::sum) {
  std::array<std::int64_t, 1> all{mine};
  ht::world().allreduce(all, op);
  return all[0];
}

/// Returns how often all ranks together open `path`, and files in it, during `work`.
template <class F>
std::int64_t opens_of(const std::string& path, F work) {
  ht::world().barrier();
  const CountedOpens opens(path);
  work();
  return over_ranks(opens.count());
}

/// A format, and how often a file of it is opened for one load by its content: to look at its first bytes, and for its
/// header and elements. netCDF's library opens it once more. A Zarr store is a folder with four
/// files, each of which is opened once.
struct Case {
  std::string file;
  std::int64_t most;
};
const std::vector<Case> formats{{"a.h5", 3},  {"a.npy", 3},  {"a.npz", 3}, {"a.safetensors", 3},
                                {"a.csv", 3}, {"a.zarr", 5}, {"a.nc", 4}};

const std::vector<std::optional<int>> splits{std::nullopt, 0, 1};

/// A folder for files that are read as users read them.
struct Folder : TempDir {
  Folder() { read_small_by_first(true); }
};

/// Returns the most bytes that a rank hands to communicators during `work`.
template <class F>
std::int64_t bytes_of(F work) {
  const auto before = ht::total_counters().bytes;
  work();
  return over_ranks(ht::total_counters().bytes - before, ht::ReduceOp::max);
}

}  // namespace

TEST_CASE("the count sees every open of a file", "[io][opens]") {
  const Folder dir;
  write_plain(dir.path("a.h5"), "x", counting({2, 2}));
  CHECK(opens_of(dir.path("a.h5"), [&] { std::ifstream(dir.path("a.h5")).get(); }) == ht::world().size());
  CHECK(opens_of(dir.path("a.h5"), [&] {
          const auto file = H5Fopen(dir.path("a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
          H5Fclose(file);
        }) >= ht::world().size());
}

TEST_CASE("only rank 0 opens a file of 4 numbers", "[io][opens]") {
  const Folder dir;
  const auto numbers = counting({2, 2});
  for (const auto& [name, most] : formats) {
    if (name == "a.nc" && !io::supports_netcdf()) continue;
    io::save(distribute(numbers, ht::Layout({2, 2}, 0, ht::world().size())), dir.path(name), {});
    for (const auto split : splits) {
      INFO(name << ", split " << (split ? *split : -1));
      std::optional<ht::DNDarray> x;
      const auto opens = opens_of(dir.path(name), [&] { x = io::load(dir.path(name), {.split = split}); });
      CHECK(opens <= most);
      CHECK(opens >= 1);
      CHECK(same(*x, numbers));
      CHECK(x->split() == split);
      CHECK(bytes_of([&] { static_cast<void>(io::load(dir.path(name), {.split = split})); }) <= 2048);
    }
  }
}

TEST_CASE("only rank 0 opens a small sparse file", "[io][opens]") {
  const Folder dir;
  const auto numbers = at::tensor({0.0, 2.0, 3.0, 0.0}).view({2, 2});
  const auto a = ht::sparse::from_dense(distribute(numbers, ht::Layout({2, 2}, 0, ht::world().size())));
  for (const auto& [name, most] : std::vector<Case>{{"a.mtx", 3}, {"a.npz", 8}, {"a.h5", 8}, {"a.petsc", 3}}) {
    ht::sparse::save(a, dir.path(name));
    INFO(name);
    std::optional<ht::DNDarray> x;
    const auto opens = opens_of(dir.path(name), [&] { x = ht::sparse::to_dense(ht::sparse::load(dir.path(name))); });
    CHECK(opens <= most);
    CHECK(same(*x, numbers));
  }
}

TEST_CASE("data of 1 MiB are read by rank 0, and cut for the others", "[io][opens]") {
  const Folder dir;
  const auto numbers = counting({128, 1024}, at::kDouble);
  io::save(distribute(numbers, ht::Layout({128, 1024}, 0, ht::world().size())), dir.path("a.h5"), {});
  for (const auto split : splits) {
    std::optional<ht::DNDarray> x;
    CHECK(opens_of(dir.path("a.h5"), [&] { x = io::load(dir.path("a.h5"), {.split = split}); }) <= 3);
    CHECK(same(*x, numbers));
    CHECK_FALSE(io::io_report().collective);
    const auto part = io::load(dir.path("a.h5"), {.split = split, .slices = {ht::slice(1, 100, 3), ht::slice(5, 70)}});
    CHECK(same(part, numbers.slice(0, 1, 100, 3).slice(1, 5, 70)));
    CHECK(same(io::load(dir.path("a.h5"), {.split = split, .dtype = ht::float32}), numbers.to(at::kFloat)));
  }
}

TEST_CASE("of more data only ranks open the file that read from it", "[io][opens]") {
  const Folder dir;
  const auto numbers = counting({2, 300000});
  io::save(distribute(numbers, ht::Layout({2, 300000}, 0, ht::world().size())), dir.path("a.npy"), {});
  std::optional<ht::DNDarray> x;
  const auto opens = opens_of(dir.path("a.npy"), [&] { x = io::load(dir.path("a.npy"), {.split = 0}); });
  CHECK(opens <= 3);  // two ranks have a row
  CHECK(same(*x, numbers));
}

TEST_CASE("shards are opened by their readers", "[io][opens]") {
  const Folder dir;
  const auto ranks = ht::world().size();
  for (int r = 0; r < ranks; ++r) write_plain(dir.path("s-" + std::to_string(r) + ".h5"), "x", counting({2}) + 2 * r);
  std::optional<ht::DNDarray> x;
  const auto load = [&] { x = io::load_hdf5(dir.path("s-*.h5"), "x", {.split = 0}); };
  CHECK(opens_of(dir.path("s-"), load) <= ranks);
  CHECK(same(*x, counting({2 * ranks})));
}

TEST_CASE("a stored array of 4 numbers is read by rank 0", "[io][opens]") {
  const Folder dir;
  write_plain(dir.path("a.h5"), "x", counting({4}));
  std::optional<ht::DNDarray> x;
  CHECK(opens_of(dir.path("a.h5"), [&] { x = io::StoredArray(dir.path("a.h5"), {.dataset = "x"}).all(); }) <= 6);
  CHECK(same(*x, counting({4})));
}

TEST_CASE("all ranks get the error that rank 0 finds", "[io][opens]") {
  const Folder dir;
  write_plain(dir.path("a.h5"), "x", counting({4}));
  CHECK_THAT(same_message<ht::IoError>([&] { static_cast<void>(io::load_hdf5(dir.path("a.h5"), "y", {})); }),
             Contains("got no dataset \"y\""));
  CHECK_THAT(same_message<ht::FileNotFoundError>([&] { static_cast<void>(io::load(dir.path("none.npy"), {})); }),
             Contains("none.npy"));
  on_root([&] { std::ofstream(dir.path("long.csv")) << std::string(300, 'x') << "\n"; });
  CHECK_THAT(same_message<ht::IoError>([&] { static_cast<void>(io::load(dir.path("long.csv"), {})); }),
             Contains("long.csv"));
}

TEST_CASE("a small file need be seen by rank 0 only", "[io][opens]") {
  const Folder dir;
  write_plain(dir.path("only.h5"), "x", counting({4}));
  on_root([&] { std::filesystem::create_directory(dir.path("elsewhere")); });
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(ht::world().rank() == 0 ? dir.path("") : dir.path("elsewhere"));
  std::optional<ht::DNDarray> x;
  const auto text = message_of<ht::Error>([&] { x = io::load("only.h5", {.split = 0}); });
  std::filesystem::current_path(here);
  CHECK(text.empty());
  if (x) CHECK(same(*x, counting({4})));
}
