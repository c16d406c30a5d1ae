#include "bytes.hpp"

#include <heatpp_io/csv/detail/csv_numbers.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <random>

namespace {

using Catch::Contains;

std::string load_error(const std::string& path, const ht::io::LoadCsvOptions& options = {}) {
  std::string text;
  for (const std::optional<int> split : {std::optional<int>(), std::optional(0)}) {
    auto with_split = options;
    with_split.split = split;
    text = same_message<ht::IoError>([&] { return ht::io::load_csv(path, with_split); });
    CHECK_THAT(text, Catch::StartsWith("[load_csv] got "));
    CHECK_THAT(text, Contains("; expected "));
  }
  return text;
}

/// Whether a file gives these numbers with every split.
bool loads(const std::string& path, const at::Tensor& expected, ht::io::LoadCsvOptions options = {}) {
  bool all = true;
  for (const auto& split : every_split({0, 0})) {
    options.split = split;
    const auto x = ht::io::load_csv(path, options);
    all = all && x.split() == split && x.is_balanced() && same(x, expected);
  }
  return all;
}

/// Returns counting({rows, columns}) as text.
std::string lines(std::int64_t rows, std::int64_t columns, const std::string& end = "\n") {
  std::string text;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    text += std::to_string(i) + (i % columns == columns - 1 ? end : std::string(","));
  return text;
}

}  // namespace

TEST_CASE("rows of a text file load with every split", "[io][csv]") {
  const TempDir dir;
  const auto path = dir.path("a.csv");
  for (const auto& [rows, columns] : {std::pair{13, 5}, {1, 1}, {2, 3}, {40, 1}, {1, 300000}, {5000, 7}}) {
    const auto expected = counting({rows, columns});
    for (const std::string end : {"\n", "\r\n"}) {
      write_bytes(path, lines(rows, columns, end));
      CHECK(loads(path, expected));
    }
    auto text = lines(rows, columns);
    text.pop_back();
    write_bytes(path, "a header, in two\nlines\n" + text);
    CHECK(loads(path, expected, {.header_lines = 2}));
    const auto first = std::min<std::int64_t>(2, rows);
    CHECK(loads(path, expected.slice(0, 0, first), {.header_lines = 2, .max_rows = 2}));
  }
  write_bytes(path, "");
  CHECK(loads(path, at::empty({0, 0})));
  write_bytes(path, "one,two\n");
  CHECK(loads(path, at::empty({0, 0}), {.header_lines = 1}));
  write_bytes(path,
              "\xef\xbb\xbf"
              "1,2\n");
  CHECK(loads(path, at::tensor({1.f, 2.f}).unsqueeze(0)));
}

TEST_CASE("blanks, comments, delimiters and columns of text files", "[io][csv]") {
  const TempDir dir;
  const auto path = dir.path("a.csv");
  const auto expected = at::tensor({1.5f, -2.f, 3.f, 4e3f, 5.f, 0.25f}).reshape({2, 3});
  write_bytes(path, "# text, 1\n\n 1.5 , -2,\t+3 # one\n   \n\r\n4E3,5.,.25\n#end");
  CHECK(loads(path, expected));
  write_bytes(path, "1.5;-2;3\n4e+3;5;0.25;\n");
  CHECK_THAT(load_error(path, {.delimiter = ';'}), Contains("4 fields in line 2"));
  write_bytes(path, "  1.5   -2 \t 3\n\t4000 5 0.25  \n");
  CHECK(loads(path, expected, {.delimiter = ' '}));
  write_bytes(path, "x#1,1.5,-2,3\nx#2,4000,5,0.25\n");
  CHECK(loads(path, expected.flip(1), {.columns = {-1, 2, 1}, .comment = '\0'}));
  CHECK(loads(path, expected.select(1, 0).unsqueeze(1), {.columns = {1}, .comment = '\0'}));
  CHECK_THROWS_WITH(ht::io::load_csv(path, {.columns = {4}, .comment = '\0'}), Contains("got column 4 of 4"));
}

