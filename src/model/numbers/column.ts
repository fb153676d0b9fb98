/** A column of whole numbers that grows at its end: no object per value, nothing for the garbage collector to look at. */
export class GrowingColumn<Values extends Int32Array | Uint8Array = Int32Array> {
  /** Longer than the column; another array after some pushes. */
  values: Values;
  length = 0;
  private readonly make: (length: number) => Values;

  constructor(make: (length: number) => Values, room = 1024) {
    this.make = make;
    this.values = make(room);
  }

  /** Appends a value; returns its index. O(1) amortised. */
  push(value: number): number {
    if (this.length === this.values.length) this.widen(1);
    this.values[this.length] = value;
    return this.length++;
  }

  /** Appends `many` values that are still to be set; returns the index of the first. O(many) amortised. */
  grow(many: number): number {
    if (this.length + many > this.values.length) this.widen(many);
    this.length += many;
    return this.length - many;
  }

  private widen(many: number): void {
    const longer = this.make(Math.max(2 * this.values.length, this.length + many));
    longer.set(this.values.subarray(0, this.length));
    this.values = longer;
  }

  /** Returns the values alone, copied; with `last` behind them, if it is given. */
  whole(last?: number): Values {
    const values = this.make(this.length + (last === undefined ? 0 : 1));
    values.set(this.values.subarray(0, this.length));
    if (last !== undefined) values[this.length] = last;
    return values;
  }
}

/** Returns an empty column of 32-bit integers. */
export const growingInt32 = (): GrowingColumn => new GrowingColumn((length) => new Int32Array(length));

/** Returns an empty column of bytes. */
export const growingUint8 = (): GrowingColumn<Uint8Array> => new GrowingColumn((length) => new Uint8Array(length));
