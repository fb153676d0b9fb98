import { InputError } from "../../base/errors.ts";
import { type MeasuredPoint, type Measurements, measurementsOf } from "../../model/calibration/measurements.ts";
import { busFactor, COLLECTIVE_KINDS, type NamedCollective } from "../../model/collective/collective.ts";

const COLUMNS = ["platform", "collective", "gpus", "nodes", "bytes", "busbw"];

/** Returns whether a text is a table of measured points: platform, collective, gpus, nodes, bytes, busbw, note, by tabs. */
export const looksLikePoints = (text: string): boolean =>
  /^#?[ ]*platform\tcollective\tgpus\tnodes\tbytes\tbusbw\b/m.test(text);

/**
 * Returns the measurements of a table of points, one for each platform, collective and number of GPUs and nodes: a line
 * each of platform, collective, gpus, nodes, bytes, busbw in GB/s and a note, apart by tabs; "#" begins a comment. Rows of what is
 * no collective ("p2p") are left out. Throws InputError with the line. O(text).
 */
export function readPoints(text: string, fileName: string): Measurements[] {
  const given = { source: fileName, gpus: [], remarks: [] };
  const tables = new Map<string, { about: Parameters<typeof measurementsOf>[1]; points: MeasuredPoint[] }>();
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.startsWith("#") || line.trim() === "" || line.startsWith("platform\t")) continue;
    const place = `${fileName} line ${i + 1}`;
    const [platform, kind, gpus, nodes, bytes, busbw, note = ""] = line.split("\t");
    if (busbw === undefined) throw new InputError(place, `the columns ${COLUMNS.join(", ")}, apart by tabs,`, line);
    if (!(COLLECTIVE_KINDS as readonly string[]).includes(kind)) {
      if (kind === "p2p") continue;
      throw new InputError(place, `a collective (${COLLECTIVE_KINDS.join(", ")}) or p2p`, kind);
    }
    const collective = kind as NamedCollective;
    const ranks = whole(gpus, 2, `${place}, gpus`);
    const hosts = whole(nodes, 1, `${place}, nodes`);
    const sizeBytes = whole(bytes, 1, `${place}, bytes`);
    const rate = /^\d+(?:\.\d+)?$/.test(busbw) ? Number(busbw) : 0;
    if (!(rate > 0)) throw new InputError(`${place}, busbw`, "a bandwidth above 0 in GB/s", busbw);
    const timeUs = (sizeBytes * busFactor(collective, ranks)) / rate / 1000;
    const key = [platform, collective, ranks, hosts].join("\t");
    const table = tables.get(key) ?? { about: { ...given, collective, ranks, hosts, platform }, points: [] };
    tables.set(key, table);
    table.points.push({ sizeBytes, timeUs, inPlaceUs: Number.NaN, note });
  }
  if (tables.size === 0) throw new InputError(fileName, `rows of ${COLUMNS.join(", ")}`, "none");
  return [...tables.values()].map(({ about, points }) => measurementsOf(points, about));
}

function whole(text: string, low: number, place: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < low) throw new InputError(place, `a whole number, ${low} or more`, text);
  return value;
}