TEST_CASE("comments and blank lines do not count as header lines", "[io][csv]") {
  const TempDir dir;
  const auto path = dir.path("a.csv");
  const auto expected = counting({4, 2});
  // pandas.read_csv(path, comment="#") and polars.read_csv(path, comment_prefix="#") give these rows.
  for (const std::string before : {"", "# made by \"x\", 2026\n", "\n", "# one\n\n  # two\n", "#\n#\n#\n#\n#\n#\n"})
    for (const std::string behind : {"", "# units: m, s\n\n"}) {
      write_bytes(path, before + "a,b # names\n" + behind + lines(4, 2));
      CHECK(loads(path, expected, {.header_lines = 1}));
      write_bytes(path, before + "a,b\n" + behind + "m,\"s\n#\"\n" + lines(4, 2));
      CHECK(loads(path, expected, {.header_lines = 2}));
      write_bytes(path, before + behind + lines(4, 2));
      CHECK(loads(path, expected));
    }
  // Names that are a comment, as numpy.savetxt writes them, are no header line, and no row is lost in their place.
  write_bytes(path, "# a,b\n" + lines(4, 2));
  CHECK_THAT(load_error(path, {.header_lines = 1}),
             Contains("numbers in header line 1, after 1 comments") && Contains("expected header_lines 0"));
  CHECK(loads(path, expected, {.header_lines = 1, .comment = '\0'}));
  write_bytes(path, "# text\n2000,2001\n" + lines(4, 2));
  CHECK_THAT(load_error(path, {.header_lines = 2}), Contains("expected header_lines 1"));
  CHECK(loads(path, expected, {.header_lines = 2, .comment = '\0'}));
  write_bytes(path, "2000,2001\n# text\n" + lines(4, 2));
  CHECK(loads(path, expected, {.header_lines = 1}));
  write_bytes(path, "# text\n");
  CHECK(loads(path, at::empty({0, 0}), {.header_lines = 3}));
}

TEST_CASE("quoted fields hold delimiters, line ends and quotes", "[io][csv]") {
  const TempDir dir;
  const auto path = dir.path("a.csv");
  const std::string texts[] = {
      "plain", "\"a, b\"", "\"two\nlines\n\n\"", "\"\"", "\"say \"\"no\"\"\n, and # go\"", "it's 5\"", "\"\r\n\"\"\""};
  for (int shift = 0; shift < 12; ++shift) {
    auto text = fmt::format("\"a header\nof two \"\"lines\"\"\",b,c\n{:{}}0,x,0\n", "", shift);
    const int rows = 25;
    for (int i = 1; i < rows; ++i) text += fmt::format("\"{}\",{}, \"{}\" \r\n", i, texts[i % 7], 2 * i);
    write_bytes(path, text);
    const auto first = at::arange(rows, at::kFloat);
    CHECK(loads(path, at::stack({2 * first, first}, 1), {.header_lines = 1, .columns = {2, 0}}));
  }
  for (int blanks = 0; blanks < 12; ++blanks) {
    std::string text;
    for (int i = 0; i < 25; ++i) text += fmt::format("{:{}}\"{}\",{}\n", "", blanks, i, 2 * i);
    write_bytes(path, text);
    CHECK(loads(path, at::stack({at::arange(25, at::kFloat), 2 * at::arange(25, at::kFloat)}, 1)));
  }
  write_bytes(path, "1,\"2\n\"\n\"\r\n3\",4\n");
  CHECK(loads(path, counting({2, 2}) + 1));
  write_bytes(path, "1,2\n3,\"4\n5,6\n");
  CHECK_THAT(load_error(path), Contains("line 2") && Contains("not closed"));
  write_bytes(path, "\"1\"2,\"3\" \n");
  CHECK(loads(path, at::tensor({12.f, 3.f}).unsqueeze(0)));
  write_bytes(path, "1,\"2\"x\n");
  CHECK_THAT(load_error(path), Contains("line 1, column 1"));
}

TEST_CASE("fields that are missing", "[io][csv]") {
  const TempDir dir;
  const auto path = dir.path("a.csv");
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  write_bytes(path, "1,,3\n,NA, \n-,\"\",9\n");
  CHECK(loads(path, at::tensor({1.f, nan, 3.f, nan, nan, nan, nan, nan, 9.f}).reshape({3, 3}),
              {.missing_texts = {"NA", "-"}}));
  CHECK(loads(path, at::tensor({1, -1, 3, -1, -1, -1, -1, -1, 9}, at::kInt).reshape({3, 3}),
              {.missing = -1, .missing_texts = {"NA", "-"}, .dtype = ht::int32}));
  CHECK_THAT(load_error(path), Contains("\"NA\" in line 2, column 1"));
  for (const double bad : {-1.0, 256.0, double{NAN}})
    CHECK_THROWS_AS(ht::io::load_csv(path, {.missing = bad, .dtype = ht::uint8}), ht::ValueError);
  CHECK_THAT(load_error(path, {.dtype = ht::int32}), Contains("\"\" in line 1, column 1") && Contains("missing"));
}

