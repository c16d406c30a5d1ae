#include "bytes.hpp"

TEST_CASE("a plain HDF5 file loads with every split", "[io][load]") {
  const TempDir dir;
  const ht::Shape shape = GENERATE(ht::Shape{13, 5}, ht::Shape{2, 7, 3}, ht::Shape{1, 1}, ht::Shape{0, 4},
                                   ht::Shape{4, 0}, ht::Shape{}, ht::Shape{300, 400});
  const auto global = counting(shape);
  write_plain(dir.path("a.h5"), "group/x", global);
  for (const auto& split : every_split(shape)) {
    const auto x = ht::io::load_hdf5(dir.path("a.h5"), "group/x", {.split = split});

    CHECK(x.split() == split);
    CHECK(x.is_balanced());
    CHECK(same(x, global));
  }
}

TEST_CASE("collective and independent transfers give the same", "[io][load]") {
  const TempDir dir;
  const auto global = counting({37, 11}, at::kShort);
  write_plain(dir.path("plain.h5"), "x", global);
  write_plain(dir.path("chunks.h5"), "x", global, {.chunk = {5, 4}});
  write_plain(dir.path("gzip.h5"), "x", global, {.chunk = {5, 4}, .gzip = 3});
  for (const auto* file : {"plain.h5", "chunks.h5", "gzip.h5"})
    for (const auto& split : every_split({37, 11}))
      for (const bool collective : {false, true}) {
        const auto x = ht::io::load_hdf5(dir.path(file), "x", {.split = split, .collective = collective});

        CHECK(same(x, global));
        if (split) CHECK(ht::io::io_report().collective == (collective && ht::world().size() > 1));
      }
}

TEST_CASE("slices select as NumPy's do", "[io][load]") {
  const TempDir dir;
  const auto global = counting({10, 7, 3});
  write_plain(dir.path("a.h5"), "x", global);
  write_plain(dir.path("b.h5"), "x", global, {.chunk = {3, 2, 2}, .gzip = 1});
  const auto none = std::nullopt;
  const auto s = [](auto start, auto stop, std::int64_t step = 1) { return ht::slice(start, stop, step); };
  const struct {
    std::vector<ht::Slice> slices;
    at::Tensor expected;
  } cases[] = {
      {{s(2, 9)}, global.slice(0, 2, 9)},
      {{s(-4, none)}, global.slice(0, 6, 10)},
      {{s(none, none, 3), s(1, -1, 2)}, global.slice(0, 0, 10, 3).slice(1, 1, 6, 2)},
      {{s(1, none, 4), s(none, none), s(2, 3)}, global.slice(0, 1, 10, 4).slice(2, 2, 3)},
      {{s(8, 3)}, global.slice(0, 0, 0)},
      {{s(none, 100), s(-100, 2)}, global.slice(1, 0, 2)},
  };
  for (const auto& [slices, expected] : cases)
    for (const auto* file : {"a.h5", "b.h5"})
      for (const auto& split : every_split({10, 7, 3})) {
        const auto x = ht::io::load_hdf5(dir.path(file), "x", {.split = split, .slices = slices});
        CHECK(same(x, expected));
      }
}

TEST_CASE("elements are converted as astype does", "[io][load]") {
  const TempDir dir;
  const auto global = at::arange(-3, 297, at::kDouble).reshape({60, 5}) * 0.75;
  write_plain(dir.path("a.h5"), "x", global);
  for (const auto dtype : {ht::bool_, ht::int32, ht::float16, ht::bfloat16, ht::float32, ht::complex128})
    for (const auto& split : every_split({60, 5})) {
      const auto x = ht::io::load_hdf5(dir.path("a.h5"), "x", {.split = split, .dtype = dtype});
      CHECK(same(x, global.to(ht::to_torch(dtype))));
    }
}

TEST_CASE("conversion in pieces", "[io][load]") {
  const TempDir dir;
  const auto global = counting({3000, 600}, at::kDouble);  // 14 MiB: several staging pieces on each rank
  write_plain(dir.path("a.h5"), "x", global);
  write_plain(dir.path("b.h5"), "x", global, {.chunk = {700, 100}});
  for (const auto* file : {"a.h5", "b.h5"})
    for (const auto collective : {std::optional<bool>(), std::optional(true)})
      for (const auto& split : every_split({3000, 600})) {
        const auto x =
            ht::io::load_hdf5(dir.path(file), "x", {.split = split, .dtype = ht::int64, .collective = collective});
        CHECK(same(x, global.to(at::kLong)));
      }
}

TEST_CASE("an array lives on the communicator asked for", "[io][load]") {
  const TempDir dir;
  write_plain(dir.path("a.h5"), "x", counting({6}));
  const auto half = ht::world().split(ht::world().rank() % 2);
  const auto x = ht::io::load_hdf5(dir.path("a.h5"), "x", {.split = 0, .comm = half});
  CHECK(x.comm() == *half);
  CHECK(equals(ht::resplit(x, std::nullopt).larray(), counting({6})));
}

TEST_CASE("load goes by the extension, and takes the only dataset", "[io][load]") {
  const TempDir dir;
  write_plain(dir.path("a.h5"), "x", counting({6}));
  CHECK(same(ht::io::load(dir.path("a.h5"), {.split = 0}), counting({6})));
  CHECK(same(ht::io::load(dir.path("a.h5"), {.dataset = "x"}), counting({6})));
  CHECK_THROWS_WITH(ht::io::load("a.xyz"),
                    Catch::Contains("[load] got \"a.xyz\" with extension \".xyz\"; expected one of .h5, .hdf5"));
  CHECK_THROWS_AS(ht::io::load(std::vector<std::string>{}), ht::ValueError);

  ht::io::save(ht::arange(5, {.split = 0}), dir.path("b.hdf5"));
  CHECK(same(ht::io::load(dir.path("b.hdf5"), {.dataset = "data"}), at::arange(5)));
}

TEST_CASE("the report tells what was done", "[io][load][large]") {
  const TempDir dir;
  write_plain(dir.path("a.h5"), "x", counting({64, 16}));
  static_cast<void>(ht::io::load_hdf5(dir.path("a.h5"), "x", {.split = 0}));
  const auto report = ht::io::io_report();
  CHECK(report.operation == "load_hdf5");
  CHECK(report.bytes == 64 * 16 * 4);
  CHECK(report.files == 1);
  CHECK(report.collective == (ht::world().size() > 1));
  CHECK(report.seconds > 0);
  if (ht::world().size() == 1) CHECK(report.reason == "independent: one rank");
  CHECK_THAT(ht::io::to_string(report), Catch::StartsWith("load_hdf5: "));
}
