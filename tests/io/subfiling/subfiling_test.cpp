#include "../bytes.hpp"

#include <heatpp_io/detail/files/shard_names.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using Catch::Contains;
namespace fs = std::filesystem;

namespace {

/// Sets an environment variable until the end of its scope.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

/// With short stripes, small arrays have many of them.
Variable short_stripes() { return {"H5FD_SUBFILING_STRIPE_SIZE", "512"}; }

std::vector<std::string> subfiles_in(const TempDir& dir) {
  auto names = dir.names();
  std::erase_if(names,
                [](const auto& name) { return name.find(".subfile_") == name.npos || name.ends_with("config"); });
  return names;
}

ht::DNDarray rows_of(const at::Tensor& global) {
  const ht::Shape shape(global.sizes().begin(), global.sizes().end());
  return distribute(global, ht::Layout(shape, 0, ht::world().size()));
}

std::string refused(const std::string& path, const ht::DNDarray& x, const ht::io::SaveOptions& options) {
  return same_message<ht::ValueError>([&] { ht::io::save(x, path, options); });
}

}  // namespace

TEST_CASE("every layout goes through HDF5's subfiles", "[io][subfiling]") {
  const TempDir dir;
  const auto stripes = short_stripes();
  const auto path = dir.path("a.h5");
  const ht::Shape shape = GENERATE(ht::Shape{53, 17}, ht::Shape{2}, ht::Shape{0, 3});
  const auto global = counting(shape, at::kDouble);
  for (const auto& layout : every_layout(shape)) {
    ht::io::save(distribute(global, layout), path, {.dataset = "g/x", .subfiles = 3});
    CHECK(std::ssize(dir.names()) == 5);
    CHECK(same(ht::io::load(path, {.dataset = "g/x", .split = layout.split()}), global));
  }
}

TEST_CASE("other ranks read the subfiles of some", "[io][subfiling]") {
  const TempDir dir;
  const auto stripes = short_stripes();
  const auto path = dir.path("a.h5");
  const auto global = counting({53, 17}, at::kDouble);
  const auto rank = ht::world().rank(), last = ht::world().size() - 1;
  const auto some = *ht::world().split(rank == last ? 1 : 0);  // the last rank alone, and all ranks before it
  if (rank == last) ht::io::save(ht::from_tensor(global, {.split = 0, .comm = some}), path, {.subfiles = 3});
  ht::world().barrier();
  CHECK(same(ht::io::load(path, {.split = 0}), global));
  if (rank != last)
    CHECK(equals(ht::resplit(ht::io::load(path, {.split = 1, .comm = some}), std::nullopt).larray(), global));
  ht::world().barrier();
  if (rank != last) ht::io::save(ht::from_tensor(global + 1, {.split = 1, .comm = some}), path, {.subfiles = 2});
  ht::world().barrier();
  if (last > 0) CHECK(same(ht::io::load(path, {.split = 1}), global + 1));
}

TEST_CASE("subfiles that HDF5 has made for others load", "[io][subfiling]") {
  const TempDir dir;
  const auto stripes = short_stripes();
  const auto path = dir.path("a.h5");
  const auto global = counting({53, 17}, at::kDouble);
  const auto version = GENERATE(H5F_LIBVER_EARLIEST, H5F_LIBVER_V18, H5F_LIBVER_V110);  // superblocks 0, 2, 3
  on_root([&] {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_mpi_params(access, MPI_COMM_SELF, MPI_INFO_NULL);
    H5Pset_fapl_subfiling(access, nullptr);
    H5Pset_libver_bounds(access, version, H5F_LIBVER_LATEST);
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const std::array<hsize_t, 2> extents{53, 17};
    const hid_t space = H5Screate_simple(2, extents.data(), nullptr);
    const hid_t x = H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(x, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, global.const_data_ptr());
    for (const hid_t id : {x, space, file, access}) H5Idec_ref(id);
  });
  CHECK(same(ht::io::load(path, {.split = 0}), global));
}

TEST_CASE("HDF5 deals the elements evenly to its subfiles", "[io][subfiling]") {
  const TempDir dir;
  const auto stripes = short_stripes();
  const auto global = counting({64, 64}, at::kDouble);
  ht::io::save(rows_of(global), dir.path("a.h5"), {.subfiles = 4});

  const auto names = subfiles_in(dir);
  CHECK(names.size() == 4);
  for (const auto& name : names) {
    const auto bytes = fs::file_size(dir.path(name));
    CHECK((bytes >= 8192 && bytes < 8192 + 4096));
  }
  CHECK(ht::io::io_report().reason.find("subfiles") != std::string::npos);
}