TEST_CASE("tabs are delimiters if asked", "[io][csv]") {
  const TempDir dir;
  const auto path = dir.path("a.csv");
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  write_bytes(path, "\t 2 \t3\n1\t\t\t# none\n\t\t\r\n\"4\"\t5\t6\n");
  CHECK_THAT(load_error(path, {.delimiter = '\t'}), Contains("4 fields in line 2"));
  write_bytes(path, "\t 2 \t3\n1\t\t# none\n\t\t\r\n\"4\"\t5\t6\n");
  CHECK(loads(path, at::tensor({nan, 2.f, 3.f, 1.f, nan, nan, nan, nan, nan, 4.f, 5.f, 6.f}).reshape({4, 3}),
              {.delimiter = '\t'}));
}

TEST_CASE("numbers of every dtype are read exactly", "[io][csv]") {
  const TempDir dir;
  const auto path = dir.path("a.csv");
  const auto infinite = std::numeric_limits<double>::infinity();
  write_bytes(path, "0.1,1e400,-1e-400\nnan,-inf,Infinity\n9007199254740993,2.5e-324,1.7976931348623157e308\n");
  CHECK(loads(path,
              at::tensor({0.1, infinite, -0.0, std::nan(""), -infinite, infinite, 9007199254740992.0,
                          std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max()})
                  .reshape({3, 3}),
              {.dtype = ht::float64}));
  write_bytes(path, "16777217.0000001\n");
  CHECK(loads(path, at::tensor({16777218.f}).reshape({1, 1})));
  write_bytes(path, "2049.0000001,2049,-2050.9999999\n");  // the even one of two floats is farther away, or as near
  CHECK(loads(path, at::tensor({2050.f, 2048.f, -2050.f}).to(at::kHalf).unsqueeze(0), {.dtype = ht::float16}));
  write_bytes(path, "1.00390625000001,1.00390625\n");
  CHECK(loads(path, at::tensor({1.0078125f, 1.f}).to(at::kBFloat16).unsqueeze(0), {.dtype = ht::bfloat16}));
  write_bytes(path, "nan(text)\n");
  CHECK_THAT(load_error(path), Contains("nan(text)"));
  write_bytes(path, "9223372036854775807\n-9223372036854775808\n");
  CHECK(loads(
      path,
      at::tensor({std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}).reshape({2, 1}),
      {.dtype = ht::int64}));
  CHECK_THAT(load_error(path, {.dtype = ht::int32}), Contains("int32"));
  write_bytes(path, "1,True\nfalse,0\n");
  CHECK(loads(path, at::tensor({1, 1, 0, 0}).reshape({2, 2}).to(at::kBool), {.dtype = ht::bool_}));
  write_bytes(path, "( 1+2j ),(3-4e1j)\n5,-6j\n");
  const auto complex = at::complex(at::tensor({1., 3., 5., 0.}), at::tensor({2., -40., 0., -6.})).reshape({2, 2});
  CHECK(loads(path, complex, {.dtype = ht::complex128}));
  write_bytes(path, "7+-5j,(2+-1e1j)\n");
  CHECK(loads(path,
              at::complex(at::tensor({7., 2.}, at::kDouble), at::tensor({-5., -10.}, at::kDouble)).reshape({1, 2}),
              {.dtype = ht::complex128}));
  write_bytes(path, "256\n");
  CHECK_THAT(load_error(path, {.dtype = ht::uint8}), Contains("\"256\"") && Contains("uint8"));
  write_bytes(path, "1.5\n");
  CHECK_THAT(load_error(path, {.dtype = ht::int32}), Contains("\"1.5\"") && Contains("int32"));
}

/// Returns random decimals. Most of them are short; some are not numbers.
std::string random_number(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t count) { return random() % count; };
  const auto digits = [&](std::uint64_t most) {
    std::string text;
    for (auto count = below(most); count > 0; --count) text.push_back(static_cast<char>('0' + below(10)));
    return text;
  };
  auto text = (below(3) == 0 ? "-" : "") + digits(below(4) == 0 ? 22 : 7);
  if (below(3) != 0) text += "." + digits(below(4) == 0 ? 26 : 9);
  if (below(5) == 0) text += "e" + std::to_string(static_cast<int>(below(40)) - 20);
  return text + (below(2) == 0 ? "" : below(2) == 0 ? ",1" : " x");
}

TEMPLATE_TEST_CASE("short numbers are those that std::from_chars reads", "[io][csv]", float, double, std::int8_t,
                   std::int64_t, std::uint8_t) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 50'000; ++i) {
    const auto text = random_number(random);
    INFO(text);
    TestType value = 0, expected = 0;
    std::string_view rest = text;
    if (!ht::io::detail::take_short(rest, value)) {
      CHECK(rest == text);
      continue;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), expected);
    CHECK(error == std::errc());
    CHECK(value == expected);
    CHECK(std::signbit(static_cast<double>(value)) == std::signbit(static_cast<double>(expected)));
    CHECK(rest.data() == end);
  }
}

