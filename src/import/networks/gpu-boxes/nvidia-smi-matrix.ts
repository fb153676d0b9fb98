import { InputError } from "../../../base/errors.ts";

/** How two devices reach each other, nearest first: one PCIe switch, several, a CPU, several CPUs. */
export const PCIE_CLASSES = ["PIX", "PXB", "CPU", "SYS"] as const;
export type PcieClass = (typeof PCIE_CLASSES)[number];

/** A cell of the matrix: NVLinks, or a class of way over PCIe. */
export type Cell = number | PcieClass;

/** What `nvidia-smi topo -m` prints. */
export interface DeviceMatrix {
  /** GPUs come first. */
  readonly devices: readonly string[];
  readonly gpus: number;
  /** Returns the cell of two different devices. */
  readonly cell: (a: number, b: number) => Cell;
  /** [gpus] text of the NUMA (else CPU) affinity; "" where there is none. */
  readonly affinity: readonly string[];
  /** Line of the header, from 1. */
  readonly line: number;
}

const MOST_CHARACTERS = 16e6;
const MOST_DEVICES = 1024;
const CLASSES: ReadonlyMap<string, PcieClass> = new Map([
  ["PIX", "PIX"],
  ["PXB", "PXB"],
  ["PHB", "CPU"],
  ["NODE", "CPU"],
  ["SYS", "SYS"],
  ["SOC", "SYS"],
]);
const CELLS = "X, NV#, PIX, PXB, PHB, NODE or SYS";
const ANSI = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, "g");

interface Line {
  readonly words: readonly string[];
  readonly line: number;
}

/** Returns the lines of a text by words, without colours of terminals and marks of quotation; empty ones are left out. */
function linesOf(text: string): Line[] {
  const plain = text.replace(/^\ufeff/, "").replace(ANSI, "");
  return plain
    .split(/\r\n|[\r\n]/)
    .map((line, i) => ({ words: line.split(/[\s|>]+/).filter((word) => word !== ""), line: i + 1 }))
    .filter(({ words }) => words.length > 0);
}

/** Names of columns behind the devices. */
const isAffinityWord = (word: string): boolean => /^(CPU|NUMA|GPU|Affinity|ID)$/i.test(word);
const isCell = (word: string): boolean => word === "X" || /^NV\d+$/.test(word) || CLASSES.has(word);
const isGpu = (word: string): boolean => /^GPU\d{1,6}$/.test(word);

/** A header has names of GPUs, then of other devices, then of affinities, and no cells. */
function isHeader({ words }: Line): boolean {
  if (!isGpu(words[0])) return false;
  return !words.some(isCell) && (words.length === 1 || isGpu(words[1]) || words.some(isAffinityWord));
}

/** Returns true where a text holds what `nvidia-smi topo -m` prints. O(text). */
export function looksLikeMatrix(text: string): boolean {
  const head = linesOf(text.slice(0, 2 ** 16));
  const at = head.findIndex(isHeader);
  return at >= 0 && head.slice(at + 1).some(({ words }) => isGpu(words[0]) && words.some(isCell));
}

/**
 * Returns the matrix in a text, whatever stands around it: TABs or spaces, colours, any line ends, NICs or none, affinities
 * or none. Throws InputError with the line: rows missing, cells of no known class, cells that differ from their mirror
 * images. O(text).
 */
export function readMatrix(text: string, fileName: string): DeviceMatrix {
  if (text.length > MOST_CHARACTERS) {
    throw new InputError(fileName, `a matrix of at most ${MOST_CHARACTERS} characters`, text.length);
  }
  const lines = linesOf(text);
  const at = lines.findIndex(isHeader);
  if (at < 0) throw new InputError(fileName, "the header of nvidia-smi topo -m (GPU0 GPU1 ...)");
  const { words, line } = lines[at];
  const end = words.findIndex(isAffinityWord);
  const devices = end < 0 ? words : words.slice(0, end);
  const place = (where: number): string => `${fileName} line ${where}`;
  if (devices.length > MOST_DEVICES) {
    throw new InputError(place(line), `at most ${MOST_DEVICES} devices`, devices.length);
  }
  if (new Set(devices).size < devices.length) throw new InputError(place(line), "each device once", words.join(" "));
  const gpus = devices.filter(isGpu).length;
  if (!devices.slice(0, gpus).every(isGpu)) throw new InputError(place(line), "GPUs before NICs", words.join(" "));
  const rows = rowsOf(lines.slice(at + 1), devices, fileName, line);
  const cells = rows.map((row, a) => devices.map((_, b) => cellOf(row, a, b, devices, fileName)));
  for (let a = 0; a < devices.length; a++) {
    for (let b = 0; b < a; b++) {
      if (cells[a][b] === cells[b][a]) continue;
      const pair = `${devices[a]} to ${devices[b]} in ${place(rows[a].line)}`;
      throw new InputError(pair, `${rows[b].words[a + 1]} as in line ${rows[b].line}`, rows[a].words[b + 1]);
    }
  }
  const numa = end >= 0 && words.slice(end).some((word) => /^NUMA$/i.test(word));
  return {
    devices,
    gpus,
    cell: (a, b) => cells[a][b],
    affinity: rows.slice(0, gpus).map((row) => affinityOf(row.words.slice(devices.length + 1), numa)),
    line,
  };
}

/** Returns the rows by device. */
function rowsOf(lines: readonly Line[], devices: readonly string[], fileName: string, header: number): Line[] {
  const index = new Map(devices.map((name, i) => [name, i]));
  const rows: (Line | undefined)[] = devices.map(() => undefined);
  let missing = devices.length;
  let last = header;
  for (const row of lines) {
    if (missing === 0) break;
    const device = index.get(row.words[0]);
    if (device === undefined || row.words.length < 2) {
      if (missing < devices.length) break;
      continue;
    }
    const place = `${fileName} line ${row.line}`;
    if (rows[device] !== undefined) throw new InputError(place, `one row for ${row.words[0]}`, "a second");
    if (row.words.length <= devices.length) {
      throw new InputError(place, `${devices.length} cells`, row.words.length - 1);
    }
    rows[device] = row;
    missing--;
    last = row.line;
  }
  return rows.map((row, i) => {
    if (row !== undefined) return row;
    throw new InputError(`${devices[i]} after ${fileName} line ${last}`, "a row of the matrix");
  });
}

function cellOf({ words, line }: Line, a: number, b: number, devices: readonly string[], fileName: string): Cell {
  const word = words[b + 1].toUpperCase();
  const place = (): string => `${devices[a]} to ${devices[b]} in ${fileName} line ${line}`;
  if (a === b) {
    if (word === "X") return 0;
    throw new InputError(place(), "X (a device and itself)", words[b + 1]);
  }
  const links = /^NV(\d{1,3})$/.exec(word);
  if (links !== null && Number(links[1]) > 0) return Number(links[1]);
  const known = CLASSES.get(word);
  if (known !== undefined) return known;
  throw new InputError(place(), CELLS, words[b + 1]);
}

/**
 * Returns the NUMA affinity, the CPU affinity where there is no such column or it says nothing, "" where neither does; a
 * GPU near several NUMA nodes tells nothing either.
 */
function affinityOf([cpu = "", node = ""]: readonly string[], numa: boolean): string {
  if (numa && /^\d/.test(node)) return /^\d+$/.test(node) ? node : "";
  return /^\d/.test(cpu) ? cpu : "";
}
