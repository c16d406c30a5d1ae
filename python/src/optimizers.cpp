#include "optimizers.hpp"

#include <fnmatch.h>
#include <heatpp_nn/optim/lamb.hpp>
#include <heatpp_nn/optim/lars.hpp>
#include <heatpp_nn/optim/muon.hpp>
#include <torch/nn/module.h>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/lbfgs.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "measures.hpp"

namespace heatpp::python {
namespace {

using Optimizer = std::unique_ptr<torch::optim::Optimizer>;
using Group = torch::optim::OptimizerParamGroup;

std::string text_of(const OptionValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return '"' + *text + '"';
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "True" : "False";
  if (const auto* pair = std::get_if<std::pair<double, double>>(&value))
    return "(" + std::to_string(pair->first) + ", " + std::to_string(pair->second) + ")";
  return std::to_string(std::get<double>(value));
}

[[noreturn]] void refuse(const std::string& name, const OptionValue& value, const char* expected) {
  throw ValueError("[Trainer] got " + name + "=" + text_of(value) + "; expected " + expected);
}

bool is_in_range(double number) { return number >= 0 && std::isfinite(number); }

/// Returns the value of an option from the value that Python passed.
template <class T>
T as(const std::string& name, const OptionValue& value) {
  const auto* found = std::get_if<T>(&value);
  if constexpr (std::same_as<T, double>) {
    if (!found || !is_in_range(*found)) refuse(name, value, "a finite number of at least 0");
  } else if constexpr (std::same_as<T, std::pair<double, double>>) {
    if (!found || !(found->first >= 0 && found->first < 1 && found->second >= 0 && found->second < 1))
      refuse(name, value, "two numbers from 0 to less than 1");
  } else if (!found) {
    refuse(name, value, std::same_as<T, bool> ? "True or False" : "a string");
  }
  return *found;
}
template <>
std::int64_t as(const std::string& name, const OptionValue& value) {
  const auto* found = std::get_if<double>(&value);
  if (!found || !(*found >= 1 && *found < 1e15) || *found != std::floor(*found))
    refuse(name, value, "a whole number of at least 1");
  return static_cast<std::int64_t>(*found);
}

/// The options that a class of them has, and a function that sets each.
template <class Options>
class Known {
 public:
  using Set = std::function<void(Options&, const std::string&, const OptionValue&)>;
  Known() {
    add<double>("lr", [](auto& o, double x) -> decltype((void)o.lr(x)) { o.lr(x); });
    add<double>("weight_decay", [](auto& o, double x) -> decltype((void)o.weight_decay(x)) { o.weight_decay(x); });
    add<double>("momentum", [](auto& o, double x) -> decltype((void)o.momentum(x)) { o.momentum(x); });
    add<double>("dampening", [](auto& o, double x) -> decltype((void)o.dampening(x)) { o.dampening(x); });
    add<bool>("nesterov", [](auto& o, bool x) -> decltype((void)o.nesterov(x)) { o.nesterov(x); });
    add<Pair>("betas", [](auto& o, Pair x) -> decltype((void)o.betas(x)) { o.betas(x); });
    add<Pair>("betas", [](auto& o, Pair x) -> decltype((void)o.beta1(0)) { o.beta1(x.first).beta2(x.second); });
    add<double>("eps", [](auto& o, double x) -> decltype((void)o.eps(x)) { o.eps(x); });
    add<bool>("amsgrad", [](auto& o, bool x) -> decltype((void)o.amsgrad(x)) { o.amsgrad(x); });
    add<double>("alpha", [](auto& o, double x) -> decltype((void)o.alpha(x)) { o.alpha(x); });
    add<bool>("centered", [](auto& o, bool x) -> decltype((void)o.centered(x)) { o.centered(x); });
    add<double>("lr_decay", [](auto& o, double x) -> decltype((void)o.lr_decay(x)) { o.lr_decay(x); });
    add<double>("initial_accumulator_value", [](auto& o, double x) -> decltype((void)o.initial_accumulator_value(x)) {
      o.initial_accumulator_value(x);
    });
    add<double>("trust", [](auto& o, double x) -> decltype((void)o.trust(x)) { o.trust(x); });
    add<std::int64_t>("ns_steps", [](auto& o, std::int64_t x) -> decltype((void)o.ns_steps(x)) { o.ns_steps(x); });
    add<bool>("match_rms", [](auto& o, bool x) -> decltype((void)o.match_rms(x)) { o.match_rms(x); });
    add<bool>("orthogonal", [](auto& o, bool x) -> decltype((void)o.orthogonal(x)) { o.orthogonal(x); });
    add<bool>("adapt", [](auto& o, bool x) -> decltype((void)o.adapt(x)) { o.adapt(x); });
    add<std::int64_t>("max_iter", [](auto& o, std::int64_t x) -> decltype((void)o.max_iter(x)) { o.max_iter(x); });
    add<std::int64_t>("max_eval", [](auto& o, std::int64_t x) -> decltype((void)o.max_eval(x)) { o.max_eval(x); });
    add<double>("tolerance_grad",
                [](auto& o, double x) -> decltype((void)o.tolerance_grad(x)) { o.tolerance_grad(x); });
    add<double>("tolerance_change",
                [](auto& o, double x) -> decltype((void)o.tolerance_change(x)) { o.tolerance_change(x); });
    add<std::int64_t>("history_size",
                      [](auto& o, std::int64_t x) -> decltype((void)o.history_size(x)) { o.history_size(x); });
    add<std::string>("line_search_fn",
                     [](auto& o, std::string x) -> decltype((void)o.line_search_fn(x)) { o.line_search_fn(x); });
  }
  void set(Options& options, const std::string& of, const OptimizerOptions& values) const {
    for (const auto& [name, value] : values) {
      const auto found = all_.find(name);
      if (found == all_.end())
        throw ValueError("[Trainer] got " + name + " for " + of + "; expected one of its options " + names());
      found->second(options, name, value);
    }
  }

