#include "files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace {

namespace fs = std::filesystem;
using Catch::Contains;

/// Checks that a load with every split fails in the same way on all ranks.
template <class E>
std::string load_error(const ht::io::Source& source, const std::string& dataset = "x") {
  std::string text;
  for (const std::optional<int> split : {std::optional<int>(), std::optional(0)}) {
    text = same_message<E>([&] { return ht::io::load_hdf5(source, dataset, {.split = split}); });
    CHECK_THAT(text, Catch::StartsWith("[load_hdf5] got "));
    CHECK_THAT(text, Contains("; expected "));
  }
  return text;
}

/// A full disk, for tests that may make one.
class TinyDisk {
 public:
  explicit TinyDisk(const TempDir& dir) : path_(dir.path("disk")) {
    std::array<std::int64_t, 1> made{0};
    if (ht::world().rank() == 0) {
      fs::create_directory(path_);
      made[0] = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=1m") == 0;
    }
    ht::world().broadcast(made, 0);
    mounted_ = made[0] != 0;
  }
  ~TinyDisk() {
    on_root([&] {
      if (mounted_) ::umount(path_.c_str());
    });
  }
  [[nodiscard]] bool mounted() const { return mounted_; }
  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] bool empty() const {
    ht::world().barrier();
    const bool empty = fs::is_empty(path_);
    ht::world().barrier();  // before another rank writes the next file
    return empty;
  }

 private:
  std::string path_;
  bool mounted_ = false;
};

}  // namespace

TEST_CASE("missing and foreign files", "[io][errors]") {
  const TempDir dir;
  on_root([&] { std::ofstream(dir.path("text.h5")) << "no HDF5"; });
  write_plain(dir.path("a.h5"), "x", counting({4}));
  CHECK_THAT(load_error<ht::IoError>(dir.path("no.h5")), Contains("no.h5") && Contains("No such file"));
  CHECK_THAT(load_error<ht::IoError>(dir.path("text.h5")), Contains("text.h5") && Contains("not in HDF5 format"));
  CHECK_THAT(load_error<ht::IoError>(dir.path("")), Contains("is a directory"));
  CHECK_THAT(load_error<ht::FileNotFoundError>(dir.path("no-*.h5")),
             Contains("no-*.h5") && Contains("matches nothing"));
  CHECK_THAT(load_error<ht::ValueError>(std::vector<std::string>{}), Contains("empty list"));
  CHECK_THAT(load_error<ht::IoError>({dir.path("a.h5"), dir.path("gone.h5"), dir.path("a.h5")}), Contains("gone.h5"));
}

