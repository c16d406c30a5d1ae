#include "../io/bytes.hpp"
#include "sparse_data.hpp"
#include <heatpp/sparse/io/files.hpp>

#include <cstdlib>
#include <filesystem>

namespace {

using Catch::Contains;

const std::vector<std::string> endings{".mtx", ".npz", ".h5", ".petsc"};
const std::vector<std::optional<int>> splits{0, std::nullopt};

/// Returns the dtype that a format gives for a dtype. PETSc's format does not say whether values are complex if there
/// are none.
at::ScalarType stored_as(const std::string& ending, at::ScalarType type, std::int64_t entries) {
  const bool whole = at::isIntegralType(type, true);
  if (ending == ".petsc") return at::isComplexType(type) && entries > 0 ? at::kComplexDouble : at::kDouble;
  if (ending == ".mtx") return at::isComplexType(type) ? at::kComplexDouble : whole ? at::kLong : at::kDouble;
  return type;
}

/// Returns the error for a file with these bytes, which must be the same on all ranks.
std::string mtx_error(const TempDir& dir, const std::string& text) {
  write_bytes(dir.path("a.mtx"), text);
  return same_message<ht::Error>([&] { (void)sp::load_mtx(dir.path("a.mtx")); });
}

sp::DCSRMatrix mtx(const TempDir& dir, const std::string& text, std::optional<int> split = 0) {
  write_bytes(dir.path("a.mtx"), text);
  return sp::load(dir.path("a.mtx"), {.split = split});
}

}  // namespace

TEST_CASE("matrices of every layout are saved, and read back", "[sparse][files]") {
  const TempDir dir;
  for (const auto type : {at::kDouble, at::kFloat, at::kInt, at::kBool, at::kComplexDouble})
    for (const auto& shape : {ht::Shape{9, 6}, ht::Shape{2, 7}, ht::Shape{0, 4}, ht::Shape{5, 0}})
      for (const auto& layout : row_layouts(shape)) {
        const auto global = mostly_zeros(shape[0], shape[1], type);
        const auto a = sparse_of(global, layout);
        for (const auto& ending : endings) {
          const auto path = dir.path("a" + ending);
          sp::save(a, path);
          const auto split = layout.split();
          const auto b = sp::load(path, {.split = split});
          CHECK(same_matrix(b, global.to(stored_as(ending, type, a.nnz()))));
          CHECK(b.layout() == ht::Layout(shape, split, ht::world().size()));
          CHECK(b.nnz() == a.nnz());
        }
      }
  CHECK(dir.names().size() == endings.size());
}

TEST_CASE("entries that are 0, dtypes and compression", "[sparse][files]") {
  const TempDir dir;
  const auto a = sparse_of(mostly_zeros(40, 30), ht::Layout({40, 30}, 0, ht::world().size())) * 0.0;
  for (const auto& ending : endings) {
    sp::save(a, dir.path("a" + ending));
    const auto b = sp::load(dir.path("a" + ending), {.dtype = ht::float32});
    CHECK(b.nnz() == a.nnz());
    CHECK(same_matrix(b, at::zeros({40, 30}, at::kFloat)));
  }
  for (const auto* ending : {".npz", ".h5"}) {
    sp::save(a, dir.path(std::string("b") + ending), {.compression = 6});
    CHECK(same_matrix(sp::load(dir.path(std::string("b") + ending)), at::zeros({40, 30}, at::kDouble)));
    CHECK_THROWS_AS(sp::save(a, dir.path(std::string("c") + ending), {.compression = 11}), ht::ValueError);
  }
  for (const auto* ending : {".mtx", ".petsc"})
    CHECK_THROWS_AS(sp::save(a, dir.path(std::string("c") + ending), {.compression = 6}), ht::ValueError);
  CHECK_THROWS_AS(sp::save(a, dir.path("c.mtx"), {.group = "X"}), ht::ValueError);
  CHECK_THROWS_AS(sp::load(dir.path("a.mtx"), {.group = "X"}), ht::ValueError);
  CHECK_THROWS_AS(sp::load(dir.path("a.mtx"), {.split = 1}), ht::ValueError);
  CHECK_THAT(same_message<ht::ValueError>([&] { (void)sp::load(dir.path("a.txt")); }), Contains("\".txt\""));
  for (const auto& ending : endings)
    CHECK_FALSE(same_message<ht::IoError>([&] { (void)sp::load(dir.path("none" + ending)); }).empty());
}

