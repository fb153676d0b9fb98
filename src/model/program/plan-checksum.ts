/** A checksum that grows with the text. */
export interface PlanChecksum {
  /** Takes the next characters, which are ASCII. */
  add(text: string): void;
  /** Returns FNV-1a of 64 bits of all of them, 16 hexadecimal digits. */
  digits(): string;
}

/** Returns the checksum of an empty text. O(1) per character. */
export function planChecksum(): PlanChecksum {
  // the prime is 2^40 + 435
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  return {
    add(text) {
      for (let i = 0; i < text.length; i++) {
        const mixed = (low ^ text.charCodeAt(i)) >>> 0;
        const product = mixed * 435;
        low = product >>> 0;
        high = (high * 435 + Math.floor(product / 2 ** 32) + ((mixed << 8) >>> 0)) >>> 0;
      }
    },
    digits: () => [high, low].map((half) => half.toString(16).padStart(8, "0")).join(""),
  };
}
