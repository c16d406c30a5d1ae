#include "detail/csv_options.hpp"
#include "detail/matrix.hpp"
#include "detail/network.hpp"
#include "detail/options.hpp"
#include "detail/picture.hpp"
#include "detail/row_progress.hpp"
#include "detail/summary.hpp"
#include "detail/text.hpp"
#include "tool.hpp"

#include <fmt/ranges.h>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp_io/detail/elements/annotations.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_io/detail/files/expand.hpp>

#include <algorithm>
#include <filesystem>
#include <ranges>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto op = "describe";

struct Options {
  std::vector<std::string> files;
  std::string dataset, picture;
  std::vector<double> percents = SummaryOptions{}.percents;
  std::int64_t bins = 20;
  std::uint64_t memory = std::uint64_t{1} << 30;
  ht::io::LoadCsvOptions csv;
  bool json = false, quiet = false;
  std::string of_elements;  ///< given options that concern elements
};

Json json_of(const ht::io::StoredInfo& info) {
  if (!info.dtype) return {{"name", info.name}, {"problem", info.problem}};
  const auto bytes = ht::size_of(info.shape) * static_cast<std::int64_t>(ht::itemsize(*info.dtype));
  return {{"name", info.name},
          {"shape", info.shape},
          {"dtype", ht::name(*info.dtype)},
          {"chunks", info.chunks},
          {"compressed", info.compressed},
          {"bytes", bytes},
          {"dimension_names", info.dimension_names},
          {"attributes", ht::io::detail::json_of(info.attributes)}};
}

/// Formats axes: (4, 3) along (time, x).
std::string axes_text(const ht::io::StoredInfo& info) {
  return shape_text(info.shape) +
         (info.dimension_names.empty() ? "" : fmt::format(" along ({})", fmt::join(info.dimension_names, ", ")));
}

std::string storage_text(const ht::io::StoredInfo& info) {
  return (info.chunks.empty() ? "" : ", chunks of " + shape_text(info.chunks)) +
         (info.compressed ? ", compressed" : "");
}

std::string line_of(const ht::io::StoredInfo& info) {
  if (!info.dtype) return fmt::format("  {:<24} not read: {}\n", info.name, info.problem);
  return fmt::format("  {:<24} {:<10} {}{}\n", info.name, ht::name(*info.dtype), axes_text(info), storage_text(info));
}

using Arrays = std::vector<ht::io::StoredInfo>;

Json json_of(const std::string& path, const Arrays& arrays) {
  Json all = Json::array();
  for (const auto& info : arrays) all.push_back(json_of(info));
  return {{"file", path}, {"arrays", all}};
}

std::string text_of(const std::string& path, const Arrays& arrays) {
  std::string text = path + "\n";
  for (const auto& info : arrays) text += line_of(info);
  return text + (arrays.empty() ? "  no arrays\n" : "");
}

Description description_of_arrays(const std::string& path, const Arrays& arrays) {
  return {json_of(path, arrays), text_of(path, arrays)};
}

/// Prints the descriptions of files.
void print_all(const std::vector<Description>& descriptions, const Options& options) {
  Json files = Json::array();
  std::string text;
  for (const auto& description : descriptions) {
    files.push_back(description.json);
    text += description.text;
  }
  if (!options.json) return print(text);
  Json all;
  all["files"] = files;
  print(json_text(files.size() == 1 ? files[0] : all));
}

/// Lists the content of files; `first` is that of the first file.
void list(const std::vector<std::string>& paths, const Arrays& first, const Options& options) {
  std::vector<Description> all{description_of_arrays(paths.front(), first)};
  for (const auto& path : paths | std::views::drop(1))
    all.push_back(description_of_arrays(path, ht::io::contents(path)));
  print_all(all, options);
}

/// Lists files, some of which are networks.
void list_networks(const std::vector<std::string>& paths, const Options& options) {
  const auto given = options.dataset.empty() ? options.of_elements : "--dataset";
  if (!given.empty())
    ht::detail::raise<ht::ValueError>(op, "got {} for a network of torch.export; expected it only for files of arrays",
                                      given);
  std::vector<Description> all;
  for (const auto& path : paths)
    all.push_back(holds_network(path) ? description_of_network(path)
                                      : description_of_arrays(path, ht::io::contents(path)));
  print_all(all, options);
}

