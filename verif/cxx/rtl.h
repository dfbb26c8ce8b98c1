// What Rust sees of the Verilated RTL.
#pragma once
#include <memory>
#include "rust/cxx.h"
#include "unit.h"

namespace metaroce {

// One clock of a unit. The slices are as long as the unit's ports: the Rust side checks.
inline void step(Rtl& unit, rust::Slice<const std::uint32_t> in, rust::Slice<std::uint32_t> out) {
    unit.step(in.data(), out.data());
}

// The model of that name, or null when this program was built without it.
std::unique_ptr<Rtl> make_rtl(rust::Str model, std::uint32_t seed);
// Names of all models in this program.
rust::Vec<rust::String> rtl_models();

}  // namespace metaroce
