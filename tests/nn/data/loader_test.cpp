#include "../training.hpp"
#include "../../io/files.hpp"

#include <heatpp_nn/data/data_loader.hpp>
#include <heatpp_nn/data/torch_data.hpp>

#include <filesystem>
#include <map>
#include <torch/data.h>

using namespace heatpp::nn;

namespace {

constexpr std::int64_t n = 103;

/// Row i has the inputs 2 i and 2 i + 1, and the target i.
at::Tensor all_inputs() { return torch::arange(2 * n, torch::kDouble).view({n, 2}); }
at::Tensor all_targets() { return torch::arange(n, torch::kLong); }

/// Returns a dataset in memory with an uneven split: rank 0 has 10 rows more than its share.
Dataset samples_in_memory(std::int64_t window_bytes = std::int64_t{64} << 20) {
  const auto even = ht::Layout({n}, 0, ht::world().size());
  auto offsets = even.offsets();
  for (std::size_t r = 1; r + 1 < offsets.size(); ++r) offsets[r] += 10;
  const ht::Layout cut({n}, 0, offsets);
  const auto rank = ht::world().rank();
  const auto block = [&](const at::Tensor& x) { return x.narrow(0, cut.offset(rank), cut.count(rank)).clone(); };
  return {ht::from_local(block(all_inputs()), {.split = 0}),
          ht::from_local(block(all_targets()), {.split = 0}),
          {.window_bytes = window_bytes}};
}

/// Three files with these rows; the second one has compressed chunks.
class Files {
 public:
  Files() {
    on_root([&] {
      std::int64_t first = 0;
      for (const std::int64_t rows : {30, 50, 23}) {
        const hid_t file =
            H5Fcreate(path("part-" + std::to_string(first) + ".h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        write(file, "x", all_inputs().narrow(0, first, rows), rows == 50);
        write(file, "y", all_targets().narrow(0, first, rows), rows == 50);
        H5Fclose(file);
        first += rows;
      }
    });
  }
  [[nodiscard]] Dataset dataset(std::int64_t window_bytes = std::int64_t{64} << 20) const {
    return Dataset::from_hdf5(dir_.path("part-*.h5"), {.inputs = "x", .targets = "y", .window_bytes = window_bytes});
  }
  [[nodiscard]] std::string path(const std::string& name) const { return dir_.path(name); }

 private:
  static void write(hid_t file, const char* name, const at::Tensor& rows, bool compressed) {
    const std::vector<hsize_t> extents(rows.sizes().begin(), rows.sizes().end());
    auto chunk = extents;
    chunk[0] = 8;
    const auto ndim = static_cast<int>(extents.size());
    const hid_t space = H5Screate_simple(ndim, extents.data(), nullptr), create = H5Pcreate(H5P_DATASET_CREATE);
    if (compressed) {
      H5Pset_chunk(create, ndim, chunk.data());
      H5Pset_deflate(create, 1);
    }
    const hid_t type = native_type(rows), set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data_ptr());
    for (const hid_t id : {set, create, space}) H5Idec_ref(id);
  }

  TempDir dir_;
};

std::vector<std::int64_t> everywhere(const std::vector<std::int64_t>& mine) {
  const auto all = ht::from_local(torch::tensor(mine, torch::kLong), {.split = 0});
  return all.to_vector<std::int64_t>();
}

/// Returns the targets of all ranks in each batch of an epoch, sorted. Fails if inputs do not belong to them.
std::vector<std::vector<std::int64_t>> batches_of(DataLoader& loader, std::int64_t epoch, std::int64_t first = 0) {
  std::vector<std::vector<std::int64_t>> found;
  for (const auto& [inputs, targets] : loader.epoch(epoch, first)) {
    CHECK(equals(inputs.select(1, 0), (2 * targets).to(inputs.scalar_type())));
    CHECK(equals(inputs.select(1, 1), (2 * targets + 1).to(inputs.scalar_type())));
    found.push_back(everywhere({targets.data_ptr<std::int64_t>(), targets.data_ptr<std::int64_t>() + targets.numel()}));
    std::ranges::sort(found.back());
  }
  return found;
}

std::multiset<std::int64_t> joined(const std::vector<std::vector<std::int64_t>>& batches) {
  std::multiset<std::int64_t> all;
  for (const auto& batch : batches) all.insert(batch.begin(), batch.end());
  return all;
}

const std::multiset<std::int64_t>& every_row() {
  static const std::multiset<std::int64_t> rows = [] {
    const auto all = all_targets();
    return std::multiset<std::int64_t>(all.data_ptr<std::int64_t>(), all.data_ptr<std::int64_t>() + n);
  }();
  return rows;
}

}  // namespace

TEST_CASE("With join every row is trained once, in every order and from everywhere", "[nn][loader]") {
  const Files files;
  for (const auto shuffle : {Shuffle::none, Shuffle::local, Shuffle::blocks, Shuffle::global})
    for (const auto& dataset : {samples_in_memory(), samples_in_memory(200), files.dataset(), files.dataset(200)}) {
      DataLoader loader(dataset,
                        {.batch_size = 4, .shuffle = shuffle, .remainder = Remainder::join, .block = 5, .mix = 3});

      const auto batches = batches_of(loader, 3);

      CHECK(std::ssize(batches) == loader.batches());
      CHECK(joined(batches) == every_row());
      for (std::int64_t b = 0; b < loader.batches(); ++b)
        CHECK(std::ssize(batches[static_cast<std::size_t>(b)]) == loader.sampler().total(b));
    }
}

TEST_CASE("A global order is the same in memory and in files, and at any number of ranks", "[nn][loader]") {
  const Files files;
  const SamplerOptions options{.batch_size = 12 / ht::world().size(), .shuffle = Shuffle::global, .seed = 5};
  DataLoader memory(samples_in_memory(), options), stored(files.dataset(500), options);
  // One rank with batches of 12 uses these rows.
  const DistributedSampler one(ht::Layout({n}, 0, 1), 0, {.batch_size = 12, .shuffle = Shuffle::global, .seed = 5});

  for (const std::int64_t epoch : {0, 1}) {
    const auto batches = batches_of(memory, epoch);
    CHECK(batches == batches_of(stored, epoch));
    CHECK(std::ssize(batches) == one.batches());
    for (std::int64_t b = 0; b < one.batches(); ++b) {
      const auto expected = std::get<0>(one.rows(epoch, b, b + 1).sort());
      CHECK(equals(torch::tensor(batches[static_cast<std::size_t>(b)], torch::kLong), expected));
    }
  }
}

TEST_CASE("a loader continues at any batch", "[nn][loader]") {
  const Files files;
  for (const auto& dataset : {samples_in_memory(300), files.dataset(300)}) {
    const SamplerOptions options{.batch_size = 3, .shuffle = Shuffle::global, .seed = 2, .remainder = Remainder::pad};
    DataLoader loader(dataset, options), resumed(dataset, options);
    const auto whole = batches_of(loader, 7);
    CHECK(loader.position() == Position{2, 7, loader.batches(), 3 * loader.batches() * ht::world().size()});
    for (std::int64_t b = 0; b <= loader.batches(); b += 4) {
      const auto rest = batches_of(resumed, 7, b);
      CHECK(std::equal(rest.begin(), rest.end(), whole.begin() + b, whole.end()));
    }
    for (const auto& batch : loader.epoch(1)) {
      (void)batch;
      if (loader.position().batch == 2) break;
    }
    std::int64_t left = 0;
    for (const auto& batch : resumed.epoch(loader.position())) left += batch.targets.numel() > 0;
    CHECK(left == loader.batches() - 2);
    CHECK_THROWS_AS(loader.epoch({3, 0, 0}), ht::ValueError);
    CHECK_THROWS_AS(loader.epoch(0, loader.batches() + 1), ht::ValueError);
  }
}

TEST_CASE("A file that is cut off is an error on all ranks at the next batches", "[nn][loader]") {
  const Files files;
  DataLoader loader(files.dataset(200), {.batch_size = 2, .shuffle = Shuffle::none});
  int batches = 0;

  const auto message = same_message<ht::IoError>([&] {
    for (const auto& batch : loader.epoch(0)) {
      (void)batch;
      ++batches;
      on_root([&] { std::filesystem::resize_file(files.path("part-80.h5"), 1000); });
    }
  });

  CHECK_THAT(message, Catch::Contains("part-80.h5"));
  CHECK(batches > 0);
}

TEST_CASE("Batches do not depend on the threads that prepare them", "[nn][loader]") {
  const Files files;
  const auto rows_of_epoch = [](const Dataset& dataset, const SamplerOptions& options, const PrefetchOptions& prefetch,
                                std::int64_t first) {
    DataLoader loader(dataset, options, {normalise(3.0, 2.0), random_flip()});
    loader.prefetch(prefetch);
    std::vector<at::Tensor> found;
    for (const auto& [inputs, targets] : loader.epoch(2, first)) {
      found.push_back(inputs.clone());
      found.push_back(targets.clone());
    }
    CHECK(loader.position().batch == loader.batches());
    return found;
  };
  for (const auto shuffle : {Shuffle::none, Shuffle::blocks, Shuffle::global})
    for (const auto& dataset : {samples_in_memory(250), files.dataset(250)}) {
      const SamplerOptions options{.batch_size = 3, .shuffle = shuffle, .seed = 8, .remainder = Remainder::join};
      const auto plain = rows_of_epoch(dataset, options, {}, 0), rest = rows_of_epoch(dataset, options, {}, 3);
      for (const auto& prefetch : {PrefetchOptions{.readers = 3},
                                   {.workers = 1},
                                   {.readers = 2, .workers = 4},
                                   {.workers = 2, .device = at::Device(at::kCPU)}}) {
        CHECK(equal(rows_of_epoch(dataset, options, prefetch, 0), plain));
        CHECK(equal(rows_of_epoch(dataset, options, prefetch, 3), rest));
      }
    }
  DataLoader loader(samples_in_memory(), {.batch_size = 2});
  CHECK_THROWS_AS(loader.prefetch({.readers = 0}), ht::ValueError);
  CHECK_THROWS_AS(loader.prefetch({.workers = -1}), ht::ValueError);
}

TEST_CASE("an error of a reading or preparing thread is thrown to the user of the batches", "[nn][loader]") {
  const Files files;
  // A window has one batch, so that some are read after the first one is used.
  DataLoader loader(files.dataset(48), {.batch_size = 2, .shuffle = Shuffle::none});
  loader.prefetch({.readers = 3, .workers = 2});
  int batches = 0;
  const auto message = same_message<ht::IoError>([&] {
    for (const auto& batch : loader.epoch(0)) {
      (void)batch;
      if (batches++ == 0) on_root([&] { std::filesystem::resize_file(files.path("part-80.h5"), 1000); });
    }
  });
  CHECK_THAT(message, Catch::Contains("part-80.h5"));
  CHECK(batches > 0);

  DataLoader transformed(samples_in_memory(), {.batch_size = 2},
                         {[](Batch&, const BatchContext&) { throw ht::ValueError("[transform] got a bad row"); }});
  transformed.prefetch({.workers = 3});
  CHECK_THROWS_AS(*transformed.epoch(0).begin(), ht::ValueError);
}

TEST_CASE("Datasets in files that do not fit are refused on all ranks", "[nn][loader]") {
  const Files files;
  write_plain(files.path("odd.h5"), "x", counting({5, 2}));
  CHECK(same_message<ht::IoError>(
            [&] { (void)Dataset::from_hdf5(files.path("odd.h5"), {.inputs = "x", .targets = "y"}); }) != "");
  CHECK_THROWS_AS(Dataset::from_hdf5(files.path("none.h5")), ht::IoError);
  CHECK_THROWS_AS(files.dataset().inputs(), ht::ValueError);
  CHECK(equals(files.dataset().rows(torch::tensor({70, 3})).targets, torch::tensor({70, 3})));
  CHECK_THROWS_AS(files.dataset().rows(torch::tensor({0, 103})), ht::IndexError);
  CHECK_THROWS_AS(samples_in_memory().rows(torch::tensor({-1})), ht::IndexError);
}

TEST_CASE("A split has exact, disjoint parts, the same in memory and in files", "[nn][loader]") {
  const Files files;
  std::map<bool, std::multiset<std::int64_t>> held_out;
  for (const auto& dataset : {samples_in_memory(), files.dataset()}) {
    const auto [training, validation] = train_validation_split(dataset, {.validation = 0.25, .seed = 4});
    CHECK(validation.size() == 26);
    CHECK(training.size() == n - 26);
    std::multiset<std::int64_t> both;
    for (const auto& part : {training, validation}) {
      DataLoader loader(part, {.batch_size = 6, .shuffle = Shuffle::global, .remainder = Remainder::join});
      const auto rows = joined(batches_of(loader, 0));
      both.insert(rows.begin(), rows.end());
      held_out[dataset.is_stored()] = rows;
    }
    CHECK(both == every_row());
  }
  CHECK(held_out[false] == held_out[true]);
  CHECK_THROWS_AS(train_validation_split(samples_in_memory(), {.validation = 1.5}), ht::ValueError);
}

TEST_CASE("Transforms depend on the row and the epoch, wherever a row is", "[nn][loader]") {
  const auto images = torch::arange(n * 6, torch::kByte).view({n, 2, 3});
  const auto rank = ht::world().rank();
  const ht::Layout cut({n}, 0, ht::world().size());
  const auto block = images.narrow(0, cut.offset(rank), cut.count(rank)).clone();
  const Dataset dataset(
      ht::from_local(block, {.split = 0}),
      ht::from_local(all_targets().narrow(0, cut.offset(rank), cut.count(rank)).clone(), {.split = 0}));
  DataLoader loader(dataset, {.batch_size = 5, .shuffle = Shuffle::global, .seed = 9, .remainder = Remainder::join},
                    {normalise(1.0, 2.0), random_flip()});
  std::int64_t flipped = 0;

  for (const auto& [inputs, targets] : loader.epoch(2))
    for (std::int64_t i = 0; i < targets.numel(); ++i) {
      const auto row = targets[i].item<std::int64_t>();
      const auto plain = (images[row].to(torch::kFloat) - 1) / 2;
      const bool turned = random_of_row({9, 2, {}}, row, 1) < 0.5;
      CHECK(equals(inputs[i], turned ? plain.flip(-1) : plain));
      flipped += turned;
    }

  const auto all = everywhere({flipped});
  const auto total = std::accumulate(all.begin(), all.end(), std::int64_t{0});
  CHECK(total > 30);
  CHECK(total < 73);
}

TEST_CASE("a shift moves pictures and fills with zeros", "[nn][loader]") {
  const auto pictures = torch::ones({200, 1, 6, 6});
  Batch batch{pictures.clone(), {}};
  const auto shift = random_shift({.most = 2});

  shift(batch, {1, 0, torch::arange(200)});

  const auto left = batch.inputs.sum({1, 2, 3});
  CHECK(left.min().item<double>() == 16);
  CHECK(left.max().item<double>() == 36);
  CHECK(for_all(batch.inputs, batch.inputs.eq(0).logical_or(batch.inputs.eq(1))));
}

TEST_CASE("Fields that are targets move with the inputs, classes do not", "[nn][loader]") {
  const BatchContext context{1, 0, torch::arange(50)};
  const auto x = torch::rand({50, 2, 4, 4});
  for (const auto& transform : {random_flip(), random_shift({.most = 1})}) {
    Batch fields{x.clone(), x.narrow(1, 0, 1).clone()}, without_channel{x.clone(), x.select(1, 0).clone()};
    Batch classes{x.clone(), torch::arange(50)}, one_hot{x.clone(), torch::eye(50).narrow(1, 0, 4).clone()};
    const auto hot = one_hot.targets.clone();

    for (auto* batch : {&fields, &without_channel, &classes, &one_hot}) transform(*batch, context);

    CHECK_FALSE(fields.inputs.equal(x));
    CHECK(equals(fields.targets, fields.inputs.narrow(1, 0, 1)));
    CHECK(equals(without_channel.targets, fields.inputs.select(1, 0)));
    CHECK(equals(classes.targets, torch::arange(50)));
    CHECK(equals(one_hot.targets, hot));
  }
  Batch alone{x.clone(), x.clone()};
  random_flip({.targets = Targets::stay})(alone, context);
  CHECK(equals(alone.targets, x));
  CHECK_THROWS_AS(random_flip({.axis = 0})(alone, context), ht::ValueError);
  CHECK_THROWS_AS(random_flip({.axis = 4})(alone, context), ht::ValueError);
}

TEST_CASE("LibTorch's own loaders take a dataset", "[nn][loader]") {
  const Files files;
  for (const auto& dataset : {samples_in_memory(), files.dataset()}) {
    const TorchDataset source(dataset);
    const auto size = *source.size();
    auto loader =
        torch::data::make_data_loader(source, torch::data::samplers::RandomSampler(static_cast<std::int64_t>(size)),
                                      torch::data::DataLoaderOptions().batch_size(7).workers(2));
    std::multiset<std::int64_t> seen;
    for (auto& batch : *loader) {
      CHECK(equals(batch.data.select(1, 0), (2 * batch.target).to(batch.data.scalar_type())));
      for (std::int64_t i = 0; i < batch.target.numel(); ++i) seen.insert(batch.target[i].item<std::int64_t>());
    }
    CHECK(seen.size() == size);
    if (dataset.is_stored()) CHECK(seen == every_row());
    else CHECK(*seen.begin() == dataset.layout().offset(ht::world().rank()));
  }
}
