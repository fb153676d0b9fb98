import { InputError } from "../../../base/errors.ts";

/** What `rocm-smi --showtopo` prints. */
export interface RocmTables {
  readonly gpus: number;
  /** Returns the weight of the way between two GPUs. */
  readonly weight: (a: number, b: number) => number;
  readonly isXgmi: (a: number, b: number) => boolean;
  /** [gpus] NUMA node; -1 where none is told. */
  readonly numa: Int32Array;
}

const MOST_CHARACTERS = 16e6;
const MOST_GPUS = 1024;
const WEIGHTS = /\bWeight between two GPUs/i;
const TYPES = /\bLink Type between two GPUs/i;
const NUMA = /^\W*GPU\[(\d{1,6})\]\s*:.*\bNuma Node\s*:\s*(-?\d{1,6})/i;

interface Line {
  readonly text: string;
  readonly words: readonly string[];
  readonly line: number;
}

/** A square table of texts. */
interface Table {
  readonly gpus: number;
  readonly rows: readonly Line[];
}

/** Returns true where a text holds the tables of `rocm-smi --showtopo`. O(text). */
export const looksLikeRocmTables = (text: string): boolean => WEIGHTS.test(text) || TYPES.test(text);

/**
 * Returns the tables of weights and of link types in a text, whatever stands around them, and the NUMA nodes. Throws
 * InputError with the line: a table missing, rows or cells missing, cells that differ from their mirror images. O(text).
 */
export function readRocmTables(text: string, fileName: string): RocmTables {
  if (text.length > MOST_CHARACTERS) {
    throw new InputError(fileName, `tables of at most ${MOST_CHARACTERS} characters`, text.length);
  }
  const lines = text.split(/\r\n|[\r\n]/).map((line, i): Line => {
    return { text: line, words: line.split(/[\s|]+/).filter((word) => word !== ""), line: i + 1 };
  });
  const weights = tableAfter(lines, WEIGHTS, "Weight between two GPUs", fileName);
  const types = tableAfter(lines, TYPES, "Link Type between two GPUs", fileName);
  const { gpus } = weights;
  if (types.gpus !== gpus) {
    const place = `the table of link types in ${fileName} line ${types.rows[0].line}`;
    throw new InputError(place, `${gpus} GPUs, as in the table of weights,`, types.gpus);
  }
  const weight = checked(weights, fileName, "a weight", (word) => (/^\d{1,6}$/.test(word) ? Number(word) : null));
  const xgmi = checked(types, fileName, "XGMI or PCIE", (word) =>
    /^XGMI$/i.test(word) ? 1 : /^PCIE$/i.test(word) ? 0 : null,
  );
  const numa = new Int32Array(gpus).fill(-1);
  for (const { text: line } of lines) {
    const found = NUMA.exec(line);
    if (found !== null && Number(found[1]) < gpus) numa[Number(found[1])] = Math.max(-1, Number(found[2]));
  }
  return { gpus, weight: (a, b) => weight[a * gpus + b], isXgmi: (a, b) => xgmi[a * gpus + b] === 1, numa };
}

/** Returns the table below a title. */
function tableAfter(lines: readonly Line[], title: RegExp, name: string, fileName: string): Table {
  const at = lines.findIndex(({ text }) => title.test(text));
  if (at < 0) throw new InputError(fileName, `a table "${name}" (rocm-smi --showtopo)`);
  const rest = lines.slice(at + 1).filter(({ words }) => words.length > 0);
  const head = rest[0];
  const isHead = head?.words.every((word, i) => word === `GPU${i}`);
  if (head === undefined || !isHead) {
    const place = `${fileName} line ${head?.line ?? lines[at].line}`;
    throw new InputError(place, "the header GPU0 GPU1 ...", head?.text.trim() ?? "the end");
  }
  const gpus = head.words.length;
  if (gpus > MOST_GPUS) throw new InputError(`${fileName} line ${head.line}`, `at most ${MOST_GPUS} GPUs`, gpus);
  const rows = rest.slice(1, gpus + 1);
  for (let g = 0; g < gpus; g++) {
    const row = rows[g];
    const place = `${fileName} line ${row?.line ?? rest.at(-1)?.line}`;
    if (row?.words[0] !== `GPU${g}`) throw new InputError(place, `the row of GPU${g}`, row?.text ?? "the end");
    if (row.words.length <= gpus) throw new InputError(place, `${gpus} cells`, row.words.length - 1);
  }
  return { gpus, rows };
}

/** Returns the cells [gpus x gpus] as numbers; those of the diagonal are 0 whatever stands there. */
function checked(
  { gpus, rows }: Table,
  fileName: string,
  expected: string,
  numberOf: (word: string) => number | null,
): Float64Array {
  const cells = new Float64Array(gpus * gpus);
  for (const [a, { words, line }] of rows.entries()) {
    for (let b = 0; b < gpus; b++) {
      if (a === b) continue;
      const value = numberOf(words[b + 1]);
      const place = `GPU${a} to GPU${b} in ${fileName} line ${line}`;
      if (value === null) throw new InputError(place, expected, words[b + 1]);
      cells[a * gpus + b] = value;
      if (b < a && cells[b * gpus + a] !== value) {
        throw new InputError(place, `${rows[b].words[a + 1]} as in line ${rows[b].line}`, words[b + 1]);
      }
    }
  }
  return cells;
}