/// Whether numbers do not fit in int64.
bool needs_floats(const ht::io::StoredArray& x, const Summary& s) { return x.info().uint64 && s.max >= 0x1p63; }

Json json_of(const ht::io::StoredArray& x, const Summary& s) {
  auto all = json_of(x.info());
  if (needs_floats(x, s)) all["dtype"] = ht::name(ht::float64);  // with which load gives them
  all["files"] = x.files();
  all.update({{"elements", s.size},
              {"missing", s.missing},
              {"infinite", s.infinite},
              {"min", number(s.min)},
              {"max", number(s.max)},
              {"mean", number(s.mean)},
              {"std", number(s.std)},
              {"skewness", number(s.skewness)},
              {"kurtosis", number(s.kurtosis)},
              {"exact", s.exact}});
  for (std::size_t i = 0; i < s.percents.size(); ++i)
    all["percentiles"].push_back({s.percents[i], number(s.percentiles[i])});
  all["histogram"] = {{"low", number(s.low)}, {"high", number(s.high)}, {"counts", s.counts}};
  return all;
}

std::string histogram_text(const Summary& s) {
  constexpr double longest = 40;
  const auto most = static_cast<double>(*std::ranges::max_element(s.counts));
  if (most == 0) return "";
  const auto step = (s.high - s.low) / static_cast<double>(s.counts.size());
  std::string text;
  for (std::size_t bin = 0; bin < s.counts.size(); ++bin) {
    const auto length = static_cast<int>(longest * static_cast<double>(s.counts[bin]) / most + 0.5);
    text += fmt::format("  {:>12.5g} {:#<{}}{:{}} {}\n", s.low + static_cast<double>(bin) * step, "", length, "",
                        static_cast<int>(longest) - length, s.counts[bin]);
  }
  return text + fmt::format("  {:>12.5g}\n", s.high);
}

std::string text_of(const ht::io::StoredArray& x, const Summary& s, const std::string& title) {
  const auto bytes = static_cast<double>(s.size) * static_cast<double>(ht::itemsize(x.dtype()));
  auto text = fmt::format("{}\n  {} of {}, {} in {} file{}{}\n", title, axes_text(x.info()), ht::name(x.dtype()),
                          bytes_text(bytes), x.files(), x.files() == 1 ? "" : "s", storage_text(x.info()));
  for (const auto& [name, attribute] : x.info().attributes)
    text += fmt::format("  {}: {}\n", ht::io::detail::in_a_line(name), ht::io::detail::to_text(attribute));
  if (needs_floats(x, s)) text += "  uint64 with numbers from 2^63 on, which load gives with the dtype float64\n";
  if (ht::is_complex(x.dtype())) text += "  of the absolute values:\n";
  text += fmt::format("  elements {}, missing (NaN) {}, infinite {}\n", s.size, s.missing, s.infinite);
  text += fmt::format("  min {:.6g}, max {:.6g}, mean {:.6g}, std {:.6g}, skewness {:.4g}, kurtosis {:.4g}\n", s.min,
                      s.max, s.mean, s.std, s.skewness, s.kurtosis);
  text += s.exact ? "  percentiles" : "  percentiles, about";
  for (std::size_t i = 0; i < s.percents.size(); ++i)
    text += fmt::format("{} {:g} %: {:.6g}", i ? "," : "", s.percents[i], s.percentiles[i]);
  return text + "\n" + histogram_text(s);
}

void save_picture(const ht::io::StoredArray& x, const Summary& summary, const Options& options,
                  const std::string& title) {
  const auto png = options.picture.ends_with(".png");
  const auto picture = png ? elements_picture(x, summary) : histogram_picture(summary, title);
  ht::all_or_none(ht::world(), [&] {
    if (ht::world().rank() == 0) ht::io::detail::write_atomically(op, options.picture, picture);
  });
}

void check_picture(const std::string& name) {
  if (!name.ends_with(".png") && !name.ends_with(".svg"))
    ht::detail::raise<ht::ValueError>(op, "got picture \"{}\"; expected a name that ends with .svg or .png", name);
}

