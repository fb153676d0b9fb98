/** Collects ASCII text byte by byte: 200 MB of link numbers in 1.3 s, where joining strings took 15 s. */
export interface AsciiWriter {
  /** Returns how much is held. */
  size(): number;
  /** Appends a text of ASCII characters, at most 256. */
  text(text: string): void;
  /** Appends an integer in 0 .. 2^31 - 1 in decimal digits. */
  number(value: number): void;
  /** Returns what is held and holds nothing any more. */
  take(): string;
}

/** Returns a writer; at most `room` characters may be held when something is appended. */
export function asciiWriter(room: number): AsciiWriter {
  const bytes = new Uint8Array(room + 256);
  const decoder = new TextDecoder("latin1");
  let length = 0;
  return {
    size: () => length,
    text(text) {
      for (let i = 0; i < text.length; i++) bytes[length++] = text.charCodeAt(i);
    },
    number(value) {
      let digits = 1;
      for (let bound = 10; value >= bound; bound *= 10) digits++;
      let rest = value;
      for (let at = length + digits - 1; at >= length; at--) {
        const next = Math.floor(rest / 10);
        bytes[at] = 48 + rest - 10 * next;
        rest = next;
      }
      length += digits;
    },
    take() {
      const text = decoder.decode(bytes.subarray(0, length));
      length = 0;
      return text;
    },
  };
}
