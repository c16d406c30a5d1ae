#include <heatpp_nn/models/detail/exported/graph/graph.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/error.hpp>
#include <heatpp_nn/detail/first_line.hpp>
#include <heatpp_nn/models/detail/refused.hpp>

#include <ATen/ATen.h>

namespace heatpp::nn::detail {
namespace {

/// Finds for each step the values that no later step needs, so that their memory is released.
void find_last_uses(std::vector<Step>& steps, const std::vector<Operand>& outputs, std::size_t values) {
  std::vector<char> needed(values, 0);
  std::vector<std::size_t> kept;
  for (const auto& output : outputs) add_uses(output, kept);
  for (const auto value : kept) needed[value] = 1;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    for (const auto* values_of : {&step->gives, &step->uses})
      for (const auto value : *values_of)
        if (!std::exchange(needed[value], char{1})) step->last.push_back(value);
}

}  // namespace

Graph::Graph(std::vector<std::size_t> inputs, std::vector<Step> steps, std::vector<Operand> outputs, std::size_t values)
    : inputs_(std::move(inputs)), steps_(std::move(steps)), outputs_(std::move(outputs)), values_(values) {
  find_last_uses(steps_, outputs_, values_);
}

std::vector<c10::IValue> Graph::run(std::vector<c10::IValue> inputs, at::Device device) const {
  Frame frame{std::vector<c10::IValue>(values_), device};
  for (std::size_t i = 0; i < inputs_.size(); ++i) frame.values[inputs_[i]] = std::move(inputs[i]);
  for (const auto& step : steps_) {
    try {
      step.run(frame);
    } catch (const Error&) {
      throw;
    } catch (const Refused&) {
      throw;  // from a nested graph, which has named the node
    } catch (const std::exception& error) {
      throw Refused(heatpp::detail::formatted("{}; in the node \"{}\", {}", first_line(error), step.name, step.target));
    }
    for (const auto value : step.last) frame.values[value] = {};
  }
  std::vector<c10::IValue> outputs;
  for (const auto& output : outputs_) outputs.push_back(value_of(output, frame));
  return outputs;
}

}  // namespace heatpp::nn::detail
