/** A map from pairs of whole numbers of 32 bits to whole numbers, 0 or more: columns with open addressing, no object per entry. */
export class PairMap {
  size = 0;
  private first = new Int32Array(1024);
  private second = new Int32Array(1024);
  private values = new Int32Array(1024).fill(-1);

  /** Returns the value of a pair, -1: it has none. O(1) expected. */
  get(a: number, b: number): number {
    return this.values[this.place(a, b)];
  }

  set(a: number, b: number, value: number): void {
    const at = this.place(a, b);
    const isNew = this.values[at] < 0;
    this.first[at] = a;
    this.second[at] = b;
    this.values[at] = value;
    if (isNew && 2 * ++this.size > this.values.length) this.grow();
  }

  /** Returns the number of a pair: pairs are numbered as they come. */
  number(a: number, b: number): number {
    const known = this.get(a, b);
    if (known >= 0) return known;
    this.set(a, b, this.size);
    return this.size - 1;
  }

  private place(a: number, b: number): number {
    const { first, second, values } = this;
    const mask = values.length - 1;
    let hash = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b);
    hash ^= hash >>> 15;
    hash = Math.imul(hash, 0x2c1b3c6d);
    let at = (hash ^ (hash >>> 13)) & mask;
    while (values[at] >= 0 && (first[at] !== a || second[at] !== b)) at = (at + 1) & mask;
    return at;
  }

  private grow(): void {
    const { first, second, values } = this;
    this.first = new Int32Array(2 * first.length);
    this.second = new Int32Array(2 * first.length);
    this.values = new Int32Array(2 * first.length).fill(-1);
    this.size = 0;
    for (let at = 0; at < values.length; at++) if (values[at] >= 0) this.set(first[at], second[at], values[at]);
  }
}
