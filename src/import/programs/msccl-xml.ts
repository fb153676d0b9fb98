import { InputError } from "../../base/errors.ts";
import type { NamedCollective } from "../../model/collective/collective.ts";
import type { Program } from "../../model/program/program.ts";
import { programBuilder } from "../../model/program/program-builder.ts";
import { partsPerSize } from "../../model/program/runtimes.ts";
import { type SkippedPart, skippedText } from "../../model/steps/skipped-part.ts";
import { readXml, type XmlElement, xmlPlace } from "../text/xml.ts";
import { byId, bytesOf, childrenNamed, flagOf, numberOf, oneOf } from "./msccl-xml-fields.ts";
import { skippedOf } from "./msccl-xml-skipped.ts";
import { addGpu } from "./msccl-xml-steps.ts";

/** All spellings in use; runtimes differ in which of them they know. */
const COLLECTIVES: ReadonlyMap<string, NamedCollective | "custom"> = new Map([
  ["allreduce", "allreduce"],
  ["allgather", "allgather"],
  ["reduce_scatter", "reducescatter"],
  ["reducescatter", "reducescatter"],
  ["alltoall", "alltoall"],
  ["broadcast", "broadcast"],
  ["reduce", "reduce"],
  ["gather", "gather"],
  ["scatter", "scatter"],
  ["custom", "custom"],
]);

const PROTOCOLS: ReadonlyMap<string, Program["protocol"]> = new Map([
  ["Simple", "Simple"],
  ["LL", "LL"],
  ["LL128", "LL128"],
]);

/** Returns true where the first element of a text, after a declaration and comments, is <algo>. O(text). */
export function looksLikeMscclXml(text: string): boolean {
  let at = text.startsWith("\ufeff") ? 1 : 0;
  for (;;) {
    while (/\s/.test(text.charAt(at))) at++;
    const end = text.startsWith("<!--", at) ? "-->" : text.startsWith("<?", at) ? "?>" : undefined;
    if (end === undefined) return /^<algo[\s/>]/.test(text.slice(at, at + 6));
    const found = text.indexOf(end, at);
    if (found < 0) return false;
    at = found + end.length;
  }
}

/**
 * Returns the program of an MSCCL XML file, of any dialect (microsoft/msccl, Azure, RCCL, SCCL, TACCL, msccl-tools). Without
 * outofplace it is the opposite of inplace, without minBytes or maxBytes the bound is null; <copy> elements become a block -1;
 * sizes and nchunksperloop of gather and scatter, which runtimes count for one rank, become those of all;
 * `root`, which runtimes ignore, is the root of broadcast, reduce, gather and scatter, 0 without it; other elements and attributes are
 * skipped, as runtimes do, and `skipped` has those that may be a mistake. What breaks only a runtime's limits, or is wrong only when it runs, is left to the judges. Throws InputError with
 * file and line. O(text).
 */
export function readMscclXml(text: string, fileName: string): Program {
  const algo = readXml(text, fileName);
  if (algo.name !== "algo") {
    throw new InputError(`the root element at ${xmlPlace(fileName, algo)}`, "<algo>", `<${algo.name}>`);
  }
  const skipped = skippedOf(algo);
  try {
    return programOf(algo, skipped, fileName);
  } catch (error) {
    // what was skipped may be what is missing
    const [first] = skipped;
    if (error instanceof InputError && first !== undefined) error.message += ` (${skippedText(first)})`;
    throw error;
  }
}

function programOf(algo: XmlElement, skipped: readonly SkippedPart[], fileName: string): Program {
  const gpus = gpusOf(algo, fileName);
  const builder = programBuilder();
  for (const [rank, gpu] of gpus.entries()) addGpu(builder, gpu, rank, gpus.length, fileName);
  const inPlace = flagOf(algo, "inplace", fileName);
  const collective = oneOf(algo, "coll", COLLECTIVES, fileName);
  const parts = partsPerSize(collective, gpus.length);
  const chunks = (name: string): Int32Array => Int32Array.from(gpus, (gpu) => numberOf(gpu, name, fileName));
  return builder.build({
    name: algo.attributes.get("name") ?? "",
    machine: "msccl",
    collective,
    rootRank: algo.attributes.has("root") ? numberOf(algo, "root", fileName, [0, gpus.length - 1]) : 0,
    rankCount: gpus.length,
    protocol: oneOf(algo, "proto", PROTOCOLS, fileName),
    inPlace,
    outOfPlace: algo.attributes.has("outofplace") ? flagOf(algo, "outofplace", fileName) : !inPlace,
    minBytes: bytesOf(algo, "minBytes", parts, fileName),
    maxBytes: bytesOf(algo, "maxBytes", parts, fileName),
    loopChunks: parts * numberOf(algo, "nchunksperloop", fileName, [1, 2 ** 31 - 1]),
    finer: 1,
    inputChunks: chunks("i_chunks"),
    outputChunks: chunks("o_chunks"),
    scratchChunks: chunks("s_chunks"),
    channelCount: numberOf(algo, "nchannels", fileName, [1, 2 ** 31 - 1]),
    ...(skipped.length === 0 ? {} : { skipped }),
  });
}

/** Returns the <gpu> elements by id: as many as ngpus says. */
function gpusOf(algo: XmlElement, fileName: string): readonly XmlElement[] {
  const gpus = childrenNamed(algo, "gpu");
  const count = numberOf(algo, "ngpus", fileName, [1, 2 ** 31 - 1]);
  if (count !== gpus.length) {
    throw new InputError(
      `attribute ngpus of <algo> at ${xmlPlace(fileName, algo)}`,
      `the number of <gpu> elements, ${gpus.length},`,
      count,
    );
  }
  return byId(gpus, fileName);
}