TEST_CASE("chunks go through HDF5's subfiles", "[io][subfiling]") {
  const TempDir dir;
  const auto stripes = short_stripes();
  const auto global = counting({53, 17}, at::kDouble);
  for (const auto& options :
       {ht::io::SaveOptions{.chunks = {10, 5}, .subfiles = 2}, ht::io::SaveOptions{.compression = 4, .subfiles = 2},
        ht::io::SaveOptions{.compression = "zstd", .subfiles = 2}})
    for (const int split : {0, 1}) {
      ht::io::save(distribute(global, ht::Layout({53, 17}, split, ht::world().size())), dir.path("a.h5"), options);
      CHECK(same(ht::io::load(dir.path("a.h5"), {.split = split}), global));
    }
}

TEST_CASE("parts and pieces of arrays in subfiles are as without", "[io][subfiling]") {
  const TempDir dir;
  const auto stripes = short_stripes();
  const auto path = dir.path("a.h5");
  const auto global = counting({53, 17}, at::kDouble);
  ht::io::save(rows_of(global), path, {.subfiles = 2});
  CHECK(same(ht::io::load(path, {.split = 0, .slices = {ht::slice(1, 50, 3)}, .collective = true}),
             global.slice(0, 1, 50, 3)));
  const auto rows = ht::io::StoredRows(path, "data").read(std::vector<std::int64_t>{3, 4, 52});
  CHECK(equals(rows, global.index_select(0, at::tensor({3, 4, 52}))));
  ht::io::StoredArray stored(path);
  CHECK(same(stored.rows(10, 20), global.narrow(0, 10, 20)));
  CHECK(same(ht::io::load(path, {.split = 1}), global));  // while it is open
  ht::io::convert(stored, dir.path("b.h5"), {.save = {.subfiles = 3}, .piece_bytes = 2000});
  CHECK(same(ht::io::load(dir.path("b.h5"), {.split = 1}), global));
  CHECK(std::ssize(dir.names()) == 4 + 5);
}

TEST_CASE("subfiles are replaced with their file", "[io][subfiling]") {
  const TempDir dir;
  const auto first = counting({8, 4}), second = counting({5, 3}, at::kInt);
  const auto path = dir.path("a.h5");
  ht::io::save(rows_of(first), path, {.subfiles = 3});
  ht::io::save(rows_of(second), path, {.subfiles = 2});
  CHECK(std::ssize(subfiles_in(dir)) == 2);
  CHECK(same(ht::io::load(path), second));

  ht::io::save(rows_of(first), path);
  CHECK(dir.names() == std::vector<std::string>{"a.h5"});
  CHECK(same(ht::io::load(path), first));

  const auto shard = ht::io::detail::shard_names(dir.path("{rank}.h5"), ht::world(), {"test", ".h5"})[0];
  ht::io::save(rows_of(first), shard, {.subfiles = 2});
  ht::io::save(rows_of(first), dir.path("{rank}.h5"), {.shards = true});
  CHECK(subfiles_in(dir).empty());
  CHECK(std::ssize(dir.names()) == 1 + ht::world().size());
}

TEST_CASE("subfiles are named after the file that a link leads to", "[io][subfiling]") {
  const TempDir dir;
  const auto global = counting({8, 4});
  on_root([&] { fs::create_symlink("to.h5", dir.path("link.h5")); });
  ht::io::save(rows_of(global), dir.path("link.h5"), {.subfiles = 2});
  CHECK(same(ht::io::load(dir.path("link.h5")), global));
  CHECK(same(ht::io::load(dir.path("to.h5")), global));
  ht::io::save(rows_of(global), dir.path("link.h5"));
  CHECK(dir.names() == std::vector<std::string>{"link.h5", "to.h5"});
}

