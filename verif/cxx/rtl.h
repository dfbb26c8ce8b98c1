// The Verilated RTL of any unit, behind one class: inputs in packed words, outputs in packed words, one clock a call.
#pragma once
#include <cstdint>
#include <memory>
#include <verilated.h>
#include "rust/cxx.h"

namespace metaroce {

class Rtl {
public:
    virtual ~Rtl() = default;
    // Applies the inputs with the clock low, lets them settle, samples the outputs, and raises the clock.
    virtual void step(const std::uint32_t* in, std::uint32_t* out) = 0;
    // Which line is broken; only in models made with breakable lines.
    virtual void set_mutant(std::uint8_t number) = 0;

    void step_words(rust::Slice<const std::uint32_t> in, rust::Slice<std::uint32_t> out) { step(in.data(), out.data()); }

protected:
    // Registers and memories start with random contents that depend on the seed alone.
    static VerilatedContext* randomised(VerilatedContext* context, int seed) {
        context->randReset(2);
        context->randSeed(seed);
        return context;
    }
};

// The model of that name, or null when this program was built without it.
std::unique_ptr<Rtl> make_rtl(rust::Str model, std::uint32_t seed);
// Names of all models in this program.
rust::Vec<rust::String> rtl_models();

}  // namespace metaroce
