#include "training.hpp"
#include "../io/bytes.hpp"

#include <heatpp/comm/detail/schedule/trace.hpp>
#include <heatpp_nn/logging/csv_log.hpp>
#include <heatpp_nn/logging/picture.hpp>
#include <heatpp_nn/logging/tensorboard.hpp>
#include <heatpp_nn/logging/timeline.hpp>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

using namespace heatpp::nn;

namespace {

/// Returns the fields of a protobuf message: their numbers, and their bytes or varints as stored.
std::multimap<unsigned, std::string> fields_of(const std::string& message) {
  std::multimap<unsigned, std::string> fields;
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0; at < message.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(message[at++]);
      value |= std::uint64_t{byte & 127u} << shift;
      if (byte < 128) break;
    }
    return value;
  };
  while (at < message.size()) {
    const auto key = varint();
    const auto type = key & 7;
    const auto number = type == 0 ? varint() : 0;
    const auto bytes = type == 0 ? 0 : type == 1 ? 8 : type == 5 ? 4 : varint();
    REQUIRE(at + bytes <= message.size());
    fields.emplace(key >> 3, type == 0 ? std::to_string(number) : message.substr(at, bytes));
    at += bytes;
  }
  return fields;
}

std::string field(const std::multimap<unsigned, std::string>& fields, unsigned number) {
  REQUIRE(fields.count(number) == 1);
  return fields.find(number)->second;
}

std::vector<double> doubles(const std::string& bytes) {
  std::vector<double> values(bytes.size() / sizeof(double));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Returns the last event's value with its tag, from a file with `events` of them after the version.
std::multimap<unsigned, std::string> last_value(const std::string& path) {
  const auto file = read_bytes(path);
  std::string last;
  for (std::size_t at = 0; at < file.size();) {
    std::uint64_t length = 0;
    std::memcpy(&length, file.data() + at, sizeof length);
    last = file.substr(at + 12, length);
    at += 16 + length;
  }
  return fields_of(field(fields_of(field(fields_of(last), 5)), 1));
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

/// Returns the chunks of a PNG file. Fails if a checksum is wrong.
std::map<std::string, std::string> chunks_of(const std::string& png) {
  CHECK(png.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  std::map<std::string, std::string> chunks;
  for (std::size_t at = 8; at < png.size();) {
    const auto length = big_endian(png, at);
    const auto checked = png.substr(at + 4, 4 + length);
    CHECK(big_endian(png, at + 8 + length) ==
          crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size())));
    chunks[checked.substr(0, 4)] = checked.substr(4);
    at += 12 + length;
  }
  return chunks;
}

std::string inflated(const std::string& data, std::size_t size) {
  std::string plain(size, '\0');
  auto length = static_cast<uLongf>(size);
  CHECK(uncompress(reinterpret_cast<Bytef*>(plain.data()), &length, reinterpret_cast<const Bytef*>(data.data()),
                   data.size()) == Z_OK);
  CHECK(length == size);
  return plain;
}

/// Returns rank 0's path.
std::string on_all(const std::string& path) {
  std::string text(512, '\0');
  std::ranges::copy(path, text.begin());
  ht::world().broadcast({text.data(), std::ssize(text), ht::int8}, 0);
  return text.substr(0, text.find('\0'));
}

}  // namespace

TEST_CASE("Histograms have TensorBoard's fields", "[nn][tensorboard]") {
  const TempDir dir;
  TensorBoardWriter writer(ht::world(), dir.path("events"));
  const auto values = torch::cat({torch::linspace(-1, 3, 1000), torch::tensor({std::nan(""), HUGE_VAL})});

  writer.histogram("empty", torch::empty({0}), 1);
  writer.histogram("weights", values, 7);
  writer.flush();

  const auto value = last_value(on_all(writer.path()));
  CHECK(field(value, 1) == "weights");
  const auto histogram = fields_of(field(value, 5));
  CHECK(doubles(field(histogram, 1))[0] == -1);
  CHECK(doubles(field(histogram, 2))[0] == 3);
  CHECK(doubles(field(histogram, 3))[0] == 1000);
  CHECK(doubles(field(histogram, 4))[0] == Approx(1000));
  CHECK(doubles(field(histogram, 5))[0] == Approx(torch::linspace(-1, 3, 1000).square().sum().item<double>()));
  const auto limits = doubles(field(histogram, 6)), counts = doubles(field(histogram, 7));
  CHECK(limits.size() == counts.size());
  CHECK(limits.back() == 3);
  CHECK(std::ranges::is_sorted(limits));
  CHECK(std::accumulate(counts.begin(), counts.end(), 0.0) == 1000);
  CHECK(std::ranges::minmax(counts).max <= 17);
}

