#include "bytes.hpp"

#include <filesystem>

using Catch::Contains;
namespace fs = std::filesystem;

namespace {

/// An array to store, and the rank that passes other arguments.
struct Given {
  TempDir dir;
  bool last = ht::world().rank() == ht::world().size() - 1;
  at::Tensor values = counting({6, 4});
  ht::DNDarray x = distribute(values, ht::Layout({6, 4}, 0, ht::world().size()));
};

}  // namespace

TEST_CASE("arguments that differ between ranks are an error on all of them, and no file is written", "[io][alike]") {
  if (ht::world().size() == 1) return;  // nothing differs on one rank
  const Given given;
  const auto& [dir, last, values, x] = given;
  const auto differs = [&](const std::string& text, const auto& call) {
    CHECK_THAT(same_message<ht::ValueError>(call), Contains("got " + text));
    CHECK(dir.names().empty());
  };
  using Options = ht::io::SaveOptions;
  for (const std::string ending : {".h5", ".zarr", ".npy"}) {
    const auto path = dir.path("a" + ending);
    const auto saves = [&](const Options& usual, const Options& other) {
      return [&, usual, other] { ht::io::save(x, path, last ? other : usual); };
    };
    differs("chunks (1, 1) on rank 0 and (2, 2) on rank", saves({.chunks = {1, 1}}, {.chunks = {2, 2}}));
    differs("compression 4 on rank 0 and zstd", saves({.compression = 4}, {.compression = "zstd"}));
    differs("dataset \"\" on rank 0 and \"b\" on rank", saves({}, {.dataset = "b"}));
    differs("append false on rank 0 and true on rank", saves({}, {.append = true}));
    differs("path \"", [&] { ht::io::save(x, dir.path(last ? "b.csv" : "a" + ending)); });
  }
  differs("chunks (1, 1) on rank 0", [&] { ht::io::save_zarr(x, dir.path("a.zarr"), {.chunks = {last ? 2 : 1, 1}}); });
  differs("dataset \"d\" on rank 0 and \"e\"", [&] { ht::io::save_hdf5(x, dir.path("a.h5"), last ? "e" : "d"); });
}

TEST_CASE("rows for another array on one rank are an error on all, and none is lost", "[io][alike]") {
  if (ht::world().size() == 1) return;
  const Given given;
  const auto& [dir, last, values, x] = given;
  for (const std::string ending : {".h5", ".zarr"}) {
    const auto path = dir.path("a" + ending);
    ht::io::append_rows(x, path);
    CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::append_rows(x, last ? dir.path("b" + ending) : path); }),
               Contains("[append_rows] got path \""));
    CHECK(same(ht::io::load(path), values));
    CHECK(!fs::exists(dir.path("b" + ending)));
  }
}

TEST_CASE("an array that ranks want to read in other ways is an error on all of them", "[io][alike]") {
  if (ht::world().size() == 1) return;
  const Given given;
  const auto& [dir, last, values, x] = given;
  for (const std::string ending : {".h5", ".zarr", ".npy", ".safetensors"}) {
    const auto path = dir.path("a" + ending);
    ht::io::save(x, path);
    const auto reads = [&](const ht::io::LoadOptions& usual, const ht::io::LoadOptions& other) {
      return same_message<ht::ValueError>([&] { static_cast<void>(ht::io::load(path, last ? other : usual)); });
    };
    CHECK_THAT(reads({}, {.split = 0}), Contains("got split none on rank 0 and 0 on rank"));
    CHECK_THAT(reads({.split = 1}, {.split = 1, .dtype = ht::float64}),
               Contains("got dtype none on rank 0 and float64 on rank"));
    CHECK_THAT(reads({}, {.slices = {ht::slice(0, 3)}}), Contains("got slices [] on rank 0 and [0:3:1] on rank"));
    CHECK_THAT(reads({.slices = {ht::slice(0, 3)}}, {.slices = {ht::slice(1, 4)}}),
               Contains("got slices [0:3:1] on rank 0 and [1:4:1] on rank"));
    CHECK_THAT(reads({}, {.field = "f"}), Contains("got field"));
    CHECK(same(ht::io::load(path, {.split = 1}), values));
  }
}

