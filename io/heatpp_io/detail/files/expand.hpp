#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/source.hpp>

namespace heatpp::io::detail {

/// Whether `a` comes before `b` when runs of digits count as numbers: "part-2" before "part-10".
[[nodiscard]] bool natural_less(const std::string& a, const std::string& b);

/// The paths that `pattern` matches, in natural order. Local.
[[nodiscard]] std::vector<std::string> glob(const std::string& pattern);

/// The paths of `source` in order, those of a pattern in natural order; a name that exists is no pattern. Rank 0 looks,
/// all ranks get the same. With `extension` given, a directory means the files in it that end so. Collective. Throws
/// IoError where a pattern or a directory matches nothing, ValueError for an empty list.
[[nodiscard]] std::vector<std::string> expand(const Source& source, const Communicator& comm, const char* op,
                                              const std::string& extension = {});

/// The bytes of rank 0 on every rank. Collective.
[[nodiscard]] std::string broadcast_bytes(std::string bytes, const Communicator& comm);
/// The texts of rank 0, without zeros in them, on every rank. Collective.
[[nodiscard]] std::vector<std::string> broadcast_texts(std::vector<std::string> texts, const Communicator& comm);

}  // namespace heatpp::io::detail
