#include <heatpp/comm/detail/machine/places.hpp>

#include <heatpp/comm/detail/impl.hpp>
#include <heatpp/comm/detail/machine/hwloc.hpp>
#include <heatpp/comm/detail/numbers/numbers.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/text.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

namespace heatpp::detail {
namespace {

/// "2x4" -> {2, 4}.
std::vector<int> parse_shape(std::string_view text) {
  std::vector<int> shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    int extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || extent < 1 || (next != end && *next != 'x'))
      raise<ValueError>("Topology",
                        "got HEATPP_TOPOLOGY=\"{}\"; expected extents such as 2x4, outermost first, or a file", text);
    shape.push_back(extent);
    if (next == end) return shape;
    at = next + 1;
  }
}

Tree tree_in_grid(const std::vector<int>& shape, int ranks) {
  const auto product = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  if (product != ranks || std::ranges::any_of(shape, [](int extent) { return extent < 1; }))
    raise<ValueError>("Topology", "got the shape {} for {} ranks; expected positive extents with that product",
                      tuple_text(shape), ranks);
  return grid_of(shape);
}

Places places_by(const std::function<std::vector<int>(int)>& place_of, int ranks) {
  Places places;
  for (int rank = 0; rank < ranks; ++rank) {
    places.push_back(place_of(rank));
    if (places.back().empty() || places.back().size() != places.front().size())
      raise<ValueError>("Topology", "got the places {} of rank 0 and {} of rank {}; expected equally many levels",
                        tuple_text(places.front()), tuple_text(places.back()), rank);
  }
  return places;
}

/// Returns the numbers of the parts of a grid that hold each rank.
Places places_in(const Tree& grid) {
  Places places;
  for (int rank = 0; rank < static_cast<int>(grid.ranks()); ++rank) {
    auto& place = places.emplace_back();
    for (auto node = grid; node.level() > 0; node = node.child(static_cast<std::size_t>(place.back())))
      place.push_back(static_cast<int>(*node.child_with(rank)));
  }
  return places;
}

/// Gathers the nodes of all ranks.
Places places_in_nodes(const Communicator& comm, int node) {
  Places places;
  for (const auto id : numbers_of_ranks(comm, node)) places.push_back({static_cast<int>(id)});
  return places;
}

/// Returns the nodes that MPI finds. If every rank is bound to one package, and the ranks of a node are not all bound
/// to the same, the packages are a level, too.
Machine nodes_and_packages(const Communicator& comm) {
  // The name of a node is its lowest rank here.
  auto nodes = places_in_nodes(comm, comm.impl().node);
  std::map<int, int> lowest;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank)
    nodes[rank][0] = lowest.try_emplace(nodes[rank][0], static_cast<int>(rank)).first->second;
  const auto packages = numbers_of_ranks(comm, package_of_this_rank().value_or(-1));
  if (std::ranges::any_of(packages, [](auto package) { return package < 0; })) return {tree_of(nodes)};
  auto parts = nodes;
  bool differ = false;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    parts[rank].push_back(static_cast<int>(packages[rank]));
    differ = differ || packages[rank] != packages[static_cast<std::size_t>(nodes[rank][0])];
  }
  return differ ? Machine{tree_of(parts), 1} : Machine{tree_of(nodes)};
}

std::string read_on_rank_0(const Communicator& comm, const std::string& file) {
  std::string text;
  all_or_none(comm, [&] {
    if (comm.rank() != 0) return;
    std::ifstream stream(file);
    std::ostringstream content;
    if (!(content << stream.rdbuf()))
      raise<IoError>("Topology", "got the file \"{}\", which cannot be read; expected a topology", file);
    text = content.str();
  });
  return text_of_rank_0(comm, text);
}

[[noreturn]] void bad_line(std::size_t number, std::string_view line) {
  raise<ValueError>("Topology", "got \"{}\" in line {}; expected a place and ranks, as in rack0/node1: 4-7, 12", line,
                    number);
}

/// "4-7, 12" -> 4, 5, 6, 7, 12.
std::vector<int> parse_ranks(std::string_view text, std::size_t number, std::string_view line) {
  std::vector<int> ranks;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto skip = [&] {
    at = std::find_if(at, end, [](char c) { return c != ' ' && c != ',' && c != '\t' && c != '\r'; });
  };
  for (skip(); at != end; skip()) {
    int first = 0;
    auto parsed = std::from_chars(at, end, first);
    int last = first;
    if (parsed.ec == std::errc() && parsed.ptr != end && *parsed.ptr == '-')
      parsed = std::from_chars(parsed.ptr + 1, end, last);
    if (parsed.ec != std::errc() || last < first || last - first > 1 << 24) bad_line(number, line);
    for (int rank = first; rank <= last; ++rank) ranks.push_back(rank);
    at = parsed.ptr;
  }
  return ranks;
}

