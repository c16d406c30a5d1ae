#include "training.hpp"
#include "../support.hpp"

#include <heatpp_nn/detail/crc32c.hpp>
#include <heatpp_nn/logging/detail/event_file.hpp>
#include <heatpp_nn/logging/loss_plot.hpp>
#include <heatpp_nn/logging/progress_bar.hpp>
#include <heatpp_nn/logging/tensorboard.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace heatpp::nn;
namespace event = heatpp::nn::detail;

namespace {

std::uint32_t crc_of(std::string_view text) { return event::crc32c(std::as_bytes(std::span(text))); }

template <class T>
T number_at(const std::string& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// Returns the records of an event file. Fails if a length or checksum is wrong.
std::vector<std::string> records_of(const std::string& file) {
  const auto unmasked = [](std::uint32_t masked) {
    const auto rotated = masked - 0xa282ead8u;
    return rotated >> 17 | rotated << 15;
  };
  std::vector<std::string> records;
  for (std::size_t at = 0; at < file.size();) {
    const auto length = number_at<std::uint64_t>(file, at);
    REQUIRE(at + 16 + length <= file.size());
    CHECK(unmasked(number_at<std::uint32_t>(file, at + 8)) == crc_of(file.substr(at, 8)));
    records.push_back(file.substr(at + 12, length));
    CHECK(unmasked(number_at<std::uint32_t>(file, at + 12 + length)) == crc_of(records.back()));
    at += 16 + length;
  }
  return records;
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// Whether every element of an XML text is closed in the right order.
bool is_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (auto at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    const auto end = xml.find('>', at);
    if (end == std::string::npos || xml.find('<', at + 1) < end) return false;
    const auto tag = xml.substr(at + 1, end - at - 1);
    const auto name = tag.substr(0, tag.find_first_of(" /", 1));
    if (tag[0] == '?' || tag.back() == '/') continue;
    if (tag[0] != '/') open.push_back(name);
    else if (open.empty() || "/" + open.back() != tag) return false;
    else open.pop_back();
  }
  return open.empty();
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// Runs with other numbers of ranks may use the same folder at the same time.
std::string out() { return "nn_output_test." + std::to_string(ht::world().size()); }

}  // namespace

TEST_CASE("CRC-32C equals its published values", "[nn][tensorboard]") {
  CHECK(crc_of("123456789") == 0xe3069283);
  CHECK(crc_of("") == 0);
  CHECK(crc_of(std::string(32, '\0')) == 0x8a9136aa);  // RFC 3720
  CHECK(crc_of(std::string(32, '\xff')) == 0x62a8ab43);
  CHECK(event::crc32c(std::as_bytes(std::span(std::string_view("6789"))), crc_of("12345")) == 0xe3069283);
  std::string text;
  std::uint32_t one_by_one = 0;
  for (int i = 0; i < 1003; ++i) {
    text.push_back(static_cast<char>(37 * i));
    one_by_one = event::crc32c(std::as_bytes(std::span(text).last(1)), one_by_one);
  }
  CHECK(crc_of(text) == one_by_one);
}

TEST_CASE("A scalar event has protobuf's wire format", "[nn][tensorboard]") {
  const std::string expected(
      "\x09\0\0\0\0\0\0\xf8\x3f"  // 1: 1.5
      "\x10\xac\x02"              // 2: 300
      "\x2a\x0d\x0a\x0b"          // 5: 13 bytes, 1: 11 bytes
      "\x0a\x04loss"              // 1: "loss"
      "\x15\0\0\x80\x3e",         // 2: 0.25f
      27);

  CHECK(event::scalar_event({1.5, 300, "loss"}, 0.25f) == expected);
}

TEST_CASE("TensorBoard files hold the version and every scalar", "[nn][tensorboard]") {
  TensorBoardWriter writer(ht::world(), out());
  for (int step = 0; step < 3; ++step) writer.scalar("train/loss", 1.0 / (step + 1), step);
  writer.flush();

  CHECK(writer.path().empty() == (ht::world().rank() != 0));
  if (ht::world().rank() == 0) {
    const auto records = records_of(text_of(writer.path()));
    CHECK(records.size() == 4);
    CHECK(records[0].substr(9) ==
          "\x1a\x0d"
          "brain.Event:2");
    CHECK(records[3].substr(9) == event::scalar_event({0, 2, "train/loss"}, 1.0f / 3).substr(9));
    std::filesystem::remove_all(out());
  }
}

TEST_CASE("A folder that cannot be made is an error on all ranks", "[nn][tensorboard]") {
  const auto message = message_of<ht::IoError>([] { TensorBoardWriter(ht::world(), "/proc/none"); });

  CHECK_THAT(message, Catch::Contains("/proc/none"));
}

TEST_CASE("A progress line shows share, time left, rate and loss", "[nn][progress]") {
  const Progress half{.label = "epoch 1", .done = 50, .total = 100, .samples = 6400, .seconds = 90, .loss = 0.5};

  CHECK(progress_line(half, 10) == "epoch 1 [#####.....]  50 % 50/100, 01:30 left, 71 samples/s, loss 0.5000");
  CHECK_THAT(progress_line({.label = "x", .total = 5}, 4), Catch::Contains("x [....]   0 % 0/5, --:-- left"));
}

TEST_CASE("A progress bar redraws one line in a terminal and is silent on other ranks", "[nn][progress]") {
  std::ostringstream terminal, file;
  ProgressBar redrawn(ht::world(), {.total = 3, .label = "t", .out = &terminal, .terminal = true});
  ProgressBar lines(ht::world(), {.total = 3, .label = "f", .out = &file, .terminal = false});
  for (int i = 0; i < 3; ++i) {
    redrawn.update(4, 1.0);
    lines.update(4, 1.0);
  }
  redrawn.finish();
  lines.finish();

  const bool first = ht::world().rank() == 0;
  CHECK(terminal.str().empty() == !first);
  CHECK(count(terminal.str(), "\n") == first);
  CHECK(count(terminal.str(), "\r") == 2 * first);  // the first and the last batch
  CHECK(count(file.str(), "\n") == 2 * first);
  CHECK(count(file.str(), "\r") == 0);
  if (first) CHECK_THAT(file.str(), Catch::Contains("100 % 3/3"));
}

TEST_CASE("A loss plot is well-formed and has its phases and legend", "[nn][plot]") {
  LossPlot plot({.title = "a < b & c"});
  plot.add_curve("train", {0, 1, 2, 3}, {2.0, 1.0, std::nan(""), 0.5});
  plot.add_curve("test", {0, 3}, {1.5, 0.7});
  plot.shade_phases({{0, DasoEvent::Kind::phase, Phase::warmup},
                     {1, DasoEvent::Kind::phase, Phase::cycle},
                     {1, DasoEvent::Kind::start, Phase::cycle},
                     {3, DasoEvent::Kind::phase, Phase::cooldown}},
                    4);

  const auto svg = plot.svg();

  CHECK(is_well_formed(svg));
  CHECK(count(svg, "<path") == 2);
  CHECK(count(svg, "<rect") == 1 + 2 * 3);
  for (const auto* text : {"a &lt; b &amp; c", ">train<", ">test<", ">warm-up<", ">cycle<", ">cool-down<", ">batch<"})
    CHECK_THAT(svg, Catch::Contains(text));
  CHECK(count(svg, "M") == 3);  // the gap starts a new line
  CHECK_THROWS_AS(plot.add_curve("bad", {0, 1}, {0}), ht::ValueError);
  CHECK(is_well_formed(LossPlot().svg()));
}

TEST_CASE("Smoothing takes the mean of the neighbors", "[nn][plot]") {
  CHECK((smoothed({1, 2, 3, 7}, 3) == std::vector<double>{1.5, 2, 4, 5}));
}
