// Fourier transforms.
#include "../check.hpp"
#include "../data.hpp"
#include "../workload.hpp"

namespace bench {
namespace {

ht::DNDarray complex_normal(std::uint64_t seed, const ht::Shape& shape) {
  return generate(shape, 0, [seed](std::uint64_t i) { return std::complex(normal(seed, i), normal(seed + 1, i)); });
}

std::vector<double> check_complex(const ht::DNDarray& x) {
  auto sums = check_sums(ht::copy(ht::real(x)));
  const auto imaginary = check_sums(ht::copy(ht::imag(x)));
  sums.insert(sums.end(), imaginary.begin(), imaginary.end());
  return sums;
}

Prepared fft2() {
  return timed([x = complex_normal(111, {4096, 4096})] { return ht::fft::fft2(x); }, check_complex);
}

Prepared fft1d() {
  return timed([x = complex_normal(113, {1 << 22})] { return ht::fft::fft(x); }, check_complex);
}

Prepared rfft() {
  return timed([x = generate<normal>(115, {4096, 4096})] { return ht::fft::rfft(x, {.axis = 1}); }, check_complex);
}

}  // namespace

std::vector<Workload> transform_workloads() {
  return {{"fft2", "along both axes", fft2}, {"fft1d", "along the split", fft1d}, {"rfft", "along rows", rfft}};
}

}  // namespace bench