/// Turns "rack0/node1" into numbers of the names, in the order in which they appear.
std::vector<int> parse_place(std::string_view text, std::map<std::string, int, std::less<>>& numbers) {
  std::vector<int> place;
  std::string prefix;
  for (std::size_t first = 0; first <= text.size();) {
    const auto slash = std::min(text.find('/', first), text.size());
    prefix.append(text.substr(first, slash - first)).push_back('/');
    place.push_back(numbers.try_emplace(prefix, static_cast<int>(numbers.size())).first->second);
    first = slash + 1;
  }
  return place;
}

/// Reads the variable, which is about all ranks of the program, and keeps the places of the ranks of `comm`.
Machine machine_of_program(const Communicator& comm, const std::string& variable) {
  const auto in_program = ranks_in_program(comm);
  const auto ranks = in_program.of_all;
  const bool file = variable.find_first_of("/.") != std::string::npos;
  if (!file && comm.group() == 0) return {tree_in_grid(parse_shape(variable), ranks)};
  const auto all = file ? parse_places(read_on_rank_0(comm, variable), ranks)
                        : places_in(tree_in_grid(parse_shape(variable), ranks));
  Places places;
  for (const auto rank : in_program.ranks) places.push_back(all[static_cast<std::size_t>(rank)]);
  return {tree_of(places)};
}

}  // namespace

Places parse_places(const std::string& text, int ranks) {
  Places places(static_cast<std::size_t>(ranks));
  std::map<std::string, int, std::less<>> numbers;
  std::istringstream lines(text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    const auto content = std::string_view(line).substr(0, line.find('#'));
    if (content.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto first = content.find_first_not_of(" \t"), colon = content.find(':');
    if (colon == std::string_view::npos || colon == first) bad_line(number, line);
    const auto place = parse_place(content.substr(first, colon - first), numbers);
    for (const auto rank : parse_ranks(content.substr(colon + 1), number, line)) {
      if (rank < 0 || rank >= ranks || !places[static_cast<std::size_t>(rank)].empty())
        raise<ValueError>("Topology", "got rank {} in line {} for {} ranks; expected each of them once", rank, number,
                          ranks);
      places[static_cast<std::size_t>(rank)] = place;
    }
  }
  const auto missing = std::ranges::find_if(places, [](const auto& place) { return place.empty(); });
  if (missing != places.end())
    raise<ValueError>("Topology", "got no place for rank {}; expected each of {} ranks once", missing - places.begin(),
                      ranks);
  return places_by([&](int rank) { return places[static_cast<std::size_t>(rank)]; }, ranks);
}

Machine find_machine(const Communicator& comm, const TopologyOptions& options, const std::string& variable) {
  const int ranks = comm.size();
  const int ways = !options.shape.empty() + !!options.place_of + !!options.node_of + !options.file.empty();
  if (ways > 1)
    raise<ValueError>("Topology", "got {} of shape, node_of, place_of and file; expected at most one of them", ways);
  if (!options.shape.empty()) return {tree_in_grid(options.shape, ranks)};
  if (options.place_of) return {tree_of(places_by(options.place_of, ranks))};
  if (options.node_of) return {tree_of(places_in_nodes(comm, options.node_of(comm.rank())))};
  if (!options.file.empty()) return {tree_of(parse_places(read_on_rank_0(comm, options.file), ranks))};
  return variable.empty() ? nodes_and_packages(comm) : machine_of_program(comm, variable);
}

Tree tree_of(const Places& places) {
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t rank) -> const std::vector<int>& { return places[rank]; });
  const auto depth = places.front().size();
  // The ranks of `all` are in one part down to that place.
  const auto part_of = [&](auto& self, std::span<const std::size_t> all, std::size_t place) -> Tree {
    std::vector<Tree> children;
    for (auto rest = all; !rest.empty();) {
      const auto part = [&](std::size_t rank) { return place < depth ? places[rank][place] : static_cast<int>(rank); };
      const auto other = std::ranges::find_if(rest, [&](auto rank) { return part(rank) != part(rest.front()); });
      const auto count = static_cast<std::size_t>(other - rest.begin());
      children.push_back(place < depth ? self(self, rest.first(count), place + 1)
                                       : Tree(static_cast<int>(rest.front())));
      rest = rest.subspan(count);
    }
    return {static_cast<int>(depth - place), children};
  };
  return part_of(part_of, order, 0);
}

}  // namespace heatpp::detail