TEST_CASE("plain rows and others mix", "[io][csv]") {
  const TempDir dir;
  const auto path = dir.path("a.csv");
  write_bytes(path, "# t\n1,2.5,-3\n 4 , 5,6 \r\n\n7,8,9 # that\n10,,11\n+12,1e2,nan\n");
  const auto expected = at::tensor({1., 2.5, -3., 4., 5., 6., 7., 8., 9., 10., -7., 11., 12., 100., -7.}, at::kDouble);
  const auto x = ht::io::load_csv(path, {.dtype = ht::float64, .split = 0});
  CHECK(equals(gathered(x).nan_to_num(-7), expected.view({5, 3})));
  write_bytes(path, "1 2\t3\n  4  5 6 \n7 8 9\n");
  CHECK(loads(path, counting({3, 3}, at::kInt) + 1, {.delimiter = ' ', .dtype = ht::int32}));
  write_bytes(path, "1,2\n3\n");
  CHECK_THAT(load_error(path), Contains("1 fields in line 2"));
  write_bytes(path, "1,2\n3,4,5\n");
  CHECK_THAT(load_error(path), Contains("3 fields in line 2"));
}

TEST_CASE("many text files are one array", "[io][csv]") {
  const TempDir dir;
  for (const int i : {0, 1, 2, 10}) {
    const auto row = std::to_string(i);
    write_bytes(dir.path("part-" + row + ".csv"), "\"a\nheader\",b\n" + row + ",\"1\"\n" + row + ",\"2\"");
  }
  write_bytes(dir.path("part-3.csv"), "nothing");
  const auto expected = at::tensor({0, 1, 0, 2, 1, 1, 1, 2, 2, 1, 2, 2, 10, 1, 10, 2}, at::kFloat).reshape({8, 2});
  CHECK(loads(dir.path("part-*.csv"), expected, {.header_lines = 1}));
  CHECK(loads(dir.path(""), expected, {.header_lines = 1}));
  CHECK(ht::io::io_report().files == 5);
  CHECK_THAT(load_error(dir.path("no-*.csv")), Contains("matches nothing"));
}

TEST_CASE("bad rows and options are errors on all ranks", "[io][csv]") {
  const TempDir dir;
  const auto path = dir.path("a.csv");
  write_bytes(path, lines(50, 3) + "1,2\n" + lines(50, 3));
  CHECK_THAT(load_error(path), Contains("2 fields in line 51") && Contains("a.csv") && Contains("expected 3"));
  write_bytes(path, lines(50, 3) + "1,x,2\n");
  CHECK_THAT(load_error(path), Contains("\"x\" in line 51, column 1") && Contains("float32"));
  write_bytes(path, std::string("1,2\n") + std::string("1\0\xaa,2\n", 6));
  CHECK_THAT(load_error(path), Contains("got \"1\\x00\\xaa\" in line 2, column 0") && Contains("expected a number"));
  write_bytes(path, "size \", of three\n" + lines(50, 3));
  CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::load_csv(path, {.delimiter = ' ', .header_lines = 1}); }),
             Contains("quote in header line 1") && Contains("not closed"));
  write_bytes(path, lines(50, 3) + "1,x,2\n");
  CHECK_THAT(load_error(dir.path("no.csv")), Contains("No such file"));
  const auto error = [&](const ht::io::LoadCsvOptions& options) {
    return same_message<ht::Error>([&] { return ht::io::load_csv(path, options); });
  };
  CHECK_THAT(error({.delimiter = '.'}), Contains("delimiter"));
  CHECK_THAT(error({.delimiter = '"'}), Contains("delimiter"));
  CHECK_THAT(error({.header_lines = -1}), Contains("header_lines -1"));
  CHECK_THAT(error({.columns = {3}}), Contains("3"));
  CHECK_THAT(error({.split = 2}), Contains("axis 2"));
}

