import { readMscclXml } from "../../src/import/programs/program.ts";
import type { MscclRuntime } from "../../src/model/program/runtimes.ts";
import { mscclLimitViolations } from "../../src/verify/runtime/msccl-limits.ts";

/** A file of two gpus, the second empty; all that a line does not say is as harmless as can be. */
export interface Sketch {
  readonly algo?: string;
  readonly gpu?: string;
  readonly before?: string;
  /** Of gpu 0: attributes of the thread block, then of its steps. */
  readonly blocks?: readonly (readonly string[])[];
}
const ALGO = {
  name: "x",
  proto: "Simple",
  nchannels: "1",
  nchunksperloop: "4",
  ngpus: "2",
  coll: "allreduce",
  inplace: "1",
  outofplace: "0",
  minBytes: "0",
  maxBytes: "1099511627776",
};
const CPY = {
  type: "cpy",
  srcbuf: "i",
  srcoff: "0",
  dstbuf: "i",
  dstoff: "1",
  cnt: "1",
  depid: "-1",
  deps: "-1",
  hasdep: "0",
};

/** Returns attributes as a tag has them, after those in `changes` took their places. */
function attributes(base: Readonly<Record<string, string>>, changes: string): string {
  const given = changes
    .split(" ")
    .filter((change) => change !== "")
    .map((change) => change.split("=") as [string, string]);
  const all = { ...base, ...Object.fromEntries(given) };
  return Object.entries(all)
    .map(([name, value]) => `${name}="${value}"`)
    .join(" ");
}
/** Returns the file of a sketch. */
export function file({ algo = "", gpu = "", before = "", blocks = [["", ""]] }: Sketch): string {
  const chunks = { i_chunks: "4", o_chunks: "0", s_chunks: "0" };
  const lines = blocks.flatMap(([tb = "", ...steps], id) => [
    `<tb ${attributes({ id: `${id}`, send: "-1", recv: "-1", chan: "0" }, tb)}>`,
    ...steps.map((step, s) => `<step ${attributes({ s: `${s}`, ...CPY }, step)}/>`),
    "</tb>",
  ]);
  return [
    `<algo ${attributes(ALGO, algo)}>`,
    `<gpu ${attributes({ id: "0", ...chunks }, gpu)}>${before}`,
    ...lines,
    "</gpu>",
    `<gpu ${attributes({ id: "1", ...chunks }, "")}></gpu>`,
    "</algo>",
    "",
  ].join("\n");
}

/** Returns the limits of a runtime that a file breaks, a line each. */
export const limitsBroken = (text: string, runtime: MscclRuntime["name"]): string[] =>
  mscclLimitViolations(readMscclXml(text, "f.xml"), runtime, text).map(
    ({ severity, kind, message }) => `${severity} ${kind}: ${message}`,
  );
