#pragma once

#include <stdexcept>
#include <string>

namespace heatpp {

/// The error types below as numbers, so that every rank can be told to throw the same type.
enum class ErrorKind : int { error, value, index, type, memory, comm, io, not_compiled, file_not_found, linalg };

/// Base of all exceptions of the library. Messages read `[operation] got ...; expected ...`.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ErrorKind kind = ErrorKind::error)
      : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

namespace detail {
template <ErrorKind Kind, class Base = Error>
class ErrorOf : public Base {
 public:
  explicit ErrorOf(const std::string& message, ErrorKind kind = Kind) : Base(message, kind) {}
};
}  // namespace detail

/// An argument has the right type and a wrong value or shape.
using ValueError = detail::ErrorOf<ErrorKind::value>;
/// An axis, an index or a position is out of range.
using IndexError = detail::ErrorOf<ErrorKind::index>;
/// An operation is not defined for a dtype.
using TypeError = detail::ErrorOf<ErrorKind::type>;
/// The system cannot provide memory for a block.
using MemoryError = detail::ErrorOf<ErrorKind::memory>;
/// Communication failed, or the arguments live on different communicators.
using CommError = detail::ErrorOf<ErrorKind::comm>;
/// A file is missing, is damaged, or has other contents than expected.
using IoError = detail::ErrorOf<ErrorKind::io>;
/// The library was built without the feature that was asked for.
using NotCompiled = detail::ErrorOf<ErrorKind::not_compiled>;
/// The file does not exist, or no file fits a pattern.
using FileNotFoundError = detail::ErrorOf<ErrorKind::file_not_found, IoError>;
/// A matrix has no inverse, or is not positive definite.
using LinAlgError = detail::ErrorOf<ErrorKind::linalg, ValueError>;

/// Throws an error of the type that `kind` names.
[[noreturn]] void throw_error(ErrorKind kind, const std::string& message);

}  // namespace heatpp
