#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/source.hpp>

namespace heatpp::io::detail {

/// Whether `a` is before `b` if runs of digits are compared as numbers: "part-2" before "part-10".
[[nodiscard]] bool natural_less(const std::string& a, const std::string& b);

/// Returns the paths that match `pattern`, in natural order. Local.
[[nodiscard]] std::vector<std::string> glob(const std::string& pattern);

/// Returns the paths of `source` in order; those of a pattern are in natural order. An existing name is not a pattern.
/// Rank 0 looks, and all ranks get its result. With `extension`, a directory stands for the files in it with this
/// extension. Collective. Throws ValueError if ranks give other names, IoError if a pattern or a directory matches
/// nothing, ValueError for an empty list.
[[nodiscard]] std::vector<std::string> expand(const Source& source, const Communicator& comm, const char* op,
                                              const std::string& extension = {});
/// Works as expand for names that ranks have agreed on.
[[nodiscard]] std::vector<std::string> expand_agreed(const Source& source, const Communicator& comm, const char* op,
                                                     const std::string& extension = {});

}  // namespace heatpp::io::detail
