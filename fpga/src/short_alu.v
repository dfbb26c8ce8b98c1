// A short sum or comparison as look-up tables. A carry chain is placed as one piece, and beginning and ending one costs four look-up tables.

(* techmap_celltype = "$alu" *)
module short_alu (A, B, CI, BI, X, Y, CO);

    parameter A_SIGNED = 0;
    parameter B_SIGNED = 0;
    parameter A_WIDTH = 1;
    parameter B_WIDTH = 1;
    parameter Y_WIDTH = 1;

    // The widest whose look-up tables are not slower than a chain.
    localparam MOST_WIDTH = 6;
    wire _TECHMAP_FAIL_ = Y_WIDTH > MOST_WIDTH;

    (* force_downto *) input [A_WIDTH - 1:0] A;
    (* force_downto *) input [B_WIDTH - 1:0] B;
    input CI;
    input BI;
    (* force_downto *) output [Y_WIDTH - 1:0] X;
    (* force_downto *) output [Y_WIDTH - 1:0] Y;
    (* force_downto *) output [Y_WIDTH - 1:0] CO;

    wire [Y_WIDTH - 1:0] a;
    wire [Y_WIDTH - 1:0] plain_b;
    \$pos #(.A_SIGNED(A_SIGNED), .A_WIDTH(A_WIDTH), .Y_WIDTH(Y_WIDTH)) extend_a (.A(A), .Y(a));
    \$pos #(.A_SIGNED(B_SIGNED), .A_WIDTH(B_WIDTH), .Y_WIDTH(Y_WIDTH)) extend_b (.A(B), .Y(plain_b));
    wire [Y_WIDTH - 1:0] b = plain_b ^ {Y_WIDTH{BI}};
    wire [Y_WIDTH:0] carry;
    assign carry[0] = CI;
    assign carry[Y_WIDTH:1] = a & b | carry[Y_WIDTH - 1:0] & (a | b);
    assign X = a ^ b;
    assign Y = X ^ carry[Y_WIDTH - 1:0];
    assign CO = carry[Y_WIDTH:1];

endmodule