 private:
  using Pair = std::pair<double, double>;
  template <class T, class F>
  void add(const char* name, F f) {
    if constexpr (std::is_invocable_v<F, Options&, T>)
      all_[name] = [f](Options& o, const std::string& of, const OptionValue& value) { f(o, as<T>(of, value)); };
  }
  [[nodiscard]] std::string names() const {
    std::string text;
    for (const auto& [name, set] : all_) text += (text.empty() ? "" : ", ") + name;
    return text;
  }
  std::map<std::string, Set> all_;
};

/// Returns the parameters of each group; those that are in no group come last.
std::vector<std::vector<at::Tensor>> grouped(const nn::Replica& model, const std::vector<ParameterGroup>& groups) {
  std::vector<std::vector<at::Tensor>> found(groups.size() + 1);  // of the module
  std::set<const void*> seen;
  std::set<std::string> fitting;
  for (const auto& item : model.shared_module()->named_parameters()) {
    if (!item.value().requires_grad() || !seen.insert(item.value().unsafeGetTensorImpl()).second) continue;
    auto place = groups.size();
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const auto& pattern : groups[g].patterns) {
        if (fnmatch(pattern.c_str(), item.key().c_str(), 0) != 0) continue;
        fitting.insert(pattern);
        place = std::min(place, g);
      }
    found[place].push_back(item.value());
  }
  for (const auto& group : groups)
    for (const auto& pattern : group.patterns)
      if (!fitting.contains(pattern))
        throw ValueError("[Trainer] got the group \"" + pattern +
                         "\", which no trained parameter of the network has as "
                         "its name; expected names, or patterns such as \"*.bias\"");
  for (auto& group : found) group = model.parameters(group);  // real numbers, or this rank's pieces
  return found;
}

/// Uses torch's default rate if the class has none.
template <class Options>
Options defaults() {
  if constexpr (std::is_default_constructible_v<Options>) return Options();
  else return Options(1e-3);
}

template <class Kind, class Options>
Optimizer made(const std::string& name, const nn::Replica& model, const OptimizerOptions& options,
               const std::vector<ParameterGroup>& groups) {
  const Known<Options> known;
  auto common = defaults<Options>();
  known.set(common, name, options);
  auto parameters = grouped(model, groups);
  std::vector<Group> made;
  std::vector<Options> own;
  const auto add = [&](std::vector<at::Tensor>& tensors, const Options& of_group) {
    made.emplace_back(std::move(tensors));
    own.push_back(of_group);
  };
  if (!parameters.back().empty()) add(parameters.back(), common);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    auto of_group = common;
    known.set(of_group, name, groups[g].options);
    add(parameters[g], of_group);
  }
  if (std::same_as<Kind, torch::optim::LBFGS> && made.size() != 1)
    throw ValueError("[Trainer] got " + std::to_string(made.size()) + " groups for lbfgs; expected one");
  std::unique_ptr<Kind> optimizer;
  if constexpr (std::is_constructible_v<Kind, const nn::Replica&, std::vector<Group>, Options>)
    optimizer = std::make_unique<Kind>(model, std::move(made), common);
  else optimizer = std::make_unique<Kind>(std::move(made), common);
  // LibTorch 2.15 replaces options in the constructor if they have the value that its class of options begins with.
  for (std::size_t g = 0; g < own.size(); ++g)
    optimizer->param_groups()[g].set_options(std::make_unique<Options>(own[g]));
  return optimizer;
}

struct OptimizerKind {
  const char* name;
  Optimizer (*make)(const std::string&, const nn::Replica&, const OptimizerOptions&,
                    const std::vector<ParameterGroup>&);
};
namespace optim = torch::optim;
constexpr OptimizerKind optimizers[] = {{"sgd", made<optim::SGD, optim::SGDOptions>},
                                        {"adam", made<optim::Adam, optim::AdamOptions>},
                                        {"adamw", made<optim::AdamW, optim::AdamWOptions>},
                                        {"rmsprop", made<optim::RMSprop, optim::RMSpropOptions>},
                                        {"adagrad", made<optim::Adagrad, optim::AdagradOptions>},
                                        {"lbfgs", made<optim::LBFGS, optim::LBFGSOptions>},
                                        {"lars", made<nn::Lars, nn::LarsOptions>},
                                        {"lamb", made<nn::Lamb, nn::LambOptions>},
                                        {"muon", made<nn::Muon, nn::MuonOptions>}};

}  // namespace

std::string groups_text(const std::vector<ParameterGroup>& groups) {
  std::string text;
  for (const auto& [patterns, options] : groups) {
    std::string names;
    for (const auto& pattern : patterns) names += (names.empty() ? "\"" : ", \"") + pattern + "\"";
    for (const auto& [name, value] : options) names += ", " + name + "=" + text_of(value);
    text += (text.empty() ? "(" : ", (") + names + ")";
  }
  return "[" + text + "]";
}

Optimizer made_optimizer(const std::string& name, const nn::Replica& model, const OptimizerOptions& options,
                         const std::vector<ParameterGroup>& groups) {
  return named<OptimizerKind>("Trainer", optimizers, name).make(name, model, options, groups);
}

}  // namespace heatpp::python