TEST_CASE("groups of one HDF5 file", "[sparse][files]") {
  const TempDir dir;
  const auto path = dir.path("a.h5ad");
  const auto x = mostly_zeros(7, 5), y = mostly_zeros(3, 4, at::kFloat, 1);
  sp::save(sparse_of(x, ht::Layout({7, 5}, 0, ht::world().size())), path);
  const auto b = sparse_of(y, ht::Layout({3, 4}, 0, ht::world().size()));
  CHECK_THROWS_AS(sp::save(b, path, {.append = true}), ht::ValueError);
  CHECK(same_matrix(sp::load(path), x));
  sp::save(b, path, {.group = "layers/raw", .append = true});
  CHECK(same_matrix(sp::load(path), x));  // the root's only one
  CHECK(same_matrix(sp::load(path, {.group = "layers/raw"}), y));
  sp::save(b, path, {.group = "Y", .append = true});
  CHECK_THAT(same_message<ht::ValueError>([&] { (void)sp::load(path); }), Contains("2 groups"));
  CHECK_THAT(same_message<ht::IoError>([&] { (void)sp::load(path, {.group = "layers"}); }), Contains("layers/indptr"));

  ht::io::save_hdf5(on_all(numbers({1, 2, 3})), dir.path("b.h5"), "matrix/data");
  for (const auto& [name, values] : {std::pair{"indices", numbers({2, 0, 1})}, {"indptr", numbers({0, 1, 3})}})
    ht::io::save_hdf5(on_all(values), dir.path("b.h5"), std::string("matrix/") + name, {.append = true});
  CHECK_THAT(same_message<ht::IoError>([&] { (void)sp::load(dir.path("b.h5")); }), Contains("encoding-type"));
  ht::io::save_hdf5(on_all(numbers({3, 2})), dir.path("b.h5"), "matrix/shape", {.append = true});
  for (const auto& split : splits)  // 10x Genomics': by columns
    CHECK(same_matrix(sp::load(dir.path("b.h5"), {.split = split}),
                      at::tensor(std::vector<std::int64_t>{0, 2, 0, 3, 1, 0}, at::kLong).view({3, 2})));
}

