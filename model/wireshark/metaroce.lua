-- MetaRoCE for Wireshark 4.0 and later. Generated from model/src/wire by `cargo wire dissector`; change it there.
-- Use: wireshark -X lua_script:metaroce.lua, or put it into the folder of personal Lua plugins.

local UDP_PORT = 61000
local WIRE_VERSION = 0
local ICRC_BYTES = 4
-- Bytes from the IPv4 header on that count as ones in the ICRC.
local MASKED = { [1] = true, [8] = true, [10] = true, [11] = true, [26] = true, [27] = true }

local OPCODES = {
    [0x00] = { name = "WRITE", reserved = false, data = true, headers = {"data", "write_target"} },
    [0x01] = { name = "WRITE_IMMEDIATE", reserved = false, data = true, headers = {"data", "write_target"} },
    [0x02] = { name = "SEND", reserved = false, data = true, headers = {"data", "send_target"} },
    [0x03] = { name = "SEND_IMMEDIATE", reserved = false, data = true, headers = {"data", "send_target"} },
    [0x04] = { name = "READ_REQUEST", reserved = true, data = false, headers = {} },
    [0x05] = { name = "READ_RESPONSE", reserved = true, data = false, headers = {} },
    [0x06] = { name = "ATOMIC_REQUEST", reserved = true, data = false, headers = {} },
    [0x07] = { name = "ATOMIC_RESPONSE", reserved = true, data = false, headers = {} },
    [0x10] = { name = "ACK", reserved = false, data = false, headers = {"ack"} },
    [0x11] = { name = "NAK", reserved = false, data = false, headers = {"nak"} },
    [0x12] = { name = "PROBE", reserved = false, data = false, headers = {} },
}

local NAK_CODES = {
    [1] = "RNR",
    [2] = "BAD_KEY",
    [3] = "OUT_OF_BOUNDS",
    [4] = "BAD_LENGTH",
}

-- Bits of the byte of base.flags.
local FLAGS = {
    { name = "last", mask = 0x01, doc = "The last packet of its message." },
    { name = "acknowledge", mask = 0x02, doc = "The receiver acknowledges this packet at once." },
}

