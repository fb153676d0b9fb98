/** When the last of what has been sent of a chunk arrives at an NPU; 0 where nothing was. */
export interface ArrivalTable {
  at(chunk: number, npu: number): number;
  raise(chunk: number, npu: number, ps: number): void;
}

/** A table has at most so many cells per message, else a map holds the pairs that occur. */
const CELLS_PER_MESSAGE = 8;
const FEW_CELLS = 2 ** 20;

/** Returns an empty table; `messages` is how many there will be. */
export function arrivalTable(npuCount: number, chunkCount: number, messages: number): ArrivalTable {
  const cells = npuCount * chunkCount;
  if (cells <= Math.max(FEW_CELLS, CELLS_PER_MESSAGE * messages)) {
    const ps = new Float64Array(cells);
    return {
      at: (chunk, npu) => ps[chunk * npuCount + npu],
      raise(chunk, npu, value) {
        const cell = chunk * npuCount + npu;
        if (value > ps[cell]) ps[cell] = value;
      },
    };
  }
  const ps = new Map<number, number>();
  const at: ArrivalTable["at"] = (chunk, npu) => ps.get(chunk * npuCount + npu) ?? 0;
  return {
    at,
    raise(chunk, npu, value) {
      if (value > at(chunk, npu)) ps.set(chunk * npuCount + npu, value);
    },
  };
}
