#include <heatpp_io/stream/append_rows.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/stream/detail/growth.hpp>

#include <algorithm>

namespace heatpp::io {

using heatpp::detail::raise;

void detail::check_growth(const Growth& to, const DNDarray& x) {
  const bool fits =
      to.shape.size() == x.shape().size() && std::equal(x.shape().begin() + 1, x.shape().end(), to.shape.begin() + 1);
  if (!fits)
    raise<ValueError>(append_op,
                      "got rows of shape {} for \"{}\", whose shape is {}; expected equal extents except the first",
                      heatpp::to_string(x.shape()), to.path, heatpp::to_string(to.shape));
  if (to.dtype != x.dtype())
    raise<ValueError>(append_op, "got rows of {} for \"{}\", which holds {}; expected the same dtype", name(x.dtype()),
                      to.path, name(to.dtype));
}

void append_rows(const DNDarray& x, const std::filesystem::path& path, const SaveOptions& options) {
  heatpp::detail::check_agreed(detail::append_op, x.comm(), detail::settings_of(path, options), [&] {
    if (!detail::format_of(path, detail::append_op).append_rows)
      raise<ValueError>(detail::append_op, "got \"{}\"; expected a format whose arrays can grow: .zarr, .h5 or .hdf5",
                        path.string());
    if (x.ndim() == 0) raise<ValueError>(detail::append_op, "got an array without axes; expected rows");
    if (options.shards) raise<ValueError>(detail::append_op, "got shards; expected one file");
  });
  detail::format_of(path, detail::append_op).append_rows(x, path, options);
}

}  // namespace heatpp::io
