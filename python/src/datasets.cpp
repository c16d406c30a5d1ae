#include "datasets.hpp"

template <>
struct heatpp::python::Fields<heatpp::nn::TrainValidation> {
  static constexpr auto name = "TrainValidation";
  static constexpr const char* names[] = {"training", "validation"};
  static auto tie(auto& x) { return std::tie(x.training, x.validation); }
};

namespace heatpp::python {
namespace {

using Released = nb::call_guard<nb::gil_scoped_release>;
using NameChoice = std::variant<std::string, std::vector<std::string>>;

const DNDarray& rows_in(const KeptOperand& given) {
  if (!given.array()) throw ValueError("[Dataset] got a number; expected arrays of rows");
  return *given.array();
}
nn::Names names_of(const NameChoice& choice) {
  return std::visit([](const auto& names) { return nn::Names(names); }, choice);
}

}  // namespace

std::vector<nn::NamedArray> fields_of(const FieldChoice& choice, const char* usual) {
  if (const auto* one = std::get_if<KeptOperand>(&choice)) return {{usual, rows_in(*one)}};
  std::vector<nn::NamedArray> fields;
  for (const auto& [name, array] : std::get<1>(choice).fields) fields.push_back({name, rows_in(array)});
  return fields;
}
nn::Dataset dataset_of(const FieldChoice& inputs, const FieldChoice& targets) {
  return {fields_of(inputs, "inputs"), fields_of(targets, "targets")};
}

void bind_datasets(nb::module_& m) {
  nb::class_<nn::Dataset> c(m, "Dataset",
                            "Arrays with equally many rows: what goes into a network, and what should come out.");
  c.def(
      "__init__",
      [](nn::Dataset* self, const FieldChoice& inputs, const FieldChoice& targets) {
        new (self) nn::Dataset(dataset_of(inputs, targets));
      },
      Released(), "inputs"_a, "targets"_a,
      "Arrays with equally many rows, or several of each by name. Of what is not split each rank takes a part.");
  c.def(
      "__init__",
      [](nn::Dataset* self, const std::pair<FieldChoice, FieldChoice>& pair) {
        new (self) nn::Dataset(dataset_of(pair.first, pair.second));
      },
      Released());
  nb::implicitly_convertible<nb::tuple, nn::Dataset>();
  c.def_static(
      "from_hdf5",
      [](const io::Source& source, const NameChoice& inputs, const NameChoice& targets, std::optional<Dtype> dtype,
         std::optional<Communicator> comm) {
        return nn::Dataset::from_hdf5(
            source,
            {.inputs = names_of(inputs), .targets = names_of(targets), .dtype = dtype, .comm = std::move(comm)});
      },
      Released(), "source"_a, "inputs"_a = "inputs", "targets"_a = "targets", "dtype"_a = nb::none(),
      "comm"_a = nb::none(), "Arrays that stay in their files; ranks share the rows evenly. Collective.");
  c.def("__len__", &nn::Dataset::size);
  m.def(
      "train_validation_split",
      [](const nn::Dataset& dataset, double validation, std::uint64_t seed) {
        return nn::train_validation_split(dataset, {.validation = validation, .seed = seed});
      },
      Released(), "dataset"_a, "validation"_a = 0.2, "seed"_a = 0,
      "Two disjoint parts of a dataset, (training, validation), the same on any number of ranks. Collective.");
}

}  // namespace heatpp::python