TEST_CASE("every layout and dtype is saved as text and comes back", "[io][csv]") {
  const TempDir dir;
  const auto path = dir.path("a.csv");
  for (int i = 0; i < ht::dtype_count; ++i) {
    const auto dtype = static_cast<ht::Dtype>(i);
    const auto global = (counting({9, 4}, at::kDouble) / 7).to(ht::to_torch(dtype));
    for (const auto& layout : every_layout({9, 4})) {
      ht::io::save_csv(distribute(global, layout), path);
      CHECK(same(ht::io::load_csv(path, {.dtype = dtype, .split = layout.split()}), global));
    }
  }
  const auto bits = at::randint(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                                {500, 9}, at::kLong);
  for (const auto& [values, dtype] :
       {std::pair{bits.view(at::kDouble), ht::float64}, {bits.view(at::kFloat), ht::float32}}) {
    auto shared = values.clone();
    ht::world().broadcast({shared.data_ptr(), shared.numel(), dtype}, 0);
    ht::io::save_csv(distribute(shared, ht::Layout({500, shared.size(1)}, 0, ht::world().size())), path);
    CHECK(same(ht::io::load_csv(path, {.dtype = dtype, .split = 0}), shared));
  }
  CHECK(dir.names() == std::vector<std::string>{"a.csv"});
}

TEST_CASE("the text that save_csv writes", "[io][csv]") {
  const TempDir dir;
  const auto path = dir.path("a.csv");
  const auto global =
      at::tensor({0.1f, -0.f, 1e20f, 2.5f, 3.f, std::numeric_limits<float>::infinity()}).reshape({3, 2});
  for (const auto& layout : every_layout({3, 2})) {
    ht::io::save_csv(distribute(global, layout), path);
    CHECK(read_bytes(path) == "0.1,-0\n1e+20,2.5\n3,inf\n");
    ht::io::save_csv(distribute(global, layout), path,
                     {.delimiter = ';', .header = "a;b", .footer = "end", .decimals = 2});
    CHECK(read_bytes(path) == "a;b\n0.10;-0.00\n100000002004087734272.00;2.50\n3.00;inf\nend\n");
  }
  for (const auto& layout : every_layout({3})) {
    ht::io::save_csv(distribute(at::tensor({1, 0, 1}).to(at::kBool), layout), path);
    CHECK(read_bytes(path) == "1\n0\n1\n");
  }
  ht::io::save(ht::arange(2, {.split = 0}), path);
  CHECK(same(ht::io::load(path, {.split = 0, .dtype = ht::int64}), at::arange(2).unsqueeze(1)));
  ht::io::save_csv(ht::zeros({0, 3}, {.split = 0}), path);
  CHECK(read_bytes(path).empty());
  const auto big = counting({40000, 30}, at::kInt);
  ht::io::save_csv(distribute(big, ht::Layout({40000, 30}, 1, ht::world().size())), path);
  CHECK(same(ht::io::load_csv(path, {.dtype = ht::int32, .split = 1}), big));

  const auto error = [&](const ht::DNDarray& x, const ht::io::SaveCsvOptions& options) {
    return same_message<ht::ValueError>([&] { ht::io::save_csv(x, dir.path("b.csv"), options); });
  };
  CHECK_THAT(error(ht::zeros({2, 2, 2}), {}), Contains("(2, 2, 2)"));
  CHECK_THAT(error(ht::zeros({2}), {.decimals = -1}), Contains("decimals -1"));
  for (const char c : {'\n', '\0', '5', 'e', '"'})
    CHECK_THAT(error(ht::zeros({2}), {.delimiter = c}), Contains("delimiter"));
  CHECK(dir.names() == std::vector<std::string>{"a.csv"});
}

TEST_CASE("characters that end lines have no other meaning", "[io][csv]") {
  const TempDir dir;
  const auto path = dir.path("a.csv");
  write_bytes(path, "1 2\r\n3\t4\n");
  CHECK(loads(path, counting({2, 2}) + 1, {.delimiter = ' '}));
  for (const char c : {'\n', '\r', '\t'}) {
    CHECK_THROWS_AS(ht::io::load_csv(path, {.delimiter = ' ', .comment = c}), ht::ValueError);
    CHECK_THROWS_AS(ht::io::load_csv(path, {.delimiter = ' ', .quote = c}), ht::ValueError);
  }
  write_bytes(path, "1,2\n2\r,3\n");
  CHECK_THAT(load_error(path), Contains("line 2, column 0"));
}

TEST_CASE("the default dtype is that of CSV files, too", "[io][csv]") {
  const TempDir dir;
  write_bytes(dir.path("a.csv"), "16777217,0.1\n");
  ht::set_default_dtype(ht::float64);
  const auto x = ht::io::load_csv(dir.path("a.csv")), y = ht::io::load(dir.path("a.csv"));
  ht::set_default_dtype(ht::float32);
  CHECK(x.dtype() == ht::float64);
  CHECK(y.to_vector<double>() == x.to_vector<double>());
  CHECK(x.to_vector<double>() == std::vector{16777217.0, 0.1});
}
