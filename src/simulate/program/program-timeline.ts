/** Messages of a simulation, in the order in which they were sent. Columns. */
export interface ProgramTimeline {
  /** [messages] when the first link began to send it, and when its last byte arrived. */
  readonly startPs: Float64Array;
  readonly endPs: Float64Array;
  /** [messages] ranks, and the instruction that moves it. */
  readonly source: Int32Array;
  readonly target: Int32Array;
  readonly instruction: Int32Array;
}

/** A timeline while it grows; nothing is kept where nobody asked for it. */
export interface TimelineDraft {
  readonly begin: (startPs: number, source: number, target: number, instruction: number) => number;
  readonly end: (row: number, endPs: number) => void;
  readonly columns: () => ProgramTimeline | undefined;
}

/** Returns an empty timeline. */
export function timelineDraft(wanted: boolean): TimelineDraft {
  if (!wanted) return { begin: () => -1, end: () => {}, columns: () => undefined };
  const [start, end, from, to, by]: number[][] = [[], [], [], [], []];
  return {
    begin(startPs, source, target, instruction) {
      end.push(startPs);
      from.push(source);
      to.push(target);
      by.push(instruction);
      return start.push(startPs) - 1;
    },
    end: (row, endPs) => {
      if (row >= 0) end[row] = endPs;
    },
    columns: () => ({
      startPs: Float64Array.from(start),
      endPs: Float64Array.from(end),
      source: Int32Array.from(from),
      target: Int32Array.from(to),
      instruction: Int32Array.from(by),
    }),
  };
}
