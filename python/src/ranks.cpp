#include <c10/util/Exception.h>
#include <heatpp/comm/detail/progress/caller.hpp>
#include <heatpp/comm/recovery/recovery.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp/ml/estimator.hpp>

#include <deque>

#include "array.hpp"

// Start and end of MPI, communicators, and errors.
namespace heatpp::python {
namespace {

/// All communicators that Python has seen exist until the end: their ranks must free them together, and garbage
/// collection does not do this.
struct Ranks {
  std::unique_ptr<Environment> environment = std::make_unique<Environment>();
  std::deque<Communicator> kept;  // whose elements keep their addresses
};
std::unique_ptr<Ranks>& ranks() {
  static auto& found = *new std::unique_ptr<Ranks>(std::make_unique<Ranks>());
  return found;
}
Communicator& keep(Communicator comm) { return ranks()->kept.emplace_back(std::move(comm)); }

/// Returns the attribute of a host's communicator that refers to heatpp's. It is deleted when the host frees its
/// communicator, on all ranks together; the handle may be reused for the next communicator, on some ranks only.
int place_of_ours() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &made, nullptr);
    return made;
  }();
  return key;
}

/// Returns heatpp's communicator for one of mpi4py, the same one each time.
Communicator adopted(nb::handle of_mpi4py) {
  const auto modules = nb::module_::import_("sys").attr("modules");
  if (!modules.attr("__contains__")("mpi4py.MPI") || !nb::isinstance(of_mpi4py, modules["mpi4py.MPI"].attr("Comm")))
    throw TypeError("[Communicator] got " + nb::cast<std::string>(nb::repr(of_mpi4py)) +
                    "; expected a communicator of mpi4py");
  if (const auto bytes = nb::cast<std::size_t>(modules["mpi4py.MPI"].attr("_sizeof")(of_mpi4py));
      bytes !=
      sizeof(MPI_Comm))  // the sizes of Open MPI and MPICH differ; both may be loaded, with functions of the same names
    throw TypeError("[Communicator] got an mpi4py with communicators of " + std::to_string(bytes) +
                    " bytes; expected one for the MPI that heatpp was built for, which has " +
                    std::to_string(sizeof(MPI_Comm)));
  const auto comm =
      *reinterpret_cast<MPI_Comm*>(nb::cast<std::uintptr_t>(modules["mpi4py.MPI"].attr("_addressof")(of_mpi4py)));
  if (comm == MPI_COMM_WORLD) return world();
  Communicator* known = nullptr;
  int is_known = 0;
  if (comm != MPI_COMM_NULL) MPI_Comm_get_attr(comm, place_of_ours(), &known, &is_known);
  if (is_known) return *known;
  nb::gil_scoped_release release;
  auto& ours = keep(from_mpi(comm));
  MPI_Comm_set_attr(comm, place_of_ours(), &ours);
  return ours;
}

/// Returns Python's exception with the same meaning, or the module's own if Python has none.
nb::handle type_of(ErrorKind kind, nb::handle module) {
  switch (kind) {
    case ErrorKind::value: return PyExc_ValueError;
    case ErrorKind::index: return nb::object(module.attr("AxisError"));
    case ErrorKind::type: return PyExc_TypeError;
    case ErrorKind::memory: return PyExc_MemoryError;
    case ErrorKind::comm: return nb::object(module.attr("CommError"));
    case ErrorKind::io: return PyExc_OSError;
    case ErrorKind::not_compiled: return PyExc_NotImplementedError;
    case ErrorKind::file_not_found: return PyExc_FileNotFoundError;
    case ErrorKind::linalg: return nb::object(nb::module_::import_("numpy.linalg").attr("LinAlgError"));
    case ErrorKind::error: break;
  }
  return PyExc_RuntimeError;
}

void translate(const std::exception_ptr& thrown, void* of) {
  const nb::handle module(static_cast<PyObject*>(of));
  try {
    std::rethrow_exception(thrown);
  } catch (const NotFittedError& error) {
    PyErr_SetString(nb::object(module.attr("NotFittedError")).ptr(), error.what());
  } catch (const ProcessFailure& error) {
    PyErr_SetString(nb::object(module.attr("ProcessFailure")).ptr(), error.what());
  } catch (const Error& error) {
    PyErr_SetString(type_of(error.kind(), module).ptr(), error.what());
  } catch (const std::bad_cast&) {
    PyErr_SetString(PyExc_TypeError,
                    "[heatpp] got a result of a Python function that is of another type; expected one as documented");
  } catch (const c10::Error& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what_without_backtrace());  // a C++ backtrace does not help in Python
  }
}

