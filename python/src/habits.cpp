#include <heatpp/comm/log.hpp>

#include <cstdlib>
#include <thread>

#include "casters.hpp"

// Behavior that users of scikit-learn expect, as far as it needs C++.
namespace heatpp::python {

nb::object renamed(nb::handle type, const nb::dict& given) {
  return nb::module_::import_("heatpp._estimators").attr("ours")(type, given);
}

template <>
std::optional<MinkaMle> read(nb::handle object) {
  if (!nb::isinstance<nb::str>(object) || nb::cast<std::string>(object) != "mle") return {};
  return MinkaMle{};
}
template <>
nb::object written(const MinkaMle&) {
  return nb::str("mle");
}

template <>
std::optional<FeatureChoice> read(nb::handle object) {
  const bool many = PyList_Check(object.ptr()) && nb::len(object) > 0;
  if (many && PyBool_Check(nb::object(object[0]).ptr())) return FeatureChoice(nb::cast<std::vector<bool>>(object));
  return FeatureChoice(nb::cast<std::vector<std::int64_t>>(object));
}
template <>
nb::object written(const FeatureChoice& value) {
  return std::visit([](const auto& given) { return nb::cast(given); }, value.given());
}

void warn_by_python() {
  const char* const wanted = std::getenv("HEATPP_LOG");
  if (wanted && *wanted) return;  // the log prints them
  const auto main = std::this_thread::get_id();
  set_log(
      [main](LogLevel, std::string_view message) {
        if (std::this_thread::get_id() != main) return;  // other threads may not wait for Python's lock
        const nb::gil_scoped_acquire held;
        if (PyErr_WarnEx(PyExc_UserWarning, std::string(message).c_str(), 1) != 0)
          PyErr_WriteUnraisable(nullptr);  // an error on one rank only would let the others wait
      },
      {.level = LogLevel::warning});
}

}  // namespace heatpp::python