-- The headers after UDP. A field stands in `bytes` bytes from byte `at` of its header on; in these it has the bits
-- of `mask`, if not all: `bits` bits above `shift` others.
local HEADERS = {
    base = {
        bytes = 14,
        doc = "In every packet.",
        fields = {
            { name = "wire_version", at = 0, bytes = 1, bits = 4, shift = 4, hexadecimal = false, mask = 0xf0, doc = "Version of this table; a receiver drops all else." },
            { name = "flags", at = 0, bytes = 1, bits = 4, shift = 0, hexadecimal = false, mask = 0x0f, doc = "See the flags." },
            { name = "opcode", at = 1, bytes = 1, bits = 8, shift = 0, hexadecimal = false, doc = "See the opcodes." },
            { name = "connection", at = 2, bytes = 3, bits = 24, shift = 0, hexadecimal = false, doc = "The receiver's number of the connection." },
            { name = "path", at = 5, bytes = 1, bits = 8, shift = 0, hexadecimal = false, doc = "Path of the connection (R2)." },
            { name = "psn", at = 6, bytes = 3, bits = 24, shift = 0, hexadecimal = false, doc = "Packet sequence number, of the path. Data: this packet's. ACK: the lowest that has not arrived. PROBE: the next that the sender will give; a probe takes none. NAK: 0." },
            { name = "timestamp", at = 9, bytes = 4, bits = 32, shift = 0, hexadecimal = false, doc = "When the packet was sent, in ticks of the sender's clock; an ACK echoes it." },
            { name = "reserved_base", at = 13, bytes = 1, bits = 8, shift = 0, hexadecimal = false, doc = "Ignored." },
        },
    },
    data = {
        bytes = 20,
        doc = "After the base header of every packet with data.",
        fields = {
            { name = "stream", at = 0, bytes = 2, bits = 16, shift = 0, hexadecimal = false, doc = "Ordered stream of the connection (R10)." },
            { name = "message", at = 2, bytes = 3, bits = 24, shift = 0, hexadecimal = false, doc = "Number of the message in its stream." },
            { name = "message_length", at = 5, bytes = 4, bits = 32, shift = 0, hexadecimal = false, doc = "Bytes of the whole message." },
            { name = "offset", at = 9, bytes = 4, bits = 32, shift = 0, hexadecimal = false, doc = "Bytes of the message before this packet's first." },
            { name = "immediate", at = 13, bytes = 4, bits = 32, shift = 0, hexadecimal = true, doc = "The immediate of the message, in all its packets; 0 in an operation without." },
            { name = "reserved_data", at = 17, bytes = 3, bits = 24, shift = 0, hexadecimal = false, doc = "Ignored." },
        },
    },
    write_target = {
        bytes = 12,
        doc = "Where the payload of a Write goes (R4, R5), after the data header.",
        fields = {
            { name = "key", at = 0, bytes = 4, bits = 32, shift = 0, hexadecimal = true, doc = "Remote key of the memory region." },
            { name = "address", at = 4, bytes = 8, bits = 64, shift = 0, hexadecimal = true, doc = "Virtual address of this packet's first byte." },
        },
    },
    send_target = {
        bytes = 12,
        doc = "Which posted receive a Send takes (R5), after the data header.",
        fields = {
            { name = "receive", at = 0, bytes = 3, bits = 24, shift = 0, hexadecimal = false, doc = "Number of the receive in the stream: Sends of the stream before this one, modulo 2^24." },
            { name = "reserved_send", at = 3, bytes = 9, bits = 72, shift = 0, hexadecimal = false, doc = "Ignored." },
        },
    },
    ack = {
        bytes = 48,
        doc = "The state of one path at its receiver (R6), and the feedback for congestion control (R7).",
        fields = {
            { name = "vector", at = 0, bytes = 32, bits = 256, shift = 0, hexadecimal = false, doc = "Bit i tells whether the packet whose PSN is congruent to i modulo 256 has arrived, of the 256 from `psn` on. Bit 255 is sent first." },
            { name = "echo", at = 32, bytes = 4, bits = 32, shift = 0, hexadecimal = false, doc = "Timestamp of the packet that caused the ACK." },
            { name = "hold", at = 36, bytes = 2, bits = 16, shift = 0, hexadecimal = false, doc = "Ticks from that packet's arrival to the ACK; 65535 stands for that and more." },
            { name = "packets", at = 38, bytes = 2, bits = 16, shift = 0, hexadecimal = false, doc = "Data packets that have arrived on the path, modulo 2^16." },
            { name = "marked", at = 40, bytes = 2, bits = 16, shift = 0, hexadecimal = false, doc = "Those of them that were marked CE, modulo 2^16." },
            { name = "hint", at = 42, bytes = 2, bits = 12, shift = 4, hexadecimal = false, mask = 0xfff0, doc = "Rate that the receiver allots to the sender: (bits 7 to 0) * 2^(bits 11 to 8), in 2^-16 bytes a tick." },
            { name = "window_state", at = 43, bytes = 1, bits = 4, shift = 0, hexadecimal = false, mask = 0x0f, doc = "State of the receiver's window; 0 until one is defined." },
            { name = "reserved_ack", at = 44, bytes = 4, bits = 32, shift = 0, hexadecimal = false, doc = "Ignored." },
        },
    },
    nak = {
        bytes = 8,
        doc = "Why a message was refused.",
        fields = {
            { name = "stream", at = 0, bytes = 2, bits = 16, shift = 0, hexadecimal = false, doc = "Stream of the message." },
            { name = "message", at = 2, bytes = 3, bits = 24, shift = 0, hexadecimal = false, doc = "Number of the message in its stream." },
            { name = "code", at = 5, bytes = 1, bits = 8, shift = 0, hexadecimal = false, doc = "See the codes." },
            { name = "reserved_nak", at = 6, bytes = 2, bits = 16, shift = 0, hexadecimal = false, doc = "Ignored." },
        },
    },
}

-- From here on nothing knows the layout; it is in the tables above.

local metaroce = Proto("metaroce", "MetaRoCE")

metaroce.prefs.port = Pref.uint("UDP port", UDP_PORT, "Destination port of the packets; parameter udp_port of the profile")
metaroce.prefs.check_icrc = Pref.bool("Check the ICRC", true, "Compute the ICRC of every packet that was captured whole")

