#include <heatpp_nn/training/checkpoint_manager.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/log.hpp>
#include <heatpp_nn/training/detail/training.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <thread>

namespace heatpp::nn {

using heatpp::detail::formatted;
using heatpp::detail::raise;
namespace fs = std::filesystem;

struct CheckpointManager::UnderWay {
  std::int64_t number;
  detail::SectionWriter writer;
  std::thread thread = {};
  std::atomic<bool> written = false;
  std::array<std::int64_t, 1> by_all = {0};
  std::optional<Request> question = {};  // whether all ranks have written it

  UnderWay(std::int64_t numbered, detail::SectionWriter section) : number(numbered), writer(std::move(section)) {}
  ~UnderWay() {
    if (thread.joinable()) thread.join();
  }
};

namespace {

constexpr std::string_view prefix = "checkpoint-", suffix = ".pt";

/// Returns the number in the name of a checkpoint.
std::optional<std::int64_t> number_in(const std::string& name) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) || name.size() < prefix.size() + suffix.size() + 1)
    return std::nullopt;
  std::int64_t number = 0;
  const auto* const end = name.data() + name.size() - suffix.size();
  const auto [stop, error] = std::from_chars(name.data() + prefix.size(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

/// Removes the unfinished files of writers that were killed.
void remove_unfinished(const fs::path& folder) {
  std::vector<fs::path> left;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().starts_with(formatted(".{}", prefix))) left.push_back(entry.path());
  for (const auto& path : left) fs::remove(path, ignored);
}

}  // namespace

CheckpointManager::CheckpointManager(fs::path folder, const Communicator& comm, const CheckpointManagerOptions& options)
    : folder_(std::move(folder)), comm_(comm), options_(options) {
  if (options.keep < 1)
    raise<ValueError>("CheckpointManager", "got {} files to keep; expected at least 1", options.keep);
  all_or_none(comm_, [&] {
    std::error_code error;
    if (comm_.rank() == 0) fs::create_directories(folder_, error);
    if (error)
      raise<IoError>("CheckpointManager", "got the folder \"{}\", which cannot be made ({}); expected another one",
                     folder_.string(), error.message());
  });
}

CheckpointManager::~CheckpointManager() {
  if (std::uncaught_exceptions() > 0) return;
  try {
    finish();
  } catch (const Error& error) {
    log(LogLevel::warning, error.what());
  }
}

fs::path CheckpointManager::file(std::int64_t number) const {
  return folder_ / formatted("{}{:08}{}", prefix, number, suffix);
}

std::vector<std::int64_t> CheckpointManager::numbers() const {
  std::vector<std::int64_t> found;
  std::error_code ignored;
  if (comm_.rank() == 0)
    for (const auto& entry : fs::directory_iterator(folder_, ignored))
      if (const auto number = number_in(entry.path().filename().string())) found.push_back(*number);
  std::ranges::sort(found);
  std::array<std::int64_t, 1> count{std::ssize(found)};
  comm_.broadcast(count, 0);
  found.resize(static_cast<std::size_t>(count[0]));
  comm_.broadcast(found, 0);
  return found;
}

void CheckpointManager::save(std::int64_t number, const detail::Training& training, const Position& position,
                             const Extras& extras) {
  finish();
  under_way_ =
      std::make_unique<UnderWay>(number, detail::begin_checkpoint(file(number).string(), training, position, extras));
  if (!options_.background) {
    under_way_->writer.write();
    return finish();
  }
  under_way_->writer.own();
  under_way_->thread = std::thread([mine = under_way_.get()] {
    mine->writer.write();
    mine->written = true;
  });
}

void CheckpointManager::advance() {
  if (!under_way_) return;
  auto& mine = *under_way_;
  if (mine.question) mine.question->wait();
  if (mine.question && mine.by_all[0] != 0) return finish();
  mine.by_all[0] = mine.written;
  mine.question = comm_.iallreduce(mine.by_all, ReduceOp::min);
}

void CheckpointManager::finish() {
  if (!under_way_) return;
  const auto done = std::move(under_way_);
  if (done->question) done->question->wait();
  if (done->thread.joinable()) done->thread.join();
  done->writer.commit();
  const auto known = numbers();
  if (comm_.rank() != 0) return;
  std::error_code ignored;
  const auto beyond = std::ranges::upper_bound(known, done->number);
  for (auto i = known.begin(); i != known.end(); ++i)
    if (i >= beyond || beyond - i > options_.keep) fs::remove(file(*i), ignored);
  remove_unfinished(folder_);
}

void CheckpointManager::save(std::int64_t number, DASO& daso, const Position& position, const Extras& extras) {
  save(number, detail::Training{daso.replica(), daso.optimizer(), &daso}, position, extras);
}

void CheckpointManager::save(std::int64_t number, Replica& replica, torch::optim::Optimizer& optimizer,
                             const Position& position, const Extras& extras) {
  save(number, detail::Training{replica, optimizer, nullptr}, position, extras);
}

std::optional<Resumed> CheckpointManager::resume(const detail::Training& training) {
  finish();
  const auto known = numbers();
  std::exception_ptr of_newest;
  for (std::size_t i = known.size(); i-- > 0;) {
    try {
      return detail::load(file(known[i]).string(), training);
    } catch (const IoError& error) {
      if (!of_newest) of_newest = std::current_exception();
      log(LogLevel::warning, error.what());
    }
  }
  if (of_newest) std::rethrow_exception(of_newest);
  return std::nullopt;
}

std::optional<Resumed> CheckpointManager::resume(DASO& daso) {
  return resume(detail::Training{daso.replica(), daso.optimizer(), &daso});
}

std::optional<Resumed> CheckpointManager::resume(Replica& replica, torch::optim::Optimizer& optimizer) {
  return resume(detail::Training{replica, optimizer, nullptr});
}

}  // namespace heatpp::nn
