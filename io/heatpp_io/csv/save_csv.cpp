#include <heatpp_io/csv/save_csv.hpp>

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <heatpp/comm/detail/numbers/place.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp_io/csv/detail/csv_numbers.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_io/detail/options/fields.hpp>
#include <heatpp_io/stream/detail/row_pieces.hpp>

namespace heatpp::io {
namespace {

using heatpp::detail::raise;

constexpr auto op = "save_csv";
constexpr std::int64_t piece_numbers = std::int64_t{1} << 16;

void check_options(const Shape& shape, const SaveCsvOptions& options) {
  if (shape.size() > 2)
    raise<ValueError>(op, "got an array of shape {}; expected at most two axes", heatpp::to_string(shape));
  if (options.decimals && (*options.decimals < 0 || *options.decimals > 1000))
    raise<ValueError>(op, "got decimals {}; expected 0 to 1000", *options.decimals);
  if (std::string_view("0123456789+-.eEjnaif\"\r\n\0", 24).find(options.delimiter) != std::string_view::npos)
    raise<ValueError>(op, "got delimiter {:?}; expected a character that is not part of numbers",
                      std::string_view(&options.delimiter, 1));
}

/// The text of a rank's rows, in pieces.
class Text {
 public:
  Text(at::Tensor rows, const SaveCsvOptions& options)
      : rows_(std::move(rows)),
        options_(options),
        columns_(rows_.dim() == 2 ? rows_.size(1) : 1),
        step_(std::max<std::int64_t>(1, piece_numbers / std::max<std::int64_t>(1, columns_))) {}

  [[nodiscard]] std::int64_t pieces() const { return (rows_.size(0) + step_ - 1) / step_; }

  [[nodiscard]] std::string piece(std::int64_t i) const {
    const auto part = rows_.narrow(0, i * step_, std::min(step_, rows_.size(0) - i * step_));
    std::string text;
    AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(at::kBool, at::kHalf, at::kBFloat16, part.scalar_type(), op, [&] {
      append(text, part.template const_data_ptr<scalar_t>(), part.size(0));
    });
    return text;
  }

 private:
  template <class T>
  void append(std::string& text, const T* number, std::int64_t rows) const {
    text.reserve(static_cast<std::size_t>(rows * columns_ * 12 + 1024));
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns_; ++column) {
        if (column > 0) text.push_back(options_.delimiter);
        detail::append_number(text, *number++, options_.decimals);
      }
      text.push_back('\n');
    }
  }

  at::Tensor rows_;
  const SaveCsvOptions& options_;
  std::int64_t columns_, step_;
};

/// Writes the text from byte `begin` on. Returns the byte where it ends.
std::int64_t write_text(const detail::SaveJob& job, const DNDarray& x, const SaveCsvOptions& options,
                        std::int64_t begin = 0) {
  const auto& comm = x.comm();
  const auto rows = detail::blocks_of(!x.layout().is_grid() && x.split() == 1 ? resplit(x, 0) : x).mine;
  const auto keep = std::max<std::int64_t>(std::int64_t{8} << 20, rows.numel() * rows.element_size());
  const Text text(rows, options);
  const auto header = options.header.empty() || comm.rank() > 0 ? std::string() : options.header + "\n";
  const bool last = comm.rank() + 1 == comm.size();
  const auto footer = options.footer.empty() || !last ? std::string() : options.footer + "\n";
  std::vector<std::string> kept;
  auto end = std::ssize(header) + std::ssize(footer);
  all_or_none(comm, [&] {
    for (std::int64_t i = 0; i < text.pieces(); ++i) {
      auto piece = text.piece(i);
      end += std::ssize(piece);
      if (end <= keep) kept.push_back(std::move(piece));
    }
  });
  const auto place = heatpp::detail::place_in_whole(comm, end);
  const auto offset = begin + place.offset, bytes = begin + place.total;
  std::optional<detail::FileWriter> file;
  all_or_none(comm, [&] {
    file.emplace(job.path, job.shown, op);
    if (comm.rank() == 0) detail::Room(job.path, job.shown, op).reserve(bytes - begin);
  });
  all_or_none(comm, [&] {
    file->write(offset, std::ssize(header), header.data());
    auto at = offset + std::ssize(header);
    for (std::int64_t i = 0; i < text.pieces(); ++i) {
      const auto piece = i < std::ssize(kept) ? std::move(kept[static_cast<std::size_t>(i)]) : text.piece(i);
      file->write(at, std::ssize(piece), piece.data());
      at += std::ssize(piece);
    }
    file->write(at, std::ssize(footer), footer.data());
  });
  return bytes;
}

const detail::Transfer transfer{false, "independent: each rank writes its rows"};

}  // namespace

void save_csv(const DNDarray& x, const std::filesystem::path& path, const SaveCsvOptions& options) {
  const detail::Recorder recorder(op);
  heatpp::detail::check_agreed(op, x.comm(), detail::settings_to_write(path, options),
                               [&] { check_options(x.shape(), options); });
  const detail::NewFile file{op, x.comm(), path, detail::bytes_of(x)};
  recorder.finish(detail::bytes_of(x), 1, save_one(file, [&](const detail::SaveJob& job) {
                    write_text(job, x, options);
                    return transfer;
                  }));
}

void detail::save_rows_csv(const RowsToSave& x, const std::filesystem::path& path) {
  const Recorder recorder(op);
  check_options(x.shape, {});
  recorder.finish(bytes_of(x), 1, save_one({op, comm_of(x), path, bytes_of(x)}, [&](const SaveJob& job) {
                    std::int64_t end = 0;
                    each_piece(op, x, 1,
                               [&](std::int64_t, const DNDarray& rows) { end = write_text(job, rows, {}, end); });
                    return transfer;
                  }));
}

}  // namespace heatpp::io