-- Fields ---------------------------------------------------------------------------------------------------------------

local GOOD, BAD, UNVERIFIED = 1, 0, 2
local STATUS = { [BAD] = "Bad", [GOOD] = "Good", [UNVERIFIED] = "Unverified" }

local OPCODE_NAMES = {}
for value, opcode in pairs(OPCODES) do
    OPCODE_NAMES[value] = opcode.name
end
local VALUES = { ["base.opcode"] = OPCODE_NAMES, ["nak.code"] = NAK_CODES }
local INTEGERS = {
    ProtoField.uint8, ProtoField.uint16, ProtoField.uint24, ProtoField.uint32, [8] = ProtoField.uint64,
}

-- The ProtoField of a field of a header. Display filters are metaroce.HEADER.FIELD.
local function proto_field(header, field)
    local filter = "metaroce." .. header .. "." .. field.name
    local integer = INTEGERS[field.bytes]
    if not integer then
        return ProtoField.bytes(filter, field.name, base.NONE, field.doc)
    end
    local values = VALUES[header .. "." .. field.name]
    local display = (field.hexadecimal or values) and base.HEX or base.DEC
    return integer(filter, field.name, display, values, field.mask, field.doc)
end

local all_fields = {
    payload = ProtoField.bytes("metaroce.payload", "payload"),
    icrc = ProtoField.uint32("metaroce.icrc", "icrc", base.HEX, nil, nil, "Invariant CRC, sent least significant byte first"),
    icrc_status = ProtoField.uint8("metaroce.icrc.status", "icrc status", base.DEC, STATUS),
}
for name, header in pairs(HEADERS) do
    header.name = name
    for _, field in ipairs(header.fields) do
        field.proto = proto_field(name, field)
        all_fields[name .. "." .. field.name] = field.proto
    end
end
for _, flag in ipairs(FLAGS) do
    flag.proto = ProtoField.bool("metaroce.base.flags." .. flag.name, flag.name, 8, nil, flag.mask, flag.doc)
    all_fields["flags." .. flag.name] = flag.proto
end
metaroce.fields = all_fields

local function problem(name, text, group, severity)
    return ProtoExpert.new("metaroce.expert." .. name, text, expert.group[group], expert.severity[severity])
end
local bad_icrc = problem("bad_icrc", "The ICRC is wrong", "CHECKSUM", "ERROR")
local bad_version = problem("bad_version", "This version of the base header is not known", "PROTOCOL", "WARN")
local bad_opcode = problem("bad_opcode", "This opcode is unknown or reserved", "PROTOCOL", "WARN")
local bad_size = problem("bad_size", "The packet's size does not fit its opcode", "MALFORMED", "ERROR")
local cut = problem("cut", "The capture has only the beginning of the packet", "UNDECODED", "NOTE")
metaroce.experts = { bad_icrc, bad_version, bad_opcode, bad_size, cut }

-- ICRC -----------------------------------------------------------------------------------------------------------------

-- Exclusive or, in the library that Wireshark's Lua has, or in the language since Lua 5.3.
local library = bit32 or bit
local xor = library and library.bxor or load("return function(a, b) return a ~ b end")()

local function step(crc, byte, table)
    local low = xor(crc % 256, byte)
    return xor(math.floor(crc / 256), table[low]) % 0x100000000
end

-- CRC-32 of Ethernet, a byte at a time.
local CRC = {}
for byte = 0, 255 do
    local crc = byte
    for _ = 1, 8 do
        local odd = crc % 2 == 1
        crc = math.floor(crc / 2)
        if odd then
            crc = xor(crc, 0xedb88320) % 0x100000000
        end
    end
    CRC[byte] = crc
end

-- `headers` are the bytes from the IPv4 header on in which some count as ones.
local function icrc(headers, rest)
    local crc = 0xffffffff
    for i = 1, #headers do
        crc = step(crc, MASKED[i - 1] and 0xff or headers:byte(i), CRC)
    end
    for i = 1, #rest do
        crc = step(crc, rest:byte(i), CRC)
    end
    return 0xffffffff - crc
end

-- The headers below, which Wireshark has already taken apart; the last ones, when there are tunnels.
local ip_header, udp_header = Field.new("ip"), Field.new("udp")

