#include "paths.hpp"

#include "../../tests/comm/one_rank/one_rank.hpp"
#include "../../tests/scratch_path.hpp"

#include <heatpp/core/detail/peers/few_ranks.hpp>
#include <heatpp/ml/cluster/detail/seeding.hpp>
#include <heatpp/ml/tree/detail/sampling/feature_keys.hpp>
#include <heatpp/ops/sorting/search.hpp>
#include <heatpp/sparse/sparse.hpp>
#include <heatpp_nn/detail/crc32c.hpp>

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace {

using one_rank::Call;
using Bytes = std::span<std::byte>;
using Entry = paths::ht::nn::detail::SectionFile::Entry;

/// Lets other ranks answer as `says` does, during a call.
template <class F>
auto while_ranks_say(one_rank::Says says, F call) {
  one_rank::let_ranks_say(std::move(says));
  auto result = call();
  one_rank::let_ranks_say({});
  return result;
}

template <class T>
void write(Bytes part, T number) {
  std::memcpy(part.data(), &number, sizeof number);
}

std::int64_t rounds_of(const paths::ht::Communicator& comm) {
  return std::bit_width(static_cast<unsigned>(comm.size() - 1));
}

}  // namespace

paths::QuotedFile::QuotedFile(const ht::Communicator& comm)
    : comm_(comm), path_(scratch_path("heatpp_counts") + ".csv"), bytes_(std::max(64 * comm.size(), 2 << 20)) {
  std::ofstream file(path_);
  for (std::int64_t i = 0; i < bytes_; i += 16) file << "\"a,\nb\",1.5,2345\n";
}
paths::QuotedFile::~QuotedFile() { std::filesystem::remove(path_); }

paths::ht::io::detail::CsvPlan paths::QuotedFile::plan() const {
  // One rank has looked at the head. The all-reduces of 8 bytes are: no failure, begin, bytes, columns, and others.
  const std::array<std::int64_t, 3> head{0, bytes_, 3};
  std::int64_t messages = 0;
  const auto says = [&](Call call, int, Bytes part) {
    if (call != Call::message || part.size() != sizeof(std::int64_t)) return;
    const auto round = messages % rounds_of(comm_), which = messages++ / rounds_of(comm_) - 1;
    if (which < 0 || which >= std::ssize(head)) return;
    write(part, round == 0 ? head[static_cast<std::size_t>(which)] : std::int64_t{0});
  };
  auto plan = while_ranks_say(says, [&] { return ht::io::detail::plan_csv({path_}, {}, 0, comm_, "load_csv"); });
  if (!plan.quotes || plan.parts.size() != 1 || plan.columns != 3) throw std::logic_error("no part of the file");
  return plan;
}

paths::Checkpoint::Checkpoint(int sections)
    : path_(scratch_path("heatpp_counts") + ".checkpoint"), sections_(sections) {
  constexpr std::int64_t magic = 0x3454504b43505048;
  const std::array<std::int64_t, 1> count{sections};
  const std::vector<Entry> table(static_cast<std::size_t>(sections));
  const auto crc =
      ht::nn::detail::crc32c(std::as_bytes(std::span(table)), ht::nn::detail::crc32c(std::as_bytes(std::span(count))));
  const std::array<std::int64_t, 3> begin{magic, sections, crc};
  std::ofstream file(path_, std::ios::binary);
  file.write(reinterpret_cast<const char*>(begin.data()), sizeof begin);
  file.write(reinterpret_cast<const char*>(table.data()), std::ssize(table) * std::int64_t{sizeof(Entry)});
  file << std::string(4096, '\0');
}
paths::Checkpoint::~Checkpoint() { std::filesystem::remove(path_); }

paths::ht::nn::detail::SectionFile paths::Checkpoint::found(const ht::Communicator& comm) const {
  const auto says = [&](Call call, int, Bytes part) {
    const std::array<std::int64_t, 3> facts{sections_, 1, 1};
    if (call == Call::broadcast && comm.rank() != 0 && part.size() == sizeof facts) write(part, facts);
  };
  auto file = while_ranks_say(says, [&] { return ht::nn::detail::SectionFile("load", comm, path_); });
  if (file.sections() != sections_ || file.parts().size() != 1) throw std::logic_error("no section");
  return file;
}

paths::ht::nn::detail::SectionWriter paths::saved(const ht::Communicator& comm) {
  std::int64_t numbers = 0;
  const auto says = [&](Call call, int, Bytes part) {  // no entry of another rank goes through this one
    if (call == Call::message && part.size() == sizeof(std::int64_t) && numbers++ < rounds_of(comm))
      write(part, std::int64_t{0});
  };
  return while_ranks_say(says, [&] {
    return ht::nn::detail::SectionWriter("save", comm, scratch_path("heatpp_counts") + ".saved", {}, {"head", {}});
  });
}

paths::ht::DNDarray paths::places(const ht::DNDarray& sorted, const ht::DNDarray& wanted) {
  const bool many = sorted.comm().size() > ht::detail::few_ranks;
  const auto says = [many](Call call, int, Bytes part) {  // no other rank wants a place of this one
    if (many && call == Call::message && part.size() == sizeof(std::int64_t)) write(part, std::int64_t{0});
  };
  return while_ranks_say(says, [&] { return ht::searchsorted(sorted, wanted); });
}

std::vector<std::uint32_t> paths::keys_of_features(const ht::Communicator& comm) {
  constexpr std::int64_t features = 8, rows = 2;
  using Record = std::array<std::int64_t, 3>;
  // In each round as much arrives as this rank has, for the last feature, which is this rank's.
  const auto says = [&](Call, int, Bytes part) {
    if (part.size() == sizeof(std::int64_t)) return write(part, 3 * features * rows);
    for (std::size_t i = 0; i < part.size(); i += sizeof(Record))
      write(part.subspan(i), Record{comm.rank(), features - 1, 5});
  };
  const ht::ml::detail::FeatureKeys<std::uint32_t> mine{rows, std::vector<std::uint32_t>(features * rows, 5)};
  return while_ranks_say(says, [&] {
    return ht::ml::detail::brought_by_parcels(mine, {features, comm.size()}, comm).keys;
  });
}

at::Tensor paths::candidates(const ht::Communicator& comm) {
  return ht::ml::detail::rows_by_place(at::ones({1, 2}, at::kDouble), comm);
}

paths::ht::sparse::DCSRMatrix paths::sparse_rows(const ht::Communicator& comm) {
  static const std::vector<std::int64_t> row_ptr{0, 2, 4, 6, 8}, columns{0, 999, 1, 999, 2, 999, 3, 999};
  static std::vector<double> values(columns.size(), 1);
  return ht::sparse::from_local({row_ptr, columns, values.data(), ht::float64}, 1000, {.split = 0, .comm = comm});
}

paths::ht::sparse::DCSRMatrix paths::balanced(const ht::sparse::DCSRMatrix& matrix) {
  const auto says = [&](Call call, int, Bytes part) {
    if (call != Call::allreduce) return;
    const auto each = matrix.rows() / matrix.comm().size();
    for (std::size_t r = 0; r < part.size() / sizeof each; ++r)
      write(part.subspan(r * sizeof each), static_cast<std::int64_t>(r) * each);
  };
  return while_ranks_say(says, [&] { return ht::sparse::balance(matrix, ht::sparse::Balance::entries); });
}
