// The Verilated RTL of any unit, behind one class: inputs in packed words, outputs in packed words, one clock a call.
#pragma once
#include <cstdint>
#include <verilated.h>

namespace metaroce {

class Rtl {
public:
    virtual ~Rtl() = default;
    // Applies the inputs with the clock low, lets them settle, samples the outputs, and raises the clock.
    virtual void step(const std::uint32_t* in, std::uint32_t* out) = 0;
    // Which line is broken; only in models made with breakable lines.
    virtual void set_mutant(std::uint8_t number) = 0;

protected:
    // Registers and memories start with random contents that depend on the seed alone.
    static VerilatedContext* randomised(VerilatedContext* context, int seed) {
        context->randReset(2);
        context->randSeed(seed);
        return context;
    }
};

}  // namespace metaroce
