#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace heatpp::nn::detail {

/// Nested lists, tuples and dicts with values as leaves, as torch.export writes them.
struct Tree {
  bool is_leaf = true, is_dict = false;
  std::vector<std::string> keys = {};  ///< keys of a dict, or positions
  std::vector<Tree> children = {};
};
/// Reads text such as "[1, {...}]". Throws Malformed.
[[nodiscard]] Tree tree_of(const std::string& text, const std::string& where);
/// Returns the names of the values in order: "mean", "heads.0"; "" for a single value.
[[nodiscard]] std::vector<std::string> names_of(const Tree& tree);

}  // namespace heatpp::nn::detail
