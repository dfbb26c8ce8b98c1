// What leads to a global network on an ECP5: nextpnr puts clocks there by itself, and nothing else.

module global_buffer (clk, in, out);

    input clk;
    input in;
    output out;

    DCCA buffer (.CLKI(in), .CE(1'b1), .CLKO(out));

endmodule