local function headers_below()
    local ip, udp = { ip_header() }, { udp_header() }
    if #ip == 0 or #udp == 0 then
        return nil
    end
    return ip[#ip].range:raw() .. udp[#udp].range:raw()
end

-- Dissection -----------------------------------------------------------------------------------------------------------

local function add_icrc(tree, buffer)
    local at = buffer:len() - ICRC_BYTES
    local sent = buffer(at, ICRC_BYTES)
    local item = tree:add_le(all_fields.icrc, sent)
    local below = metaroce.prefs.check_icrc and headers_below()
    local status = UNVERIFIED
    if below then
        local right = icrc(below, at > 0 and buffer:raw(0, at) or "")
        status = right == sent:le_uint() and GOOD or BAD
        if status == BAD then
            item:add_proto_expert_info(bad_icrc, string.format("The ICRC is wrong; 0x%08x is right", right))
        end
    end
    tree:add(all_fields.icrc_status, status):set_generated()
end

local function value_of(field, range)
    return math.floor(range:uint() / 2 ^ field.shift) % 2 ^ field.bits
end

-- Shows a header and returns the values of its fields of at most 32 bits.
local function add_header(tree, buffer, at, header)
    local subtree = tree:add(buffer(at, header.bytes), header.name .. ": " .. header.doc)
    local values = {}
    for _, field in ipairs(header.fields) do
        local range = buffer(at + field.at, field.bytes)
        local item = subtree:add(field.proto, range)
        if field.bytes <= 4 then
            values[field.name] = value_of(field, range)
        end
        if header.name == "base" and field.name == "flags" then
            for _, flag in ipairs(FLAGS) do
                item:add(flag.proto, range)
            end
        end
    end
    return values
end

local function summary(opcode, base, values, payload)
    local text = string.format("%s connection=%d path=%d psn=%d", opcode.name, base.connection, base.path, base.psn)
    for _, name in ipairs({ "stream", "message", "offset", "code" }) do
        if values[name] then
            text = text .. string.format(" %s=%d", name, values[name])
        end
    end
    if opcode.data then
        text = text .. string.format(" bytes=%d", payload)
    end
    return text
end

function metaroce.dissector(buffer, pinfo, root)
    local captured, whole = buffer:captured_len(), buffer:reported_len()
    pinfo.cols.protocol = "MetaRoCE"
    local tree = root:add(metaroce, buffer())
    if captured < HEADERS.base.bytes then
        tree:add_proto_expert_info(captured < whole and cut or bad_size)
        return captured
    end
    local base = add_header(tree, buffer, 0, HEADERS.base)
    if base.wire_version ~= WIRE_VERSION then
        tree:add_proto_expert_info(bad_version)
        return captured
    end
    local opcode = OPCODES[base.opcode]
    if not opcode or opcode.reserved then
        tree:add_proto_expert_info(bad_opcode)
        pinfo.cols.info = string.format("%s (opcode 0x%02x)", opcode and opcode.name or "unknown", base.opcode)
        return captured
    end

    local at = HEADERS.base.bytes
    local values = {}
    for _, name in ipairs(opcode.headers) do
        local header = HEADERS[name]
        if captured < at + header.bytes then
            tree:add_proto_expert_info(captured < whole and cut or bad_size)
            return captured
        end
        for field, value in pairs(add_header(tree, buffer, at, header)) do
            values[field] = value
        end
        at = at + header.bytes
    end
    local payload = whole - ICRC_BYTES - at
    pinfo.cols.info = summary(opcode, base, values, payload)
    if payload < 0 or payload > 0 and not opcode.data then
        tree:add_proto_expert_info(bad_size)
    elseif captured < whole then
        tree:add_proto_expert_info(cut)
    else
        if payload > 0 then
            tree:add(all_fields.payload, buffer(at, payload))
        end
        add_icrc(tree, buffer)
    end
    return captured
end

-- Port -----------------------------------------------------------------------------------------------------------------

local ports = DissectorTable.get("udp.port")
local port = metaroce.prefs.port
ports:add(port, metaroce)

function metaroce.prefs_changed()
    if port ~= metaroce.prefs.port then
        ports:remove(port, metaroce)
        port = metaroce.prefs.port
        ports:add(port, metaroce)
    end
end
