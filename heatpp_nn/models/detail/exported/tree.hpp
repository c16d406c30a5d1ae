#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace heatpp::nn::detail {

/// Lists, tuples and dicts in each other, with values at the ends, as torch.export writes them.
struct Tree {
  bool is_leaf = true, is_dict = false;
  std::vector<std::string> keys = {};  ///< of a dict, else positions
  std::vector<Tree> children = {};
};
/// Reads "[1, {...}]". Throws Malformed.
[[nodiscard]] Tree tree_of(const std::string& text, const std::string& where);
/// Names of the values in their order: "mean", "heads.0"; "" of a value alone.
[[nodiscard]] std::vector<std::string> names_of(const Tree& tree);

}  // namespace heatpp::nn::detail
