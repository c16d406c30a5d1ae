#pragma once

#include <filesystem>
#include <vector>

// HDF5's subfiling driver keeps the first bytes in the file and distributes the others to files next to it. Their names
// have its name and inode: "a.h5.subfile_1234_1_of_2", and a list "a.h5.subfile_1234.config". All is local.
namespace heatpp::io::detail {

/// Whether the elements of the file are in subfiles; false if there is no file.
[[nodiscard]] bool in_subfiles(const std::filesystem::path& path);

/// Throws IoError if they are: such a file cannot be extended.
void check_can_grow(const std::filesystem::path& path, const char* op);

/// Returns the subfiles of a file that has a list of them, and the list; nothing for other files.
[[nodiscard]] std::vector<std::filesystem::path> subfiles_of(const std::filesystem::path& path);

/// Renames the subfiles of the file `from` to the names for a file `to` in the same directory, and updates the list.
/// Throws IoError.
void rename_subfiles(const std::filesystem::path& from, const std::filesystem::path& to, const char* op);

/// Removes the subfiles of an unfinished file `from` under both names, also if there is no list.
void remove_subfiles(const std::filesystem::path& from, const std::filesystem::path& to);

void remove_files(const std::vector<std::filesystem::path>& files);

}  // namespace heatpp::io::detail
