#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ops/operands/operand.hpp>

namespace heatpp::detail {

/// The local blocks of the operands of an elementwise operation. The operation on them gives this rank's block of the
/// result.
struct Aligned {
  std::vector<at::Tensor> blocks;
  Layout layout;  ///< layout of the result
  Communicator comm;
};

/// Brings operands of any layouts together and moves as few bytes as possible. Numbers become tensors that take part in
/// type promotion only by their kind. Throws ValueError if there is no array or the shapes do not broadcast, CommError
/// for different communicators.
[[nodiscard]] Aligned align(const char* op, std::span<const Operand> operands);

/// Returns the block of `operand` that meets this rank's block of `x`, to which it is broadcast.
[[nodiscard]] at::Tensor align_to(const char* op, const DNDarray& x, const Operand& operand);
/// Returns the block for an array of which only the layout is known.
[[nodiscard]] at::Tensor align_to(const char* op, const Layout& layout, const Communicator& comm,
                                  const Operand& operand);

/// Returns `block`, or a copy if it shares memory with `written`, so that writes there do not change it.
[[nodiscard]] inline at::Tensor apart_from(const at::Tensor& written, const at::Tensor& block) {
  return block.is_alias_of(written) ? block.clone() : block;
}

/// Returns the common dtype of operands: that of the arrays; numbers change it only by their kind.
[[nodiscard]] Dtype common_type(std::span<const Operand> operands);
/// Throws TypeError for a mask that is not bool.
void check_bool(const char* op, const DNDarray& mask);
/// Throws TypeError for a complex value, and ValueError for a number out of range, in an array of this dtype.
void check_value(const char* op, const Operand& value, Dtype array);

/// Runs f and gives its errors the name of `op`. If LibTorch refuses a dtype, this is a TypeError with the operands'
/// dtypes; if this rank has no memory for a result, it is a MemoryError.
template <class F>
auto with_errors_of(const char* op, std::span<const Operand> operands, F f) {
  try {
    return f();
  } catch (const MemoryError& error) {
    throw MemoryError("[" + std::string(op) + "] got no memory for a result (" + error.what() + "); expected enough");
  } catch (const c10::Error& error) {
    std::string dtypes;
    for (const auto& operand : operands)
      dtypes +=
          (dtypes.empty() ? "" : ", ") + std::string(operand.array() ? name(operand.array()->dtype()) : "a number");
    throw TypeError("[" + std::string(op) + "] got operands of " + dtypes +
                    "; expected dtypes that the operation takes: " + error.what_without_backtrace());
  }
}

}  // namespace heatpp::detail
