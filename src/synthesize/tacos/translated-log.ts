/**
 * What one NPU holds in an all-gather that is the same for every NPU, and what each of its ways (ports, or orbits of routes)
 * could bring it next. Element o * chunksPerNpu + j is chunk j of the NPU that lies o from the one in view.
 */
export interface TranslatedLog extends Translations {
  readonly ways: number;
  /** Candidates that a way keeps at a time. */
  readonly window: number;
  /** What it holds, in order of arrival: `length` elements. */
  readonly log: Int32Array;
  length: number;
  /** [elements] 1: held, or on its way. */
  readonly settled: Uint8Array;
  /** [elements] by how many ways it could come. */
  readonly bringers: Uint32Array;
  /** [ways][window] what each could bring, `count` of them; `read` elements of the log have been looked at. */
  readonly candidate: Int32Array;
  readonly count: Int32Array;
  readonly read: Int32Array;
}

interface Translations {
  readonly npuCount: number;
  readonly chunksPerNpu: number;
  /** [ways * NPUs] way * NPUs + o: what lies o from the source of the way lies here from the NPU itself. */
  readonly shifted: Int32Array;
}

/** Returns the empty log. */
export function translatedLog(translations: Translations, ways: number, window: number): TranslatedLog {
  const elements = translations.npuCount * translations.chunksPerNpu;
  return {
    ...translations,
    ways,
    window,
    log: new Int32Array(elements),
    length: 0,
    settled: new Uint8Array(elements),
    bringers: new Uint32Array(elements),
    candidate: new Int32Array(ways * window),
    count: new Int32Array(ways),
    read: new Int32Array(ways),
  };
}

/** Returns what an element of the source of a way is here. */
function from({ chunksPerNpu, shifted, npuCount }: TranslatedLog, element: number, way: number): number {
  if (chunksPerNpu === 1) return shifted[way * npuCount + element];
  const offset = Math.floor(element / chunksPerNpu);
  return element + (shifted[way * npuCount + offset] - offset) * chunksPerNpu;
}

/** Adds an element to what is held. O(ways). */
export function receive(state: TranslatedLog, element: number): void {
  const { settled, log, ways, bringers } = state;
  settled[element] = 1;
  log[state.length++] = element;
  for (let way = 0; way < ways; way++) bringers[from(state, element, way)]++;
}

/** Fills the window of a way from the first `visible` elements of the log; returns how many candidates it has. */
export function refill(state: TranslatedLog, way: number, visible: number): number {
  const { window, count, candidate, settled, read, log } = state;
  const base = way * window;
  let kept = 0;
  for (let i = 0; i < count[way]; i++) {
    const element = candidate[base + i];
    if (settled[element] === 0) candidate[base + kept++] = element;
  }
  let next = read[way];
  while (kept < window && next < visible) {
    const element = from(state, log[next++], way);
    if (settled[element] === 0) candidate[base + kept++] = element;
  }
  read[way] = next;
  count[way] = kept;
  return kept;
}