/// Returns the line of Python on this thread that has called the package.
std::string calling_line() {
  if (!Py_IsInitialized()) return {};
  nb::gil_scoped_acquire acquire;
  auto frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame.is_valid() && !frame.is_none()) {
    const auto module = nb::str(frame.attr("f_globals").attr("get")("__name__", ""));
    if (!std::string_view(module.c_str()).starts_with("heatpp"))
      return nb::str("{}:{}").format(frame.attr("f_code").attr("co_filename"), frame.attr("f_lineno")).c_str();
    frame = frame.attr("f_back");
  }
  return {};
}

nb::object exception(const char* name, const nb::tuple& bases) {
  nb::dict members;
  members["__module__"] = "heatpp";
  return nb::module_::import_("builtins").attr("type")(name, bases, members);
}

}  // namespace

void bind_ranks(nb::module_& m) {
  m.attr("AxisError") =
      exception("AxisError", nb::make_tuple(nb::borrow(PyExc_ValueError), nb::borrow(PyExc_IndexError)));
  m.attr("NotFittedError") =
      exception("NotFittedError", nb::make_tuple(nb::borrow(PyExc_ValueError), nb::borrow(PyExc_AttributeError)));
  m.attr("CommError") = exception("CommError", nb::make_tuple(nb::borrow(PyExc_RuntimeError)));
  m.attr("ProcessFailure") = exception("ProcessFailure", nb::make_tuple(nb::borrow(m.attr("CommError"))));
  nb::register_exception_translator(translate, m.ptr());

  auto c = nb::borrow<nb::class_<Communicator>>(m.attr("Communicator"));
  c.def(
      "__init__", [](Communicator* self, nb::handle of_mpi4py) { new (self) Communicator(adopted(of_mpi4py)); },
      "of_mpi4py"_a);
  nb::implicitly_convertible<nb::handle, Communicator>();
  c.def(
      "split",
      [](const Communicator& comm, int color, int key) -> std::optional<Communicator> {
        auto part = comm.split(color, key);
        return part ? std::optional(keep(std::move(*part))) : std::nullopt;
      },
      nb::call_guard<nb::gil_scoped_release>(), "color"_a, "key"_a = 0,
      "The ranks that pass the same color, ordered by key; a negative color joins none. Collective.");
  c.def(
      "split_shared", [](const Communicator& comm) { return keep(comm.split_shared()); },
      nb::call_guard<nb::gil_scoped_release>(), "The ranks that share memory. Collective.");
  c.def(
      "__eq__", [](const Communicator& a, const Communicator& b) { return a == b; }, nb::is_operator());
  c.def_prop_ro(
      "handle", [](const Communicator& comm) { return std::uintptr_t(to_mpi(comm)); },
      "For mpi4py.MPI.Comm.fromhandle; it must not be freed.");
  m.def("survives_failures", &survives_failures,
        "Whether the other ranks go on if a rank ends: MPI has ULFM, and mpirun --with-ft ulfm started the program.");
  m.def("lost_ranks", &lost_ranks, "comm"_a, "The ranks of which this rank knows that they have ended. Local.");
  m.def(
      "survivors", [](const Communicator& comm) { return keep(survivors(comm)); },
      nb::call_guard<nb::gil_scoped_release>(), "comm"_a,
      "A communicator of the ranks that have not ended, after ProcessFailure. Collective over these.");
  ranks();
  detail::set_caller(calling_line);
  m.def("_mpi_version", [] {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(version, &length);
    return std::string(version);
  });
  m.attr("_comm_bytes") = sizeof(MPI_Comm);
  m.def("_finish", [] { ranks().reset(); });
  m.def("_abort", [](int code) { MPI_Abort(MPI_COMM_WORLD, code); });
}

}  // namespace heatpp::python
