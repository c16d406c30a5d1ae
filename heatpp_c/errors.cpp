#include <heatpp/comm/detail/failure.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/error.hpp>
#include <heatpp/core/detail/host/threads.hpp>
#include <heatpp_c/detail/handles.hpp>

#include <new>

namespace heatpp::c {
namespace {

thread_local std::string message;

static_assert(HT_ERROR_NOT_BUILT == 1 + static_cast<int>(ErrorKind::not_compiled));
static_assert(HT_COMPLEX128 == static_cast<int>(complex128) && HT_COMPLEX128 + 1 == dtype_count);

constexpr bool is_dtype(int number) { return number >= 0 && number < dtype_count; }

/// Returns the code of an error; one of a narrower kind has that of the wider one.
int code_of(ErrorKind kind) noexcept {
  if (kind == ErrorKind::file_not_found) return HT_ERROR_IO;
  return kind == ErrorKind::linalg ? HT_ERROR_VALUE : 1 + static_cast<int>(kind);
}

void keep(const char* what) noexcept try { message = what; } catch (...) {
  message.clear();
}
void keep(const std::exception& error) noexcept try { message = detail::text_of(error); } catch (...) {
  message.clear();
}

}  // namespace

int status_of(const std::function<void()>& call) noexcept {
  try {
    heatpp::detail::take_host_threads();
    call();
    return HT_OK;
  } catch (const Error& error) {
    keep(error.what());
    return code_of(error.kind());
  } catch (const std::bad_alloc&) {
    keep("[heatpp] got no memory");
    return HT_ERROR_MEMORY;
  } catch (const std::exception& error) {
    keep(error);
    if (message.find("can't allocate memory") != std::string::npos) return HT_ERROR_MEMORY;  // LibTorch's words
  } catch (...) {
    keep("[heatpp] got an exception of an unknown type");
  }
  return HT_ERROR;
}

void add_to_message(const char* text) noexcept try { message += text; } catch (...) {
  // If there is no memory, the text stays as it is.
}

void check_given(const char* op, const char* argument, const void* pointer) {
  if (!pointer) detail::raise<ValueError>(op, "got NULL for {}; expected a pointer", argument);
}

Dtype dtype_of(const char* op, int number) {
  if (!is_dtype(number))
    detail::raise<ValueError>(op, "got dtype {}; expected 0 (HT_BOOL) to {} (HT_COMPLEX128)", number, dtype_count - 1);
  return static_cast<Dtype>(number);
}

Shape shape_of(const char* op, const Numbers& numbers) {
  const auto& [argument, first, ndim] = numbers;
  if (ndim < 0 || ndim > HT_MOST_AXES)
    detail::raise<ValueError>(op, "got {} axes; expected 0 to {}", ndim, static_cast<int>(HT_MOST_AXES));
  if (ndim > 0) check_given(op, argument, first);
  return {first, first + ndim};
}

std::optional<int> split_of(const char* op, int number) {
  if (number < HT_REPLICATED)
    detail::raise<ValueError>(op, "got split {}; expected an axis or {} (HT_REPLICATED)", number,
                              static_cast<int>(HT_REPLICATED));
  return number == HT_REPLICATED ? std::nullopt : std::optional(number);
}

Grid grid_of(const char* op, const CutNumbers& cut) {
  if (!cut.grid) return balanced_grid;
  if (cut.ndim < 1 || cut.ndim > HT_MOST_AXES)
    detail::raise<ValueError>(op, "got a grid for {} axes; expected 1 to {}", cut.ndim, static_cast<int>(HT_MOST_AXES));
  return Grid(std::vector(cut.grid, cut.grid + cut.ndim));
}

detail::Setting setting_of(const CutNumbers& cut) {
  if (!cut.on_grid) return {"split", std::to_string(cut.split)};
  const bool wrong = cut.ndim < 1 || cut.ndim > HT_MOST_AXES;  // grid_of throws
  return {"grid", cut.grid && wrong ? "of " + std::to_string(cut.ndim) + " axes" : to_string(grid_of("", cut))};
}

std::string dtype_text(int number) {
  return is_dtype(number) ? std::string(name(static_cast<Dtype>(number))) : std::to_string(number);
}

std::string quoted(const char* characters) { return '"' + text(characters) + '"'; }

std::string text(const char* characters) { return characters ? characters : ""; }

}  // namespace heatpp::c

const char* ht_message() { return heatpp::c::message.c_str(); }