TEST_CASE("options that subfiles exclude are an error on all ranks", "[io][subfiling]") {
  const TempDir dir;
  const auto path = dir.path("a.h5");
  const auto x = ht::ones({6, 4}, {.split = 0});
  CHECK_THAT(refused(path, x, {.subfiles = -1}), Contains("got -1 subfiles"));
  CHECK_THAT(refused(path, ht::ones({}), {.subfiles = 2}), Contains("shape ()"));
  CHECK_THAT(refused(path, x, {.append = true, .subfiles = 2}), Contains("for 2 subfiles"));
  CHECK_THAT(refused(path, x, {.shards = true, .subfiles = 2}), Contains("for 2 subfiles"));
  CHECK_THAT(refused(path, x, {.grows = true, .subfiles = 2}), Contains("for 2 subfiles"));
  CHECK_THAT(refused(path, x, {.collective = true, .subfiles = 2}), Contains("for 2 subfiles"));
  CHECK_THAT(refused(dir.path("a.npy"), x, {.subfiles = 2}), Contains("subfiles"));
  CHECK_THAT(refused(dir.path("a.zarr"), x, {.subfiles = 2}), Contains("subfiles"));
  CHECK_THAT(refused(dir.path("a.nc"), x, {.subfiles = 2}), Contains("subfiles"));
  for (const auto* name : {"H5FD_SUBFILING_SUBFILE_PREFIX", "H5FD_SUBFILING_CONFIG_FILE_PREFIX"}) {
    const Variable elsewhere(name, dir.path("elsewhere"));
    CHECK_THAT(same_message<ht::IoError>([&] { ht::io::save(x, path, {.subfiles = 2}); }), Contains(name));
  }
  CHECK_THAT(same_message<ht::IoError>([&] { ht::io::save(x, dir.path("no/a.h5"), {.subfiles = 2}); }),
             Contains("no/a.h5"));
  // The subfiles exist now.
  CHECK_THAT(same_message<ht::IoError>([&] { ht::io::save(x, path, {.dataset = ".", .subfiles = 2}); }),
             Contains("cannot be made"));
  CHECK(dir.names().empty());

  ht::io::save(x, path, {.subfiles = 2});
  CHECK_THAT(same_message<ht::IoError>([&] { ht::io::save(x, path, {.dataset = ".", .subfiles = 3}); }),
             Contains("cannot be made"));
  CHECK_THAT(same_message<ht::IoError>([&] { ht::io::append_rows(x, path); }), Contains("in subfiles"));
  CHECK_THAT(same_message<ht::IoError>([&] { ht::io::save(x, path, {.dataset = "y", .append = true}); }),
             Contains("in subfiles"));
  CHECK(same(ht::io::load(path, {.split = 0}), at::ones({6, 4})));
  CHECK(std::ssize(dir.names()) == 4);

  const auto gone = dir.path(subfiles_in(dir)[1]);
  on_root([&] { fs::remove(gone); });
  CHECK_THAT(same_message<ht::IoError>([&] { static_cast<void>(ht::io::load(path, {.split = 0})); }),
             Contains("a.h5") && Contains("cannot be opened"));
}

TEST_CASE("a file that h5fuse has joined does not need its subfiles", "[io][subfiling]") {
  const TempDir dir;
  const auto stripes = short_stripes();
  const auto global = counting({53, 17}, at::kDouble);
  const auto path = dir.path("a.h5");
  ht::io::save(rows_of(global), path, {.subfiles = 2});
  const auto names = subfiles_in(dir);
  on_root([&] {  // as the script: stripes in turn, until there are none
    std::array<std::ifstream, 2> parts{std::ifstream(dir.path(names[0])), std::ifstream(dir.path(names[1]))};
    std::ofstream whole(path, std::ios::in);
    std::array<char, 512> stripe{};
    for (std::size_t i = 0; parts[i % 2].read(stripe.data(), 512), parts[i % 2].gcount() > 0; ++i)
      whole.write(stripe.data(), parts[i % 2].gcount());
    for (const auto& name : names) fs::remove(dir.path(name));
  });
  CHECK(same(ht::io::load(path, {.split = 0}), global));
  ht::io::save(rows_of(global), path, {.dataset = "y", .append = true});
  CHECK(same(ht::io::load(path, {.dataset = "y", .split = 1}), global));
}

TEST_CASE("a plain file is one beside the subfiles of another that had its inode", "[io][subfiling]") {
  const TempDir dir;
  const auto path = dir.path("a.h5");
  ht::io::save(rows_of(counting({6, 4})), path, {.subfiles = 2});
  write_plain(dir.path("b.h5"), "data", counting({3, 3}));
  on_root([&] { fs::copy_file(dir.path("b.h5"), path, fs::copy_options::overwrite_existing); });
  CHECK(std::ssize(subfiles_in(dir)) == 2);
  CHECK(same(ht::io::load(path), counting({3, 3})));
  ht::io::save(rows_of(counting({6, 4})), path, {.dataset = "y", .append = true});
  CHECK(same(ht::io::load(path, {.dataset = "y"}), counting({6, 4})));
  CHECK(dir.names() == std::vector<std::string>{"a.h5", "b.h5"});
}

TEST_CASE("with fewer threads in MPI subfiles are errors", "[.few_threads]") {
  const TempDir dir;
  CHECK_THAT(same_message<ht::CommError>([&] {
               ht::io::save(ht::ones({6, 4}), dir.path("a.h5"), {.subfiles = 2});
             }),
             Contains("MPI_THREAD_MULTIPLE"));
  CHECK(dir.names().empty());
}