TEST_CASE("Matrix Market: fields, symmetries, comments and line ends", "[sparse][files]") {
  const TempDir dir;
  const auto f64 = at::TensorOptions(at::kDouble);
  const auto i = numbers({0, 1, 2, 1, 2}), j = numbers({0, 0, 1, 1, 2});
  for (const auto& split : splits) {
    const auto check = [&](const std::string& text, const at::Tensor& expected) {
      CHECK(same_matrix(mtx(dir, text, split), expected));
      std::string with_cr;
      for (const char c : text) with_cr += c == '\n' ? std::string("\r\n") : std::string(1, c);
      CHECK(same_matrix(mtx(dir, with_cr, split), expected));
      CHECK(same_matrix(mtx(dir, text.substr(0, text.size() - 1), split), expected));
    };
    auto lower = at::zeros({3, 3}, f64);
    lower.index_put_({i, j}, at::tensor({1., 2.5, -3., 4e-3, 0.}, f64));
    const std::string entries = "1 1 1\n2 1\t2.5\n\n  3 2 -3.0\n% more\n2 2 4e-3\n3 3 0\n";
    check("%%MatrixMarket matrix coordinate real general\n% text\n\n%\n3 3 5\n" + entries, lower);
    check("%%matrixmarket MATRIX Coordinate Real Symmetric\n3 3 5\n" + entries,
          lower + lower.t() - lower.diag().diag());
    check("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 2.5\n3 2 -3\n",
          at::tensor({0., -2.5, 0., 2.5, 0., 3., 0., -3., 0.}, f64).view({3, 3}));
    check("%%MatrixMarket matrix coordinate integer general\n1 2 3\n1 2 9007199254740993\n1 1 -4\n1 2 1\n",
          numbers({-4, 9007199254740994}).view({1, 2}));
    check("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n",
          at::tensor({1., 1., 1., 0.}, f64).view({2, 2}));
    check("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 3 0\n2 1 1 -2\n",
          at::complex(at::tensor({3., 1., 1., 0.}, f64), at::tensor({0., 2., -2., 0.}, f64)).view({2, 2}));
    check("%%MatrixMarket matrix array real general\n2 3\n1\n2\n0\n4\n5\n6\n",
          at::tensor({1., 0., 5., 2., 4., 6.}, f64).view({2, 3}));
    check("%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
          numbers({1, 2, 3, 2, 4, 5, 3, 5, 6}).view({3, 3}));
    check("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n",
          at::tensor({0., -1., -2., 1., 0., -3., 2., 3., 0.}, f64).view({3, 3}));
    check("%%MatrixMarket matrix coordinate real general\n4 0 0\n", at::zeros({4, 0}, f64));
  }
}

TEST_CASE("Matrix Market files that are damaged are errors on all ranks", "[sparse][files]") {
  const TempDir dir;
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  CHECK_THAT(mtx_error(dir, ""), Contains("[load_mtx]") && Contains("does not begin with"));
  CHECK_THAT(mtx_error(dir, "3 3 1\n1 1 1\n"), Contains("does not begin with"));
  CHECK_THAT(mtx_error(dir, "%%MatrixMarket vector coordinate real general\n"), Contains("\"vector\""));
  CHECK_THAT(mtx_error(dir, "%%MatrixMarket matrix coordinate real\n"), Contains("\"\""));
  CHECK_THAT(mtx_error(dir, "%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n"), Contains("contradicts"));
  CHECK_THAT(mtx_error(dir, "%%MatrixMarket matrix array pattern general\n1 1\n"), Contains("contradicts"));
  CHECK_THAT(mtx_error(dir, banner + "%\n"), Contains("without sizes"));
  CHECK_THAT(mtx_error(dir, banner + "3 3\n"), Contains("the sizes"));
  CHECK_THAT(mtx_error(dir, banner + "3 -3 1\n1 1 1\n"), Contains("(3, -3)"));
  CHECK_THAT(mtx_error(dir, banner + "4000000000000000000 3 1\n1 1 1\n"), Contains("[load_mtx] got"));
  CHECK_THAT(mtx_error(dir, banner + "99999999999999999999 3 1\n1 1 1\n"), Contains("the sizes"));
  CHECK_THAT(mtx_error(dir, "%%MatrixMarket matrix array real general\n3 4000000000000000000\n1\n"),
             Contains("that fits"));
  CHECK_THAT(mtx_error(dir, "%%MatrixMarket matrix coordinate real symmetric\n3 4 0\n"), Contains("square"));
  CHECK_THAT(mtx_error(dir, banner + "3 3 3\n1 1 1\n2 2 2\n"), Contains("got 2 lines") && Contains("expected 3"));
  CHECK_THAT(mtx_error(dir, banner + "3 3 1\n1 1 1\n2 2 2\n"), Contains("got 2 lines"));
  for (const auto* line : {"4 1 1", "1 4 1", "0 1 1", "1 1", "1 1 x", "1 1 1 1", "1.5 1 1", "1 1 1e", "-1 1 1"})
    CHECK_THAT(mtx_error(dir, banner + "3 3 3\n1 1 1\n" + line + "\n2 2 2\n"), Contains("in line 4") && Contains(line));
  CHECK_THAT(mtx_error(dir, "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n"),
             Contains("diagonal"));
  CHECK_THAT(mtx_error(dir, "%%MatrixMarket matrix coordinate integer general\n2 2 1\n2 2 99999999999999999999\n"),
             Contains("in line 3"));
}

