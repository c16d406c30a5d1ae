#include <heatpp/comm/error.hpp>

namespace heatpp {

void throw_error(ErrorKind kind, const std::string& message) {
  switch (kind) {
    case ErrorKind::value: throw ValueError(message);
    case ErrorKind::index: throw IndexError(message);
    case ErrorKind::type: throw TypeError(message);
    case ErrorKind::memory: throw MemoryError(message);
    case ErrorKind::comm: throw CommError(message);
    case ErrorKind::io: throw IoError(message);
    case ErrorKind::not_compiled: throw NotCompiled(message);
    case ErrorKind::file_not_found: throw FileNotFoundError(message);
    case ErrorKind::linalg: throw LinAlgError(message);
    case ErrorKind::error: break;
  }
  throw Error(message);
}

}  // namespace heatpp
