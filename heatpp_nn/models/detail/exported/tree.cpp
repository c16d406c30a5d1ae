#include <heatpp_nn/models/detail/exported/tree.hpp>

#include <heatpp_nn/models/detail/exported/malformed.hpp>

#include <nlohmann/json.hpp>

namespace heatpp::nn::detail {

using nlohmann::json;

namespace {

constexpr int deepest = 64;

/// Returns the keys of a dict, which are a list in its context, a text in JSON.
std::vector<std::string> keys_of(const json& node, std::size_t count) {
  std::vector<std::string> keys;
  const auto* const context = optional_member(node, "context");
  const auto list = context && context->is_string() ? json::parse(context->get<std::string>(), nullptr, false) : json();
  if (!list.is_array() || list.size() != count) return keys;
  for (const auto& key : list) keys.push_back(key.is_string() ? key.get<std::string>() : key.dump());
  return keys;
}

Tree read(const json& node, const std::string& where, int depth) {
  if (depth > deepest) malformed("{} of more than {} levels", where, deepest);
  const auto& children = list_of(member(node, "children_spec", where), where);
  Tree tree{.is_leaf = member(node, "type", where).is_null()};
  if (tree.is_leaf) return tree;
  tree.keys = keys_of(node, children.size());
  tree.is_dict = text_of(member(node, "type", where), where).ends_with("ict") && tree.keys.size() == children.size();
  for (const auto& child : children) {
    if (!tree.is_dict && tree.keys.size() < children.size()) tree.keys.push_back(std::to_string(tree.children.size()));
    tree.children.push_back(read(child, where, depth + 1));
  }
  return tree;
}

void add_names(const Tree& tree, const std::string& name, std::vector<std::string>& names) {
  if (tree.is_leaf) return names.push_back(name);
  for (std::size_t i = 0; i < tree.children.size(); ++i)
    add_names(tree.children[i], name.empty() ? tree.keys[i] : name + "." + tree.keys[i], names);
}

}  // namespace

Tree tree_of(const std::string& text, const std::string& where) {
  const auto spec = parsed(text, where);
  if (!spec.is_array() || spec.size() != 2 || spec[0] != 1) malformed("{} of another version than 1", where);
  return read(spec[1], where, 0);
}

std::vector<std::string> names_of(const Tree& tree) {
  std::vector<std::string> names;
  add_names(tree, "", names);
  return names;
}

}  // namespace heatpp::nn::detail