TEST_CASE("Pictures are PNG files", "[nn][tensorboard]") {
  const TempDir dir;
  TensorBoardWriter writer(ht::world(), dir.path("events"));
  const auto grey = torch::arange(6, torch::kByte).view({2, 3}) * 10;
  const auto colors = torch::tensor({0.0, 0.5, 1.0, 2.0, -1.0, 0.2}).view({3, 1, 2});

  writer.image("grey", grey, 1);
  writer.flush();
  const auto first = fields_of(field(last_value(on_all(writer.path())), 4));
  writer.image("colors", colors, 2);
  writer.flush();
  const auto second = fields_of(field(last_value(on_all(writer.path())), 4));

  CHECK(field(first, 1) == "2");
  CHECK(field(first, 2) == "3");
  CHECK(field(first, 3) == "1");
  auto chunks = chunks_of(field(first, 4));
  CHECK(chunks["IHDR"] == std::string("\0\0\0\3\0\0\0\2\x08\0\0\0\0", 13));
  CHECK(inflated(chunks["IDAT"], 8) == std::string("\0\0\x0a\x14\0\x1e\x28\x32", 8));
  chunks = chunks_of(field(second, 4));
  CHECK(chunks["IHDR"] == std::string("\0\0\0\2\0\0\0\1\x08\2\0\0\0", 13));
  CHECK(inflated(chunks["IDAT"], 7) == std::string("\0\0\xff\0\x80\xff\x33", 7));
  CHECK(chunks.count("IEND") == 1);
  CHECK_THROWS_AS(writer.image("two", torch::zeros({2, 3, 3}), 1), ht::ValueError);
  CHECK_THROWS_AS(writer.image("flat", torch::zeros({3}), 1), ht::ValueError);
}

TEST_CASE("Rank 0 writes its picture as a PNG file", "[nn][picture]") {
  const TempDir dir;
  const auto path = dir.path("grey.png");
  save_picture(ht::world(), path, torch::full({2, 3}, ht::world().rank() == 0 ? 0.2 : 1.0));
  auto chunks = chunks_of(read_bytes(on_all(path)));
  CHECK(chunks["IHDR"] == std::string("\0\0\0\3\0\0\0\2\x08\0\0\0\0", 13));
  CHECK(inflated(chunks["IDAT"], 8) == std::string("\0\x33\x33\x33\0\x33\x33\x33", 8));
  CHECK_THROWS_AS(save_picture(ht::world(), dir.path("none/grey.png"), torch::zeros({2, 3})), ht::IoError);
  CHECK_THROWS_AS(save_picture(ht::world(), path, ht::world().rank() == 0 ? torch::zeros({3}) : torch::zeros({2, 3})),
                  ht::ValueError);
}

TEST_CASE("a log has one header, and continues with the training", "[nn][csv]") {
  const TempDir dir;
  const auto path = dir.path("log.csv");
  const std::vector<std::string> columns{"batch", "loss", "a,b"};
  {
    CsvLog log(ht::world(), path, {.columns = columns});
    for (int batch = 0; batch < 4; ++batch) log.row({1.0 * batch, 1.0 / (batch + 1), -2});
    log.check();
    CHECK_THROWS_AS(log.row({1, 2}), ht::ValueError);
  }
  on_root([&] { std::ofstream(path, std::ios::app) << "4,0.2"; });  // an interruption within a row

  CsvLog resumed(ht::world(), path, {.columns = columns, .resume_at = 2});
  resumed.row({2, 0.25, 1e-300});
  resumed.check();

  CHECK(read_bytes(path) == "batch,loss,\"a,b\"\n0,1,-2\n1,0.5,-2\n2,0.25,1e-300\n");
  const auto message = same_message<ht::ValueError>([&] {
    CsvLog(ht::world(), path, {.columns = {"batch", "accuracy"}});
  });
  CHECK_THAT(message, Catch::Contains("batch,accuracy"));
  CHECK_THROWS_AS(CsvLog(ht::world(), "/proc/none/log.csv", {.columns = columns}), ht::IoError);
}

TEST_CASE("A timeline has the scopes and messages of all ranks", "[nn][timeline]") {
  const TempDir dir;
  Timeline timeline(ht::world());
  for (int batch = 0; batch < 2; ++batch) {
    const auto step = timeline.scope("step");
    const auto inner = timeline.scope("forward \"a\\b\"");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const ht::Topology topology(ht::world());
  std::vector<float> values(1000, 1);
  topology.allreduce(values, ht::ReduceOp::sum, "ring");

  timeline.save(dir.path("trace.json"));

  CHECK(timeline.seconds().at("step") >= 0.004);
  const auto events = nlohmann::json::parse(read_bytes(dir.path("trace.json")));
  std::map<int, int> steps, messages;
  for (const auto& event : events) {
    if (event["ph"] == "X" && event["args"].contains("bytes")) ++messages[event["pid"].get<int>()];
    if (event["ph"] != "X" || event["name"] != "step") continue;
    ++steps[event["pid"].get<int>()];
    CHECK(event["dur"].get<double>() >= 2000);
    CHECK(event["ts"].get<double>() >= 0);
  }
  CHECK(std::ssize(steps) == ht::world().size());
  for (const auto& [rank, count] : steps) CHECK(count == 2);
  CHECK(std::ssize(messages) == (ht::world().size() > 1 ? ht::world().size() : 0));
  CHECK_THROWS_AS(timeline.save("/proc/none/trace.json"), ht::IoError);
}
