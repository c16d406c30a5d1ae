#include "files.hpp"

#include <filesystem>
#include <fstream>

namespace {

/// Returns what HDF5's functions read from a file, on every rank.
at::Tensor read_plain(const std::string& path, const std::string& dataset, at::Tensor like) {
  ht::world().barrier();
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, dataset.c_str(), H5P_DEFAULT);
  auto values = at::zeros_like(like);
  H5Dread(set, native_type(values), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data_ptr());
  H5Dclose(set);
  H5Fclose(file);
  ht::world().barrier();
  return values;
}

std::vector<hsize_t> chunks_of(const std::string& path) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, "x", H5P_DEFAULT), create = H5Dget_create_plist(set);
  std::vector<hsize_t> chunk(H5Pget_layout(create) == H5D_CHUNKED ? 8 : 0);
  if (!chunk.empty()) chunk.resize(static_cast<std::size_t>(H5Pget_chunk(create, 8, chunk.data())));
  for (const hid_t id : {create, set, file}) H5Idec_ref(id);
  return chunk;
}

}  // namespace

TEST_CASE("every layout is saved and loaded", "[io][save]") {
  const TempDir dir;
  const ht::Shape shape =
      GENERATE(ht::Shape{7, 5}, ht::Shape{3, 4, 5}, ht::Shape{1}, ht::Shape{0, 3}, ht::Shape{}, ht::Shape{211, 90});
  const auto global = counting(shape);
  for (const auto& layout : every_layout(shape))
    for (const auto& options :
         {ht::io::SaveOptions{}, ht::io::SaveOptions{.compression = 4}, ht::io::SaveOptions{.compression = "zstd"},
          ht::io::SaveOptions{.compression = "lz4"}, ht::io::SaveOptions{.compression = "blosc"},
          ht::io::SaveOptions{.collective = true}, ht::io::SaveOptions{.collective = false}}) {
      ht::io::save_hdf5(distribute(global, layout), dir.path("a.h5"), "x", options);

      CHECK(equals(read_plain(dir.path("a.h5"), "x", global), global));
      CHECK(same(ht::io::load_hdf5(dir.path("a.h5"), "x", {.split = layout.split()}), global));
      CHECK(dir.names() == std::vector<std::string>{"a.h5"});
    }
}

TEST_CASE("every dtype comes back as it was", "[io][save]") {
  const TempDir dir;
  for (int i = 0; i < ht::dtype_count; ++i) {
    const auto dtype = static_cast<ht::Dtype>(i);
    const auto global =
        (counting({9, 4}, at::kDouble) - 2).clamp_min(dtype == ht::uint8 ? 0 : -2).to(ht::to_torch(dtype));
    for (const auto& layout : every_layout({9, 4})) {
      ht::io::save_hdf5(distribute(global, layout), dir.path("a.h5"), "x");
      CHECK(same(ht::io::load_hdf5(dir.path("a.h5"), "x", {.split = layout.split()}), global));
    }
    ht::io::save_hdf5(distribute(global, ht::Layout({9, 4}, 0, ht::world().size())), dir.path("b.h5"), "x",
                      {.compression = 1});
    CHECK(same(ht::io::load_hdf5(dir.path("b.h5"), "x", {.split = 1}), global));
  }
}

