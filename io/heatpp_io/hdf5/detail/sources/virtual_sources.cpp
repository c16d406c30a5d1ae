#include <heatpp_io/hdf5/detail/sources/virtual_sources.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/shape.hpp>
#include <heatpp_io/hdf5/detail/sources/source_pattern.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using Name = std::pair<std::string, std::string>;  // names of a file and of a dataset in it

constexpr int most_nested = 8;  // limit for virtual datasets of virtual datasets

using GetName = ssize_t (*)(hid_t properties, std::size_t index, char* name, std::size_t size);

std::string name_by(GetName get, hid_t properties, std::size_t index) {
  const auto length = get(properties, index, nullptr, 0);
  if (length <= 0) return {};
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  get(properties, index, name.data(), name.size());
  name.pop_back();
  return name;
}

Shape extents_of(hid_t space) {
  std::vector<hsize_t> extents(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
  H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  return {extents.begin(), extents.end()};
}

/// What a part of a virtual dataset needs from its source: minimum extents, with 0 along an axis without an end; or, if
/// the whole source is taken, the number of elements, as HDF5 requires.
struct Wanted {
  Shape extents = {};
  std::optional<std::int64_t> elements = std::nullopt;

  [[nodiscard]] bool is_met(const Shape& has, std::int64_t has_elements) const {
    if (elements) return has_elements == *elements;
    return has.size() == extents.size() && std::ranges::equal(has, extents, std::ranges::greater_equal());
  }
  [[nodiscard]] std::string problem(const Shape& has) const {
    if (elements) return formatted("has the shape {}, which is not {} elements", to_string(has), *elements);
    return formatted("has the shape {}, which does not cover {}", to_string(has), to_string(extents));
  }
};

/// A selection of blocks at equal distances.
struct Blocks {
  std::vector<hsize_t> start, step, count, block;

  explicit Blocks(hid_t selection) {
    const auto ndim = static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(selection)));
    for (auto* numbers : {&start, &step, &count, &block}) numbers->resize(ndim);
    H5Sget_regular_hyperslab(selection, start.data(), step.data(), count.data(), block.data());
  }
  [[nodiscard]] bool is_endless(std::size_t axis) const {
    return count[axis] == H5S_UNLIMITED || block[axis] == H5S_UNLIMITED;
  }
};

/// Returns the elements of the part that one source fills (of a pattern: one block), or nothing if it has no end.
std::optional<std::int64_t> elements_of(hid_t part, hid_t dataset, bool pattern) {
  if (H5Sget_select_type(part) == H5S_SEL_ALL) return H5Sget_simple_extent_npoints(Handle(H5Dget_space(dataset)).get());
  if (H5Sis_regular_hyperslab(part) <= 0) return H5Sget_select_npoints(part);
  const Blocks blocks(part);
  hsize_t elements = 1;
  for (std::size_t i = 0; i < blocks.count.size(); ++i) {
    const bool one_of_many = pattern && blocks.count[i] == H5S_UNLIMITED;
    if (!one_of_many && blocks.is_endless(i)) return std::nullopt;
    elements *= blocks.block[i] * (one_of_many ? 1 : blocks.count[i]);
  }
  return static_cast<std::int64_t>(elements);
}

/// Returns the smallest extents of a source that contain the selection.
Shape extents_around(hid_t selection) {
  const auto ndim = static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(selection)));
  Shape extents(ndim, 0);
  std::vector<hsize_t> start(ndim), end(ndim);
  if (H5Sis_regular_hyperslab(selection) > 0) {
    const Blocks blocks(selection);
    for (std::size_t i = 0; i < ndim; ++i)
      if (!blocks.is_endless(i) && blocks.count[i] > 0)
        extents[i] =
            static_cast<std::int64_t>(blocks.start[i] + (blocks.count[i] - 1) * blocks.step[i] + blocks.block[i]);
  } else if (H5Sget_select_bounds(selection, start.data(), end.data()) >= 0) {
    for (std::size_t i = 0; i < ndim; ++i) extents[i] = static_cast<std::int64_t>(end[i]) + 1;
  }
  return extents;
}

Wanted wanted_of(hid_t properties, std::size_t i, hid_t dataset, bool pattern) {
  const Handle source(H5Pget_virtual_srcspace(properties, i)), part(H5Pget_virtual_vspace(properties, i));
  if (H5Sget_select_type(source.get()) != H5S_SEL_ALL) return {extents_around(source.get())};
  const auto elements = elements_of(part.get(), dataset, pattern);
  return {Shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(Handle(H5Dget_space(dataset)).get())), 0),
          elements};
}

