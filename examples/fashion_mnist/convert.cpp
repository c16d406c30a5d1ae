// Turns the Fashion-MNIST files (gzipped IDX, as in Debian's dataset-fashion-mnist) into HDF5 shards.
#include <fmt/format.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <heatpp/comm/environment.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>
#include <iostream>

namespace ht = heatpp;
namespace fs = std::filesystem;

namespace {

struct Idx {
  ht::Shape shape;
  std::vector<std::uint8_t> data;
};

class GzipFile {
 public:
  explicit GzipFile(const fs::path& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {
    if (!file_) throw ht::IoError(fmt::format("[convert] got no file \"{}\"; expected one", path_.string()));
  }
  ~GzipFile() { gzclose(file_); }
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  void read(void* to, std::size_t bytes) {
    const auto got = gzread(file_, to, static_cast<unsigned>(bytes));
    if (got != static_cast<int>(bytes))
      throw ht::IoError(fmt::format("[convert] got {} bytes of \"{}\"; expected {}", got, path_.string(), bytes));
  }
  std::uint32_t big_endian() {
    std::uint8_t b[4];
    read(b, 4);
    return static_cast<std::uint32_t>(b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3]);
  }

 private:
  fs::path path_;
  gzFile file_;
};

/// IDX: two zero bytes, the type, the number of axes, the extents, the elements.
Idx read_idx(const fs::path& path) {
  GzipFile file(path);
  const auto magic = file.big_endian();
  if (magic >> 8 != 8)
    throw ht::IoError(fmt::format("[convert] got \"{}\"; expected an IDX file of bytes", path.string()));
  Idx idx;
  for (std::uint32_t axis = 0; axis < (magic & 255); ++axis) idx.shape.push_back(file.big_endian());
  idx.data.resize(static_cast<std::size_t>(ht::size_of(idx.shape)));
  file.read(idx.data.data(), idx.data.size());
  return idx;
}

void save_rows(Idx& idx, std::int64_t first, std::int64_t last, const fs::path& path, const std::string& dataset,
               bool append) {
  auto shape = idx.shape;
  const auto row = static_cast<std::int64_t>(idx.data.size()) / shape.front();
  shape.front() = last - first;
  const auto rows = ht::from_local(idx.data.data() + first * row, shape, ht::uint8, {.comm = ht::self()});
  ht::io::save_hdf5(rows, path, dataset, {.append = append});
}

/// Each rank writes every P-th shard on its own.
void convert(const fs::path& from, const std::string& source, const fs::path& to, const std::string& name, int shards) {
  auto images = read_idx(from / (source + "-images-idx3-ubyte.gz"));
  auto labels = read_idx(from / (source + "-labels-idx1-ubyte.gz"));
  const auto n = images.shape.front();
  for (int shard = ht::world().rank(); shard < shards; shard += ht::world().size()) {
    const auto path = to / fmt::format("{}-{:02}.h5", name, shard);
    const auto first = n * shard / shards, last = n * (shard + 1) / shards;
    save_rows(images, first, last, path, "images", false);
    save_rows(labels, first, last, path, "labels", true);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const ht::Environment env(argc, argv);
  fs::path from = "/usr/share/datasets/fashion-mnist", to = "data/fashion_mnist";
  int shards = 7;
  CLI::App app{"Converts Fashion-MNIST to HDF5 shards"};
  app.add_option("--from", from, "folder with the four .gz files")->capture_default_str();
  app.add_option("--to", to, "folder for train-*.h5 and test-*.h5")->capture_default_str();
  app.add_option("--shards", shards, "files for the training images")->capture_default_str()->check(CLI::Range(1, 99));
  CLI11_PARSE(app, argc, argv);
  try {
    ht::all_or_none(ht::world(), [&] {
      fs::create_directories(to);
      convert(from, "train", to, "train", shards);
      convert(from, "t10k", to, "test", 1);
    });
  } catch (const std::exception& error) {
    if (ht::world().rank() == 0) std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
  if (ht::world().rank() == 0) std::cout << fmt::format("{} shards in {}\n", shards + 1, to.string());
}