/// Returns the array in a dtype that has all its numbers. For uint64 this is float64, in which the summary is computed.
ht::io::StoredArray numbers_of(const ht::io::StoredArray& x, const Options& options) {
  if (!x.streams() || x.dtype() != ht::int64) return x;
  return ht::io::StoredArray(options.files, {.dataset = options.dataset, .dtype = ht::float64});
}

void describe_array(const Options& options) {
  const ht::io::StoredArray x(options.files, {.dataset = options.dataset, .csv = options.csv});
  const auto numbers = numbers_of(x, options);
  const auto title =
      fmt::format("{}{}{}", fmt::join(options.files, " "), options.dataset.empty() ? "" : ": ", options.dataset);
  SummaryOptions summarised{options.percents, options.bins, static_cast<std::int64_t>(options.memory)};
  RowProgress progress(op, rows_to_read(numbers, summarised), !options.quiet);
  summarised.done = [&](std::int64_t count) { progress.add(count); };
  const auto summary = summarise(numbers, summarised);
  if (!options.picture.empty()) save_picture(numbers, summary, options, title);
  print(options.json ? json_text(json_of(x, summary)) : text_of(x, summary, title));
}

/// Returns false for AnnData's files, which hold more than a matrix and are listed.
bool is_described_as_matrix(const std::string& path, const Options& options) {
  return options.dataset.empty() && !path.ends_with(".h5ad") && holds_matrix(path, {});
}

void describe(const Options& options) {
  const auto paths = ht::io::detail::expand(options.files, ht::world(), op);
  if (paths.size() == 1 && is_described_as_matrix(paths.front(), options))
    return print(description_of_matrix(paths.front(), options.json));
  if (std::ranges::any_of(paths, holds_network)) return list_networks(paths, options);
  const bool parsed = paths.front().ends_with(".csv");  // to find what it contains
  if (!options.dataset.empty() || parsed) return describe_array(options);
  const auto arrays = ht::io::contents(paths.front());
  const bool elements = !options.of_elements.empty();
  if (arrays.size() == 1 && (elements || arrays[0].name.empty())) {
    auto of_it = options;
    of_it.dataset = arrays[0].name;
    return describe_array(of_it);
  }
  if (elements)
    ht::detail::raise<ht::ValueError>(op, "got {} for \"{}\", which has {} arrays; expected --dataset, which names one",
                                      options.of_elements, paths.front(), arrays.size());
  list(paths, arrays, options);
}

}  // namespace

Run add_describe(CLI::App& command) {
  const auto o = std::make_shared<Options>();
  command.add_option("files", o->files, "files of one array, joined along its first axis; also patterns in quotes")
      ->required();
  command.add_option("-d,--dataset", o->dataset, "name of the array; else list the arrays of each file");
  std::vector<CLI::Option*> of_elements;
  const auto add = [&](CLI::Option* option) { of_elements.push_back(option); };
  add(command.add_option("--percentiles", o->percents, "percentiles from 0 to 100")
          ->delimiter(',')
          ->check(CLI::Range(0.0, 100.0).description(""))
          ->capture_default_str());
  add(command.add_option("--bins", o->bins, "number of bins in the histogram")
          ->check(CLI::Range(1, 10000))
          ->capture_default_str());
  add(add_size_option(command, "--memory", o->memory,
                      "for elements, all ranks together, e.g. 4GiB (else 1GiB); larger arrays are read in pieces, "
                      "twice, and their percentiles are estimated"));
  add_csv_options(command, o->csv);
  add(check_by(
      command.add_option("--picture", o->picture, "write a picture: .svg of the histogram, .png of the elements"),
      check_picture));
  command.add_flag("--json", o->json, "print JSON");
  command.add_flag("-q,--quiet", o->quiet, "show no progress");
  command.footer("Example: mpirun -n 4 heatpp describe 'run/part-*.h5' --dataset density --picture density.svg");
  return [o, of_elements] {
    o->of_elements = given(of_elements);
    describe(*o);
  };
}

}  // namespace tools