/// Checks the sources of the virtual datasets in one file.
class Looker {
 public:
  Looker(hid_t dataset, const std::string& path, int depth) : dataset_(dataset), path_(path), depth_(depth) {}

  /// Returns what is wrong with source number `i`; empty if it is valid.
  std::string problem_of(hid_t properties, std::size_t i) {
    const Name name{name_by(H5Pget_virtual_filename, properties, i), name_by(H5Pget_virtual_dsetname, properties, i)};
    const bool pattern = is_pattern(name.first) || is_pattern(name.second);
    const auto wanted = wanted_of(properties, i, dataset_, pattern);
    if (!pattern) return problem_of({plain(name.first), plain(name.second)}, wanted);
    const auto numbers = numbers_of(name);
    if (numbers.empty()) return formatted("\"{}\" of \"{}\", a pattern that nothing fits", name.second, name.first);
    for (std::int64_t number = 0; number <= numbers.back(); ++number) {
      const Name one{numbered(name.first, number), numbered(name.second, number)};
      if (!std::ranges::binary_search(numbers, number))
        return formatted("\"{}\" of \"{}\", which is missing in the pattern that {} fits", one.second, one.first,
                         numbers.back());
      if (auto problem = problem_of(one, wanted); !problem.empty()) return problem;
    }
    return {};
  }

 private:
  [[nodiscard]] bool is_here(const std::string& file) const { return file.empty() || file == "."; }
  [[nodiscard]] std::string place_of(const std::string& file) const {
    return is_here(file) ? path_ : place_of_source(file, path_);
  }

  /// Returns the numbers for which the pattern gives existing names, in order.
  [[nodiscard]] std::vector<std::int64_t> numbers_of(const Name& name) const {
    if (is_pattern(name.first)) return numbers_of_files(name.first, path_);
    const Handle file(H5Fopen(place_of(plain(name.first)).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    return file ? numbers_of_links(file.get(), name.second) : std::vector<std::int64_t>();
  }

  std::string problem_of(const Name& name, const Wanted& wanted) {
    auto known = known_.find(name);
    if (known == known_.end()) known = known_.emplace(name, look(name)).first;
    const auto& [problem, extents, elements] = known->second;
    if (!problem.empty() || wanted.is_met(extents, elements)) return problem;
    return formatted("\"{}\", whose dataset \"{}\" {}", name.first, name.second, wanted.problem(extents));
  }

  struct Source {
    std::string problem;
    Shape extents = {};
    std::int64_t elements = 0;
  };
  /// Returns the reason why HDF5 cannot read a dataset of a file.
  [[nodiscard]] Source look(const Name& name) const {
    const auto path = place_of(name.first);
    if (path.empty()) return {formatted("\"{}\", a file that is missing", name.first)};
    const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    if (!file) return {formatted("\"{}\", which cannot be opened ({})", name.first, innermost_error())};
    const Handle dataset(H5Dopen2(file.get(), name.second.c_str(), H5P_DEFAULT));
    if (!dataset) return {formatted("\"{}\", which has no dataset \"{}\"", name.first, name.second)};
    if (depth_ < most_nested)
      if (auto problem = unread_source(dataset.get(), path, depth_ + 1); !problem.empty())
        return {formatted("\"{}\", which is made of {}", name.first, problem)};
    const Handle space(H5Dget_space(dataset.get()));
    return {{}, extents_of(space.get()), H5Sget_simple_extent_npoints(space.get())};
  }

  hid_t dataset_;
  const std::string& path_;
  int depth_;
  std::map<Name, Source> known_;
};

}  // namespace

std::string unread_source(hid_t dataset, const std::string& path, int depth) {
  const Handle properties(H5Dget_create_plist(dataset));
  std::size_t count = 0;
  if (H5Pget_layout(properties.get()) != H5D_VIRTUAL) return {};
  H5Pget_virtual_count(properties.get(), &count);
  Looker looker(dataset, path, depth);
  for (std::size_t i = 0; i < count; ++i)
    if (auto problem = looker.problem_of(properties.get(), i); !problem.empty()) return problem;
  return {};
}

}  // namespace heatpp::io::detail
