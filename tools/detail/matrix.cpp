#include "matrix.hpp"
#include "text.hpp"

#include <fmt/format.h>
#include <heatpp/heatpp.hpp>
#include <heatpp/sparse/io/files.hpp>
#include <heatpp_io/stream/contents.hpp>

#include <algorithm>

namespace tools {

namespace ht = heatpp;

namespace {

using Json = nlohmann::ordered_json;

bool ends_with_one_of(const std::string& path, std::initializer_list<const char*> endings) {
  return std::ranges::any_of(endings, [&](const char* ending) { return path.ends_with(ending); });
}

bool has_arrays(const std::string& path, const std::vector<std::string>& names) {
  const auto arrays = ht::io::contents(path);
  return std::ranges::all_of(names, [&](const auto& name) {
    return std::ranges::any_of(arrays, [&](const auto& array) { return array.name == name; });
  });
}

/// Returns the least and largest number; complex numbers count by their modulus.
Json range_of(const ht::DNDarray& x) {
  const auto numbers = ht::is_complex(x.dtype()) ? ht::abs(x) : x;
  const auto as_double = ht::astype(numbers, ht::float64);
  return {{"min", number(ht::min(as_double).item<double>())},
          {"max", number(ht::max(as_double).item<double>())},
          {"mean", number(ht::mean(as_double).item<double>())}};
}

Json json_of(const ht::sparse::DCSRMatrix& a) {
  const auto places = static_cast<double>(a.rows()) * static_cast<double>(a.columns());
  Json all{{"shape", a.shape()},
           {"dtype", ht::name(a.dtype())},
           {"entries", a.nnz()},
           {"density", places > 0 ? static_cast<double>(a.nnz()) / places : 0}};
  if (a.rows() > 0) all["entries of a row"] = range_of(a.row_counts());
  if (a.nnz() > 0) all["values"] = range_of(a.values());
  return all;
}

std::string line_of(const Json& range) {
  const auto text = [](const Json& value) {
    return value.is_null() ? std::string("nan") : fmt::format("{:.6g}", value.get<double>());
  };
  return fmt::format("min {}, max {}, mean {}", text(range["min"]), text(range["max"]), text(range["mean"]));
}

std::string text_of(const ht::sparse::DCSRMatrix& a, const Json& all) {
  auto text = fmt::format("  {} sparse of {}, {} entries ({:.4g} %)\n", shape_text(a.shape()), ht::name(a.dtype()),
                          a.nnz(), 100 * all["density"].get<double>());
  for (const auto* name : {"entries of a row", "values"})
    if (all.contains(name)) text += fmt::format("  {}: {}\n", name, line_of(all[name]));
  return text;
}

}  // namespace

bool holds_matrix(const std::string& path, const std::string& dataset) {
  if (ends_with_one_of(path, {".mtx", ".mtx.gz", ".petsc"})) return true;
  if (path.ends_with(".npz")) return dataset.empty() && has_arrays(path, {"format", "shape", "data"});
  return path.ends_with(".h5ad") && has_arrays(path, {(dataset.empty() ? "X" : dataset) + "/indptr"});
}

std::string description_of_matrix(const std::string& path, bool json) {
  const auto a = ht::sparse::load(path);
  const auto all = json_of(a);
  return json ? json_text(all) : path + "\n" + text_of(a, all);
}

}  // namespace tools