TEST_CASE("formats of .npz besides csr, and archives that are damaged", "[sparse][files]") {
  const TempDir dir;
  const auto path = dir.path("a.npz");
  const auto save = [&](const std::string& format, const std::vector<std::pair<std::string, at::Tensor>>& arrays) {
    std::vector<ht::io::NamedArray> named;
    for (const auto& [name, x] : arrays) named.emplace_back(name, on_all(x));
    ht::io::save_npz(named, path, {.texts = {{"format", format}}});
  };
  const auto data = at::tensor({1., 2., 3., 4.}, at::kDouble), shape = numbers({3, 4});
  auto expected = at::zeros({3, 4}, at::kDouble);
  expected.index_put_({numbers({0, 0, 2, 2}), numbers({1, 3, 0, 3})}, data);
  for (const auto& split : splits) {
    const auto check = [&](const at::Tensor& wanted) { CHECK(same_matrix(sp::load(path, {.split = split}), wanted)); };
    save("csr", {{"indptr", numbers({0, 2, 2, 4})},
                 {"indices", numbers({1, 3, 0, 3}).to(at::kInt)},
                 {"data", data},
                 {"shape", shape}});
    check(expected);
    save("csr",
         {{"indptr", numbers({0, 3, 3, 4})}, {"indices", numbers({3, 1, 3, 0})}, {"data", data}, {"shape", shape}});
    check(at::tensor({0., 2., 0., 4., 0., 0., 0., 0., 4., 0., 0., 0.}, at::kDouble).view({3, 4}));  // sorted, summed
    save("csc", {{"indptr", numbers({0, 1, 2, 2, 4})},
                 {"indices", numbers({2, 0, 0, 2})},
                 {"data", at::tensor({3., 1., 2., 4.}, at::kDouble)},
                 {"shape", shape}});
    check(expected);
    save("coo", {{"row", numbers({2, 0, 2, 0})},
                 {"col", numbers({3, 1, 0, 3})},
                 {"data", at::tensor({4., 1., 3., 2.}, at::kDouble)},
                 {"shape", shape}});
    check(expected);
    save("coo", {{"coords", at::stack({numbers({2, 0, 2, 0}), numbers({3, 1, 0, 3})})},
                 {"data", at::tensor({4., 1., 3., 2.}, at::kDouble)},
                 {"shape", shape}});
    check(expected);
    save("dia",
         {{"offsets", numbers({1, -1})}, {"data", at::arange(1., 11., at::kDouble).view({2, 5})}, {"shape", shape}});
    check(at::tensor({0., 2., 0., 0., 6., 0., 3., 0., 0., 7., 0., 4.}, at::kDouble).view({3, 4}));
    save("bsr", {{"indptr", numbers({0, 1, 1, 2})},
                 {"indices", numbers({1, 0})},
                 {"data", data.view({2, 1, 2})},
                 {"shape", shape}});
    check(at::tensor({0., 0., 1., 2., 0., 0., 0., 0., 3., 4., 0., 0.}, at::kDouble).view({3, 4}));
  }
  const auto error = [&](const std::string& format, std::vector<std::pair<std::string, at::Tensor>> arrays) {
    save(format, arrays);
    return same_message<ht::Error>([&] { (void)sp::load(path); });
  };
  const auto csr = [&](const at::Tensor& pointers, const at::Tensor& indices, const at::Tensor& of = numbers({3, 4})) {
    return error("csr", {{"indptr", pointers}, {"indices", indices}, {"data", data}, {"shape", of}});
  };
  const auto columns = numbers({1, 3, 0, 3});
  CHECK(csr(numbers({0, 2, 2, 4}), columns).empty());
  CHECK_THAT(csr(numbers({0, 3, 2, 4}), columns), Contains("[load_npz] got the pointers 3 and 2 at 1"));
  CHECK_THAT(csr(numbers({1, 2, 2, 4}), columns), Contains("got pointers from 1"));
  CHECK_THAT(csr(numbers({0, 2, 2, 3}), columns), Contains("got pointers up to 3"));
  CHECK_THAT(csr(numbers({0, 2, 2, 5}), columns), Contains("got the pointers 2 and 5"));
  CHECK_THAT(csr(numbers({0, -2, 2, 4}), columns), Contains("got the pointers 0 and -2"));
  CHECK_THAT(csr(numbers({0, 2, 2, 4}), numbers({1, 4, 0, 3})), Contains("expected 0 to 3"));
  CHECK_THAT(csr(numbers({0, 2, 2, 4}), numbers({1, -1, 0, 3})), Contains("got columns -1"));
  CHECK_THAT(csr(numbers({0, 2, 4}), columns), Contains("got 3 pointers"));
  CHECK_THAT(csr(numbers({0, 2, 2, 4}), numbers({1, 3, 0})), Contains("3 indices and 4 values"));
  CHECK_THAT(csr(numbers({0, 2, 2, 4}), columns, numbers({1000000000000, 4})), Contains("[load_npz] got"));
  CHECK_THAT(csr(numbers({0, 2, 2, 4}), columns, numbers({3, -4})), Contains("(3, -4)"));
  CHECK_THAT(csr(numbers({0, 2, 2, 4}), columns, numbers({3, 4, 5})), Contains("got csr of shape (3, 4, 5)"));
  CHECK_THAT(csr(numbers({0, 2, 2, 4}).to(at::kDouble), columns), Contains("got indptr of float64"));
  CHECK_THAT(error("lil", {{"shape", shape}}), Contains("the format \"lil\""));
  CHECK_THAT(
      error("coo", {{"row", numbers({3})}, {"col", numbers({0})}, {"data", data.narrow(0, 0, 1)}, {"shape", shape}}),
      Contains("got rows 3 to 3"));
  CHECK_THAT(
      error("coo", {{"row", numbers({0, 1})}, {"col", numbers({0})}, {"data", data.narrow(0, 0, 1)}, {"shape", shape}}),
      Contains("2 numbers in row for 1"));
  CHECK_THAT(
      error("bsr",
            {{"indptr", numbers({0, 1})}, {"indices", numbers({0})}, {"data", data.view({1, 2, 2})}, {"shape", shape}}),
      Contains("blocks that fit"));
  CHECK_THAT(error("dia", {{"offsets", numbers({0})}, {"data", data.view({2, 2})}, {"shape", shape}}),
             Contains("a row for each"));
  CHECK_THAT(error("csr", {{"shape", shape}}), Contains("got no \"indptr\""));
  ht::io::save_npz({{"x", on_all(data)}}, path);
  CHECK_THAT(same_message<ht::IoError>([&] { (void)sp::load(path); }), Contains("got no \"format\""));
}

