/** When the last of what has been sent of a chunk arrives at an NPU; 0 where nothing was. */
export interface ArrivalTable {
  at(chunk: number, npu: number): number;
  raise(chunk: number, npu: number, ps: number): void;
}

/** A table has at most so many cells per message, or so few, else pairs of chunk and NPU are hashed. */
const CELLS_PER_MESSAGE = 8;
const FEW_CELLS = 2 ** 20;

/** Returns an empty table; `messages` is how many arrivals there will be at most. */
export function arrivalTable(npuCount: number, chunkCount: number, messages: number): ArrivalTable {
  const cells = npuCount * chunkCount;
  return cells <= Math.max(FEW_CELLS, CELLS_PER_MESSAGE * messages)
    ? wholeTable(npuCount, cells)
    : hashedTable(npuCount, messages);
}

function wholeTable(npuCount: number, cells: number): ArrivalTable {
  const ps = new Float64Array(cells);
  return {
    at: (chunk, npu) => ps[chunk * npuCount + npu],
    raise(chunk, npu, value) {
      const cell = chunk * npuCount + npu;
      if (value > ps[cell]) ps[cell] = value;
    },
  };
}

/** At most half of the places are taken; the next free one is a pair's. */
function hashedTable(npuCount: number, messages: number): ArrivalTable {
  const bits = Math.max(4, 33 - Math.clz32(messages));
  const mask = 2 ** bits - 1;
  const pairs = new Float64Array(mask + 1).fill(-1);
  const ps = new Float64Array(mask + 1);
  const placeOf = (chunk: number, npu: number): number => {
    const pair = chunk * npuCount + npu;
    let place = (Math.imul(chunk, 0x9e3779b1) ^ Math.imul(npu, 0x85ebca6b)) >>> (32 - bits);
    while (pairs[place] !== pair && pairs[place] >= 0) place = (place + 1) & mask;
    return place;
  };
  return {
    at: (chunk, npu) => ps[placeOf(chunk, npu)],
    raise(chunk, npu, value) {
      const place = placeOf(chunk, npu);
      pairs[place] = chunk * npuCount + npu;
      if (value > ps[place]) ps[place] = value;
    },
  };
}
