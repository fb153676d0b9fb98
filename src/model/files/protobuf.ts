/** Kinds of values on the wire (protocol buffers, "Encoding"). */
export const WIRE = { varint: 0, eight: 1, bytes: 2, four: 5 } as const;