TEST_CASE("missing datasets and datasets of no numbers", "[io][errors]") {
  const TempDir dir;
  write_plain(dir.path("a.h5"), "group/x", counting({4}));
  on_root([&] {
    const hid_t file = H5Fcreate(dir.path("text.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate(H5S_SCALAR), nothing = H5Screate(H5S_NULL);
    const hid_t text = H5Dcreate2(file, "text", H5T_C_S1, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t null = H5Dcreate2(file, "null", H5T_NATIVE_INT, nothing, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (const hid_t id : {text, null, space, nothing, file}) H5Idec_ref(id);
  });
  CHECK_THAT(load_error<ht::IoError>(dir.path("a.h5"), "y"),
             Contains("\"y\"") && Contains("a.h5") && Contains("\"group\""));
  CHECK_THAT(load_error<ht::IoError>(dir.path("a.h5"), "no/x"), Contains("no/x"));
  CHECK_THAT(load_error<ht::IoError>(dir.path("a.h5"), "group"), Contains("\"group\""));
  CHECK_THAT(load_error<ht::ValueError>(dir.path("a.h5"), ""), Contains("0 datasets"));
  CHECK_THAT(load_error<ht::ValueError>(dir.path("text.h5"), ""), Contains("2 datasets"));
  CHECK_THAT(load_error<ht::IoError>(dir.path("text.h5"), "text"), Contains("strings"));
  CHECK_THAT(load_error<ht::IoError>(dir.path("text.h5"), "null"), Contains("no shape"));
}

TEST_CASE("a truncated file", "[io][errors]") {
  const TempDir dir;
  write_plain(dir.path("a.h5"), "x", counting({4000}));
  write_plain(dir.path("b.h5"), "x", counting({4000}));
  on_root([&] { fs::resize_file(dir.path("a.h5"), 9000); });
  CHECK_THAT(load_error<ht::IoError>(dir.path("a.h5")), Contains("a.h5\", which cannot be opened (truncated"));
  CHECK_THAT(load_error<ht::IoError>({dir.path("b.h5"), dir.path("a.h5")}),
             Contains("a.h5\", which cannot be opened (truncated"));
}

TEST_CASE("damaged compressed chunks", "[io][errors]") {
  const TempDir dir;
  write_plain(dir.path("a.h5"), "x", counting({400, 40}), {.chunk = {100, 40}, .gzip = 5});
  on_root([&] {
    std::fstream file(dir.path("a.h5"), std::ios::in | std::ios::out | std::ios::binary);
    const auto size = static_cast<std::streamoff>(fs::file_size(dir.path("a.h5")));
    file.seekp(size / 2);
    file << std::string(static_cast<std::size_t>(size / 2 - 1), '\xff');
  });
  for (const std::optional<int> split : {std::optional(0), std::optional(1)})
    CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::load_hdf5(dir.path("a.h5"), "x", {.split = split}); }),
               Contains("a.h5"));
}

TEST_CASE("a file that is being written", "[io][errors]") {
  const TempDir dir;
  write_plain(dir.path("a.h5"), "x", counting({4}));
  ht::world().barrier();
  const int file = ::open(dir.path("a.h5").c_str(), O_RDWR);
  if (ht::world().rank() == 0) CHECK(::flock(file, LOCK_EX | LOCK_NB) == 0);
  CHECK_THAT(load_error<ht::IoError>(dir.path("a.h5")), Contains("another process is writing"));
  ht::world().barrier();
  ::close(file);
}

TEST_CASE("shards that do not fit together", "[io][errors]") {
  const TempDir dir;
  write_plain(dir.path("a.h5"), "x", counting({4, 3}));
  write_plain(dir.path("wide.h5"), "x", counting({4, 5}));
  write_plain(dir.path("flat.h5"), "x", counting({4}));
  write_plain(dir.path("double.h5"), "x", counting({4, 3}, at::kDouble));
  write_plain(dir.path("number.h5"), "x", counting({}));
  write_plain(dir.path("other.h5"), "y", counting({4, 3}));
  const auto with = [&](const char* other) {
    return ht::io::Source{dir.path("a.h5"), dir.path("a.h5"), dir.path(other)};
  };
  CHECK_THAT(load_error<ht::ValueError>(with("wide.h5")),
             Contains("wide.h5") && Contains("(4, 5)") && Contains("(4, 3)"));
  CHECK_THAT(load_error<ht::ValueError>(with("flat.h5")), Contains("flat.h5") && Contains("(4,)"));
  CHECK_THAT(load_error<ht::ValueError>(with("double.h5")), Contains("double.h5") && Contains("float64"));
  CHECK(ht::io::load_hdf5(with("other.h5"), "x").shape() == ht::Shape{8, 3});  // other.h5 has no rows of x
  CHECK_THAT(load_error<ht::IoError>({dir.path("other.h5"), dir.path("other.h5")}),
             Contains("2 files without an array \"x\"") && Contains("other.h5"));
  CHECK_THAT(load_error<ht::ValueError>({dir.path("number.h5"), dir.path("number.h5")}), Contains("without axes"));
}

TEST_CASE("a file that only some ranks see", "[io][errors][large]") {
  if (ht::world().size() == 1) return;
  const TempDir dir;
  const auto here = fs::current_path();
  write_plain(dir.path("only.h5"), "x", counting({8}));
  on_root([&] { fs::create_directory(dir.path("elsewhere")); });
  const bool last = ht::world().rank() == ht::world().size() - 1;
  fs::current_path(last ? dir.path("elsewhere") : dir.path(""));

  const auto one = load_error<ht::IoError>("only.h5");
  const auto many = load_error<ht::IoError>({"only.h5", "only.h5", "only.h5", "only.h5"});
  const auto saved = same_message<ht::IoError>([] { ht::io::save_hdf5(ht::arange(9, {.split = 0}), "new.h5", "x"); });

  fs::current_path(here);
  CHECK_THAT(one, Contains("only.h5") && Contains("rank " + std::to_string(ht::world().size() - 1)));
  CHECK_THAT(many, Contains("only.h5"));
  CHECK_THAT(saved, Contains("not seen on all ranks"));
  CHECK(dir.names() == std::vector<std::string>{"elsewhere", "only.h5"});
}

TEST_CASE("different files under one name", "[io][errors][large]") {
  if (ht::world().size() == 1) return;
  const TempDir dir;
  const auto here = fs::current_path();
  on_root([&] { fs::create_directory(dir.path("elsewhere")); });
  const auto write = [&](const std::string& folder, std::int64_t rows) {
    const auto x = ht::arange(rows, {.split = 0});
    for (const auto* name : {"a.h5", "a.npy"}) ht::io::save(x, dir.path(folder + name));
    for (const auto* name : {"grows.h5", "grows.zarr"}) ht::io::append_rows(x, dir.path(folder + name));
  };
  write("", 8);
  for (const std::int64_t rows : {7, 9}) {
    CAPTURE(rows);
    on_root([&] {
      fs::remove_all(dir.path("elsewhere"));
      fs::create_directory(dir.path("elsewhere"));
    });
    write("elsewhere/", rows);
    fs::current_path(ht::world().rank() == 1 ? dir.path("elsewhere") : dir.path(""));
    std::vector<std::string> texts{load_error<ht::IoError>("a.h5", "data")};
    for (const bool collective : {false, true})
      texts.push_back(
          same_message<ht::IoError>([&] { return ht::io::load("a.h5", {.split = 0, .collective = collective}); }));
    texts.push_back(same_message<ht::IoError>([] { return ht::io::load("a.npy", {.split = 0}); }));
    for (const auto* name : {"grows.h5", "grows.zarr"}) {
      const auto load = [&] { return ht::io::load(name, {.split = 0}); };
      if (rows > 8) CHECK(same(load(), counting({8}, at::kLong)));  // rows that were added later
      else texts.push_back(same_message<ht::IoError>(load));
    }
    fs::current_path(here);
    for (const auto& text : texts) CHECK_THAT(text, Contains("same file on all ranks"));
    ht::world().barrier();
  }
}

TEST_CASE("bad slices and splits", "[io][errors]") {
  const TempDir dir;
  write_plain(dir.path("a.h5"), "x", counting({4, 3}));
  const auto load = [&](const ht::io::LoadOptions& options) {
    return [&, options] { return ht::io::load_hdf5(dir.path("a.h5"), "x", options); };
  };
  const auto all = ht::slice(std::nullopt, std::nullopt);
  CHECK_THAT(same_message<ht::ValueError>(load({.slices = {all, all, all}})), Contains("got 3 slices"));
  CHECK_THAT(same_message<ht::ValueError>(load({.slices = {ht::slice(3, 0, -1)}})), Contains("got step -1"));
  CHECK_THAT(same_message<ht::ValueError>(load({.slices = {ht::slice(0, 3, 0)}})), Contains("got step 0"));
  CHECK_THAT(same_message<ht::IndexError>(load({.split = 2})), Contains("axis 2"));
}

TEST_CASE("after an error by a full disk no file remains", "[io][errors]") {
  const TempDir dir;
  const TinyDisk disk(dir);
  if (!disk.mounted()) {
    WARN("not tested: mounting a small tmpfs wants root");
    return;
  }
  const auto x = distribute(at::rand({1000, 700}), ht::Layout({1000, 700}, 0, ht::world().size()));
  const ht::io::SaveOptions each[] = {{}, {.compression = 1}, {.chunks = {100, 700}}, {.collective = true}};
  for (const auto& options : each) {
    const auto text = same_message<ht::IoError>([&] { ht::io::save_hdf5(x, disk.path("a.h5"), "x", options); });
    CHECK_THAT(text, Catch::StartsWith("[save_hdf5] got "));
    CHECK(disk.empty());
  }
  const auto shards = [&] { ht::io::save_hdf5(x, disk.path("s-{rank}.h5"), "x", {.shards = true}); };
  CHECK_THAT(same_message<ht::IoError>(shards), Contains("room"));
  CHECK(disk.empty());

  ht::io::save_hdf5(ht::arange(10, {.split = 0}), disk.path("a.h5"), "x");
  const auto replace = [&] { ht::io::save_hdf5(x, disk.path("a.h5"), "x"); };
  CHECK_FALSE(same_message<ht::IoError>(replace).empty());
  CHECK(same(ht::io::load_hdf5(disk.path("a.h5"), "x", {.split = 0}), at::arange(10)));
}

TEST_CASE("only files are replaced, and keep their permissions", "[io][errors]") {
  const TempDir dir;
  const auto x = ht::arange(6, {.split = 0});
  on_root([&] { ::mkfifo(dir.path("pipe").c_str(), 0666); });
  for (const auto* name : {"a.h5", "a.npy", "a.npz", "a.csv", "a.safetensors"}) {
    on_root([&] { fs::create_symlink("pipe", dir.path(name)); });
    CHECK_THAT(same_message<ht::IoError>([&] { ht::io::save(x, dir.path(name)); }), Contains("pipe"));
    on_root([&] {
      CHECK(fs::is_fifo(dir.path("pipe")));
      fs::remove(dir.path(name));
      std::ofstream(dir.path(name)) << "private";
      fs::permissions(dir.path(name), fs::perms(0600));
    });
    ht::io::save(x, dir.path(name));
    on_root([&] { CHECK(fs::status(dir.path(name)).permissions() == fs::perms(0600)); });
  }
  CHECK(dir.names().size() == 6);
}

TEST_CASE("fewer rows than ranks", "[io][errors]") {
  const TempDir dir;
  write_plain(dir.path("a.h5"), "x", counting({2, 3}));
  const auto x = ht::io::load_hdf5(dir.path("a.h5"), "x", {.split = 0});
  CHECK(x.lshape()[0] == (ht::world().rank() < 2 ? 2 / std::min(2, ht::world().size()) : 0));
  CHECK(same(x, counting({2, 3})));
}

TEST_CASE("HDF5's error printing is the host code's again after a load", "[io][errors]") {
  H5E_auto2_t before = nullptr, after = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data);
  CHECK_THROWS_AS(ht::io::load_hdf5("/no/such/file.h5", "x"), ht::IoError);
  H5Eget_auto2(H5E_DEFAULT, &after, &data);
  CHECK(before == after);
}