TEST_CASE("files that end too early are errors on all ranks", "[sparse][files]") {
  const TempDir dir;
  const auto a = sparse_of(mostly_zeros(30, 20), ht::Layout({30, 20}, 0, ht::world().size()));
  for (const auto& ending : endings) {
    const auto path = dir.path("a" + ending);
    sp::save(a, path);
    const auto whole = read_bytes(path);
    for (std::size_t part = 0; part < 12; ++part) {
      const auto bytes = std::min(whole.size() * part / 12, whole.rfind('\n', whole.size() - 2));
      write_bytes(path, whole.substr(0, bytes));
      CHECK_FALSE(same_message<ht::Error>([&] { (void)sp::load(path); }).empty());
    }
  }
}

TEST_CASE("PETSc's files: widths, objects behind the matrix, and damage", "[sparse][files]") {
  const TempDir dir;
  const auto path = dir.path("a.petsc");
  const auto bytes = [](const at::Tensor& x) { return bytes_of(x, static_cast<std::size_t>(x.element_size())); };
  const auto file = [&](const at::Tensor& numbers_, const at::Tensor& values) {
    write_bytes(path, bytes(numbers_) + bytes(values));
  };
  const auto head = numbers({1211216, 2, 3, 3, 2, 1, 0, 2, 1});
  const auto values = at::tensor({1., 2., 3.}, at::kDouble);
  const auto expected = at::tensor({1., 0., 2., 0., 3., 0.}, at::kDouble).view({2, 3});
  for (const auto number : {at::kInt, at::kLong})
    for (const auto& split : splits) {
      file(head.to(number), values);
      CHECK(same_matrix(sp::load(path, {.split = split}), expected));
      file(head.to(number), values.to(at::kFloat));
      CHECK(same_matrix(sp::load(path, {.split = split}), expected.to(at::kFloat)));
      file(head.to(number), at::tensor({1., 0., 2., 0., 3., 0.}, at::kDouble));
      CHECK(same_matrix(sp::load(path, {.split = split}), expected.to(at::kComplexDouble)));
      write_bytes(path,
                  bytes(head.to(number)) + bytes(values) + bytes(numbers({1211214, 2}).to(number)) + bytes(values));
      CHECK(same_matrix(sp::load(path, {.split = split}), expected));
    }
  write_bytes(path, bytes(head.to(at::kInt)) + bytes(values) + bytes(numbers({1211214, 2}).to(at::kInt)) +
                        std::string(16, '\0'));
  CHECK(same_matrix(sp::load(path), expected));  // as long as complex values would be
  const auto error = [&](std::initializer_list<std::int64_t> begin) {
    file(numbers(begin).to(at::kInt), values);
    return same_message<ht::IoError>([&] { (void)sp::load(path); });
  };
  CHECK_THAT(error({1211214, 2, 3, 3, 2, 1, 0, 2, 1}), Contains("[load_petsc]") && Contains("does not begin with"));
  CHECK_THAT(error({1211216, 2, 3, -1, 2, 1, 0, 2, 1}), Contains("-1 entries"));
  CHECK_THAT(error({1211216, 2, -3, 3, 2, 1, 0, 2, 1}), Contains("(2, -3)"));
  CHECK_THAT(error({1211216, 2000000000, 3, 3, 2, 1, 0, 2, 1}), Contains("2000000000 rows"));
  CHECK_THAT(error({1211216, 2, 3, 3, 2, 2, 0, 2, 1}), Contains("expected them to increase from 0 to 3"));
  CHECK_THAT(error({1211216, 2, 3, 3, 4, -1, 0, 2, 1}), Contains("got a row of -1 entries"));
  CHECK_THAT(error({1211216, 2, 3, 3, 2, 0, 0, 2, 1}), Contains("got pointers up to 2"));
  CHECK_THAT(error({1211216, 2, 3, 3, 2, 1, 0, 3, 1}), Contains("expected 0 to 2"));
}

/// Reads each file that Python has written and writes it in every format for Python to read.
TEST_CASE("files for Python", "[.python]") {
  const std::filesystem::path folder(std::getenv("HEATPP_SPARSE_FILES"));
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "in")) paths.push_back(entry.path());
  std::ranges::sort(paths);
  REQUIRE_FALSE(paths.empty());
  for (const auto& path : paths) {
    const auto a = sp::load(path);
    CHECK(sp::array_equal(a, sp::load(path, {.split = std::nullopt})));
    for (const auto& ending : endings) sp::save(a, folder / "out" / (path.filename().string() + ending));
    sp::save(a, folder / "out" / (path.filename().string() + ".deflated.npz"), {.compression = 6});
    sp::save(a, folder / "out" / (path.filename().string() + ".h5ad"));
  }
}