TEST_CASE("bool and complex are stored as h5py stores them", "[io][save]") {
  const TempDir dir;
  ht::io::save_hdf5(ht::zeros({3}, {.dtype = ht::bool_, .split = 0}), dir.path("b.h5"), "x");
  ht::io::save_hdf5(ht::zeros({3}, {.dtype = ht::complex64, .split = 0}), dir.path("c.h5"), "x");
  on_root([&] {
    const hid_t b = H5Fopen(dir.path("b.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), bx = H5Dopen2(b, "x", H5P_DEFAULT);
    const hid_t c = H5Fopen(dir.path("c.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), cx = H5Dopen2(c, "x", H5P_DEFAULT);
    const hid_t bt = H5Dget_type(bx), ct = H5Dget_type(cx);
    char name[8] = {};
    const std::int8_t yes = 1;
    CHECK(H5Tget_class(bt) == H5T_ENUM);
    CHECK(H5Tenum_nameof(bt, &yes, name, sizeof name) >= 0);
    CHECK(std::string(name) == "TRUE");
    CHECK(H5Tget_class(ct) == H5T_COMPOUND);
    CHECK(H5Tget_member_index(ct, "r") == 0);
    CHECK(H5Tget_member_index(ct, "i") == 1);
    for (const hid_t id : {bt, ct, bx, cx, b, c}) H5Idec_ref(id);
  });
}

TEST_CASE("blocks that are not contiguous are saved as they read", "[io][save]") {
  const TempDir dir;
  const auto global = counting({6, 5});
  const auto x = ht::from_local(global.t(), {});
  ht::io::save_hdf5(x, dir.path("a.h5"), "x");
  CHECK(same(ht::io::load_hdf5(dir.path("a.h5"), "x"), global.t().contiguous()));
}

TEST_CASE("a large array split along columns is exchanged into rows", "[io][save]") {
  const TempDir dir;
  const auto global = counting({2100, 700});  // 5.6 MiB: several windows
  const auto x = distribute(global, ht::Layout({2100, 700}, 1, ht::world().size()));
  ht::io::save_hdf5(x, dir.path("a.h5"), "x");
  if (ht::world().size() > 1) CHECK_THAT(ht::io::io_report().reason, Catch::StartsWith("exchange"));
  CHECK(same(ht::io::load_hdf5(dir.path("a.h5"), "x", {.split = 0}), global));
}

TEST_CASE("chunks fit the split, or are those asked for", "[io][save]") {
  const TempDir dir;
  const auto p = ht::world().size();
  const auto x = ht::zeros({16 * p, 6}, {.split = 0});
  ht::io::save_hdf5(x, dir.path("a.h5"), "x", {.compression = 1});
  CHECK(chunks_of(dir.path("a.h5")) == std::vector<hsize_t>{16, 6});
  ht::io::save_hdf5(x, dir.path("b.h5"), "x", {.chunks = {5, 2}});
  CHECK(chunks_of(dir.path("b.h5")) == std::vector<hsize_t>{5, 2});
  ht::io::save_hdf5(x, dir.path("c.h5"), "x");
  CHECK(chunks_of(dir.path("c.h5")).empty());
}

TEST_CASE("append keeps the content of a file", "[io][save]") {
  const TempDir dir;
  const auto path = dir.path("a.h5");
  ht::io::save_hdf5(ht::arange(7, {.split = 0}), path, "first");
  ht::io::save_hdf5(ht::arange(5, {.split = 0}), path, "group/second", {.append = true});
  CHECK(same(ht::io::load_hdf5(path, "first", {.split = 0}), at::arange(7)));
  CHECK(same(ht::io::load_hdf5(path, "group/second", {.split = 0}), at::arange(5)));
  const auto group = [&] { static_cast<void>(ht::io::load_hdf5(path, "group")); };
  CHECK_THAT(same_message<ht::IoError>(group),
             Catch::Contains("got group \"group\"") && Catch::Contains("which has \"second\""));

  const auto again = [&] { ht::io::save_hdf5(ht::arange(5, {.split = 0}), path, "first", {.append = true}); };
  CHECK_THAT(same_message<ht::ValueError>(again),
             Catch::Contains("got dataset \"first\", which \"" + path + "\" has already"));
  const auto missing = [&] { ht::io::save_hdf5(ht::arange(5), dir.path("no.h5"), "x", {.append = true}); };
  CHECK_THAT(same_message<ht::IoError>(missing), Catch::Contains("no.h5"));
  on_root([&] { std::ofstream(dir.path("text.h5")) << "no HDF5"; });
  const auto foreign = [&] { ht::io::save_hdf5(ht::arange(5), dir.path("text.h5"), "x", {.append = true}); };
  CHECK_THAT(same_message<ht::IoError>(foreign), Catch::Contains("text.h5") && Catch::Contains("signature"));
  CHECK(dir.names() == std::vector<std::string>{"a.h5", "text.h5"});

  ht::io::save_hdf5(ht::arange(3, {.split = 0}), path, "third");
  CHECK(same(ht::io::load_hdf5(path, ""), at::arange(3)));
}

TEST_CASE("a symbolic link stays one", "[io][save]") {
  const TempDir dir;
  on_root([&] { std::filesystem::create_symlink(dir.path("real.h5"), dir.path("link.h5")); });
  ht::io::save_hdf5(ht::arange(3, {.split = 0}), dir.path("link.h5"), "x");
  CHECK(std::filesystem::is_symlink(dir.path("link.h5")));
  CHECK(same(ht::io::load_hdf5(dir.path("real.h5"), "x"), at::arange(3)));
}

TEST_CASE("bad options of save are errors on all ranks", "[io][save]") {
  const TempDir dir;
  const auto x = ht::zeros({4, 3}, {.split = 0});
  const auto save = [&](const std::string& path, const std::string& name, const ht::io::SaveOptions& options) {
    return [&x, path, name, options] { ht::io::save_hdf5(x, path, name, options); };
  };
  const auto path = dir.path("a.h5");
  CHECK_THAT(same_message<ht::ValueError>(save(path, "", {})), Catch::Contains("got dataset name \"\""));
  CHECK_THAT(same_message<ht::ValueError>(save(path, "x", {.compression = 10})), Catch::Contains("got compression 10"));
  CHECK_THAT(same_message<ht::ValueError>(save(path, "x", {.chunks = {4}})), Catch::Contains("got chunks (4,)"));
  CHECK_THAT(same_message<ht::ValueError>(save(path, "x", {.chunks = {5, 1}})), Catch::Contains("got chunks (5, 1)"));
  CHECK_THAT(same_message<ht::IoError>(save(dir.path("no/a.h5"), "x", {})), Catch::Contains("no/a.h5"));
  CHECK_THAT(same_message<ht::IoError>(save(dir.path("."), "x", {})), Catch::Contains("directory"));
  CHECK_THAT(same_message<ht::ValueError>(save(path, "x", {.shards = true})), Catch::Contains("{rank}"));
  CHECK(dir.names().empty());
}
