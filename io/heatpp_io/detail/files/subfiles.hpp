#pragma once

#include <filesystem>
#include <vector>

// HDF5's subfiling driver leaves a file its first bytes and deals all others to files beside it, named after it and its
// inode: "a.h5.subfile_1234_1_of_2", and a list of them, "a.h5.subfile_1234.config". All of this is local.
namespace heatpp::io::detail {

/// Whether the elements of the file lie in subfiles; false where there is no file.
[[nodiscard]] bool in_subfiles(const std::filesystem::path& path);

/// Throws IoError where they do: such a file cannot be extended.
void check_can_grow(const std::filesystem::path& path, const char* op);

/// The subfiles of a file that has their list, and that list; none of others.
[[nodiscard]] std::vector<std::filesystem::path> subfiles_of(const std::filesystem::path& path);

/// Gives the subfiles of the file `from` the names that they need once it is `to`, in the same directory, and the list
/// these names. Throws IoError.
void rename_subfiles(const std::filesystem::path& from, const std::filesystem::path& to, const char* op);

/// Removes those of a file `from` that is left unfinished, under these names and the others, also without a list.
void remove_subfiles(const std::filesystem::path& from, const std::filesystem::path& to);

void remove_files(const std::vector<std::filesystem::path>& files);

}  // namespace heatpp::io::detail
