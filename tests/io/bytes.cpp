#include "bytes.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

void write_bytes(const std::string& path, const std::string& bytes) {
  on_root([&] { std::ofstream(path, std::ios::binary) << bytes; });
}

std::string read_bytes(const std::string& path) {
  ht::world().barrier();
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  ht::world().barrier();
  return bytes;
}

std::string bytes_of(const at::Tensor& values, std::size_t unit) {
  const auto data = values.contiguous();
  std::string bytes(static_cast<const char*>(data.const_data_ptr()),
                    static_cast<std::size_t>(data.numel() * data.element_size()));
  for (std::size_t i = 0; i < bytes.size(); i += unit)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i), bytes.begin() + static_cast<std::ptrdiff_t>(i + unit));
  return bytes;
}

std::string npy(const std::string& type, const std::string& shape, const std::string& elements, bool fortran,
                char version) {
  auto header =
      "{'descr': " + type + ", 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
  header.resize((header.size() + 13 + 63) / 64 * 64 - 13, ' ');
  header.push_back('\n');
  std::string text = "\x93NUMPY";
  text += {version, '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  if (version > 1) text += {'\0', '\0'};
  return text + header + elements;
}

std::vector<std::optional<int>> every_split(const ht::Shape& shape) {
  std::vector<std::optional<int>> splits{std::nullopt};
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) splits.emplace_back(axis);
  return splits;
}
