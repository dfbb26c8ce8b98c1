// A word behind one condition, `word & {N{condition}}`, as a choice between the word and zero: where it is a register's next value, synthesis then makes
// the register zero by its synchronous reset, which costs nothing, and not by a look-up table for every bit.

(* techmap_celltype = "$and" *)
module gating (A, B, Y);

    parameter A_SIGNED = 0;
    parameter B_SIGNED = 0;
    parameter A_WIDTH = 1;
    parameter B_WIDTH = 1;
    parameter Y_WIDTH = 1;

    // A number for each bit's net, the same for the same net.
    parameter _TECHMAP_BITS_CONNMAP_ = 1;
    parameter [A_WIDTH * _TECHMAP_BITS_CONNMAP_ - 1:0] _TECHMAP_CONNMAP_A_ = 0;
    parameter [B_WIDTH * _TECHMAP_BITS_CONNMAP_ - 1:0] _TECHMAP_CONNMAP_B_ = 0;

    // Narrower words are not worth a reset of their own: it takes the tiles of eight registers for itself.
    localparam LEAST_WIDTH = 64;
    localparam WORDS = Y_WIDTH >= LEAST_WIDTH && A_WIDTH == Y_WIDTH && B_WIDTH == Y_WIDTH;
    localparam A_IS_CONDITION = _TECHMAP_CONNMAP_A_ == {A_WIDTH{_TECHMAP_CONNMAP_A_[_TECHMAP_BITS_CONNMAP_ - 1:0]}};
    localparam B_IS_CONDITION = _TECHMAP_CONNMAP_B_ == {B_WIDTH{_TECHMAP_CONNMAP_B_[_TECHMAP_BITS_CONNMAP_ - 1:0]}};

    input [A_WIDTH - 1:0] A;
    input [B_WIDTH - 1:0] B;
    output [Y_WIDTH - 1:0] Y;

    generate
        if (WORDS && B_IS_CONDITION) begin
            assign Y = B[0] ? A : {Y_WIDTH{1'b0}};
        end else if (WORDS && A_IS_CONDITION) begin
            assign Y = A[0] ? B : {Y_WIDTH{1'b0}};
        end else begin
            wire _TECHMAP_FAIL_ = 1;
        end
    endgenerate

endmodule
