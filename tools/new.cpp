#include "tool.hpp"

#include <fmt/ranges.h>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

namespace tools {
namespace {

namespace fs = std::filesystem;

using ht::detail::raise;

constexpr auto op = "new";

constexpr std::string_view cmake_lists = R"(cmake_minimum_required(VERSION 3.25)
project({0} LANGUAGES C CXX)
find_package(heatpp {1} REQUIRED COMPONENTS io)
add_executable({0} main.cpp)
target_link_libraries({0} PRIVATE heatpp::heatpp heatpp::io)
)";

constexpr std::string_view main_cpp = R"(#include <heatpp/heatpp.hpp>
#include <heatpp_io/heatpp_io.hpp>
namespace ht = heatpp;

int main(int argc, char** argv) {{
  return ht::run(argc, argv, [] {{
    const auto x = ht::random::standard_normal({{100000, 3}}, {{.split = 0}});  // each rank holds a share of the rows
    ht::print(ht::mean(x, 0));
    ht::io::save(x(ht::all(x > 1, 1)), "{0}.h5");
  }});
}}
)";

constexpr std::string_view readme = R"(# {0}

Build and run it on one rank, and on four:

    cmake -B build -DCMAKE_BUILD_TYPE=Release{1}
    cmake --build build
    build/{0}
    mpirun -n 4 build/{0}

The output is the same on any number of ranks. `heatpp describe {0}.h5` shows what the program has written.
)";

/// Returns a CMake option with the install prefix; "" if CMake looks there anyway, or in a build folder.
std::string prefix_option() {
  std::error_code error;
  const auto prefix = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  if (error || prefix == "/usr" || prefix == "/usr/local" || !fs::exists(prefix / "include/heatpp", error)) return {};
  return " -DCMAKE_PREFIX_PATH=" + prefix.string();
}

void check_name(const std::string& name) {
  constexpr std::array<std::string_view, 7> taken{"all", "clean", "heatpp", "help", "install", "package", "test"};
  const auto of_names = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  if (name.empty() || std::isalpha(static_cast<unsigned char>(name[0])) == 0 || !std::ranges::all_of(name, of_names) ||
      std::ranges::count(taken, name) > 0)
    raise<ht::ValueError>(
        op, "got \"{}\"; expected a name of letters, digits, _ and - that begins with a letter, and none of {}", name,
        fmt::join(taken, ", "));
}

/// Returns the version for find_package; later versions with the same minor number are accepted.
std::string version() {
  const std::string whole = HEATPP_VERSION;
  return whole.substr(0, whole.rfind('.'));
}

void write(const fs::path& path, const std::string& text) { ht::io::detail::write_atomically(op, path.string(), text); }

void make(const fs::path& folder) {
  const auto name = folder.filename().string();
  check_name(name);
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error)))
    raise<ht::ValueError>(op, "got \"{}\", which exists; expected the name of a new folder", folder.string());
  if (!fs::create_directories(folder, error))
    raise<ht::IoError>(op, "got \"{}\" for \"{}\"; expected a folder that can be made", error.message(),
                       folder.string());
  write(folder / "CMakeLists.txt", fmt::format(cmake_lists, name, version()));
  write(folder / "main.cpp", fmt::format(main_cpp, name));
  write(folder / "README.md", fmt::format(readme, name, prefix_option()));
}

}  // namespace

Run add_new(CLI::App& command) {
  const auto name = std::make_shared<std::string>();
  command.add_option("name", *name, "name of the project and of its folder, which must not exist")->required();
  command.footer("Example: heatpp new heat && cat heat/README.md");
  return [name] {
    auto folder = std::filesystem::path(*name).lexically_normal();
    if (folder.filename().empty()) folder = folder.parent_path();  // the name ended with a /
    ht::all_or_none(ht::world(), [&] {
      if (ht::world().rank() == 0) make(folder);
    });
    print(fmt::format("{}: CMakeLists.txt, main.cpp and README.md, which says how to build and run it\n",
                      folder.string()));
  };
}

}  // namespace tools