TEST_CASE("ranks compare the arguments of a load by one message", "[io][alike]") {
  if (ht::world().size() == 1) return;
  const Given given;
  const auto& [dir, last, values, x] = given;
  const auto path = dir.path("a.npy");
  ht::io::save(x, path);
  const auto sent = [](const auto& call) {
    const auto before = ht::comm_report().calls;
    call();
    return ht::comm_report().calls - before;
  };
  const auto by_name = sent([&] { static_cast<void>(ht::io::load_npy(path)); });
  CHECK(sent([&] { static_cast<void>(ht::io::load(path)); }) == by_name + 1);  // rank 0 also tells the format
}

TEST_CASE("names of files and arrays that ranks read otherwise are an error on all of them", "[io][alike]") {
  if (ht::world().size() == 1) return;
  const Given given;
  const auto& [dir, last, values, x] = given;
  for (const std::string ending : {".h5", ".zarr", ".npy"}) {
    const auto path = dir.path("a" + ending), other = dir.path("b" + ending);
    ht::io::save(x, path), ht::io::save(x, other);
    const auto load = [&](const std::string& from, const std::string& dataset) {
      return same_message<ht::ValueError>(
          [&] { static_cast<void>(ht::io::load(from, {.dataset = dataset, .split = 0})); });
    };
    CHECK_THAT(load(path, last ? "nope" : ""), Contains("got dataset \"\" on rank 0 and \"nope\" on rank"));
    CHECK_THAT(load(last ? other : path, ""), Contains("got path [\"" + path + "\"] on rank 0 and [\"" + other));
    CHECK(same(ht::io::load(path, {.split = 0}), values));
  }
  CHECK_THAT(same_message<ht::ValueError>([&, &dir = dir, &last = last] {
               static_cast<void>(ht::io::load_hdf5(dir.path("a.h5"), last ? "nope" : "data", {.split = 0}));
             }),
             Contains("got dataset \"data\" on rank 0 and \"nope\" on rank"));
}

TEST_CASE("options of CSV that differ between ranks are an error on all of them", "[io][alike]") {
  if (ht::world().size() == 1) return;
  const Given given;
  const auto& [dir, last, values, x] = given;
  const auto path = dir.path("a.csv");
  const auto saves = [&, &x = x](const ht::io::SaveCsvOptions& options) {
    return same_message<ht::ValueError>([&] { ht::io::save_csv(x, path, options); });
  };
  CHECK_THAT(saves({.delimiter = last ? ';' : ','}), Contains("[save_csv] got delimiter \",\" on rank 0 and \";\""));
  CHECK_THAT(saves({.header = last ? "a" : ""}), Contains("[save_csv] got header \"\" on rank 0 and \"a\""));
  CHECK(dir.names().empty());

  ht::io::save_csv(x, path);
  const auto loads = [&](const ht::io::LoadCsvOptions& options) {
    return same_message<ht::ValueError>([&] { static_cast<void>(ht::io::load_csv(path, options)); });
  };
  CHECK_THAT(loads({.max_rows = last ? std::optional<std::int64_t>(1) : std::nullopt}), Contains("got max_rows none"));
  CHECK_THAT(loads({.columns = last ? std::vector{1} : std::vector<int>{}}),
             Contains("got columns [] on rank 0 and [1]"));
  CHECK_THAT(loads({.missing = last ? 1.0 : 0.0}), Contains("got missing 0 on rank 0 and 1"));
  CHECK_THAT(loads({.comment = last ? '\0' : '#'}), Contains("got comment \"#\" on rank 0 and none"));
  CHECK(same(ht::io::load_csv(path), values));
}

TEST_CASE("no store is written to a directory that only rank 0 sees", "[io][alike]") {
  if (ht::world().size() == 1) return;
  const Given given;
  const auto& [dir, last, values, x] = given;
  const auto before = fs::current_path();
  const auto own = dir.path("of_rank_" + std::to_string(ht::world().rank()));
  fs::create_directories(ht::world().rank() == 0 ? own + "/to" : own);
  fs::current_path(own);
  CHECK_THAT(same_message<ht::IoError>([&, &x = x] {
               ht::io::save_zarr(x, "to/a.zarr", {.chunks = {1, 4}});
             }),
             Contains("which is not seen on all ranks"));
  CHECK(!fs::exists("to/a.zarr"));
  CHECK((ht::world().rank() == 0 || !fs::exists("to")));
  fs::current_path(before);
  ht::world().barrier();
}
