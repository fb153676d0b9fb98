import { InputError, unlessRefused } from "../../../src/base/errors.ts";
import { readCommandLine } from "../../../src/cli/command-line.ts";
import { EXAMPLES } from "../../../src/cli/help.ts";
import { parseBackend } from "../../../src/engine/kernels/choose.ts";
import { parseProfileSize } from "../../../src/import/networks/taccl-topology.ts";
import { constructionText, graphOf, sizeOf } from "../../../src/model/direct/construction.ts";
import { parseConstruction } from "../../../src/model/direct/parse.ts";
import { format, parseRational } from "../../../src/model/numbers/rational.ts";
import { formatSize, parseBandwidth, parseSize, parseTime } from "../../../src/model/numbers/units.ts";
import { looksLikePreset, PRESETS, presetTopology } from "../../../src/model/presets/preset.ts";
import { parseGroups } from "../../../src/model/topology/groups.ts";
import { degrade, without } from "../../../src/model/topology/modify.ts";
import { dialectOf, namedRequest, programOptions, rangeOf, synthesisOptions } from "../../../src/request/from-texts.ts";
import { topologyOptions } from "../../../src/request/network-from-texts.ts";
import { type Options, textOf } from "../../../src/request/option-table.ts";
import { degradations, listOf, namedCollective, switchDegree, wholeNumber } from "../../../src/request/values.ts";
import { searchOptions, sweepOptions } from "../../../src/run/search/from-texts.ts";
import { rangeText, readRange } from "../../../src/web/state/size-range.ts";
import { judgeTopology } from "./judges.ts";
import { type FuzzTarget, LawBroken, same } from "./target.ts";

/** Readers of words: on the command line, and in the page's fields and address. */

/** Throws LawBroken for a number that is not whole, or below `least`. */
function whole(value: number | undefined, least: number, what: string): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return;
  throw new LawBroken(`${what} is ${value}`);
}

/** Calls every reader; all may refuse, and where all do, the last one's refusal is thrown. */
function anyOf(...readers: readonly (() => unknown)[]): void {
  let refusal: unknown;
  let read = false;
  for (const reader of readers) {
    try {
      reader();
      read = true;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      refusal = error;
    }
  }
  if (!read) throw refusal;
}

function checkAmount(text: string): void {
  anyOf(
    () => {
      const bytes = parseSize(text);
      whole(bytes, 1, "a size");
      const again = parseSize(formatSize(bytes));
      if (Math.abs(again - bytes) > bytes / 100)
        throw new LawBroken(`${bytes} bytes are shown as ${formatSize(bytes)}`);
    },
    () => whole(parseTime(text), 0, "a time"),
    () => whole(parseBandwidth(text), 1, "a bandwidth"),
    () => whole(parseProfileSize(text), 1, "a size of a profile"),
    () => whole(wholeNumber(text, "--seed", 0), 0, "a seed"),
    () => whole(wholeNumber(text, "--chunks", 1), 1, "a number of chunks"),
    () => switchDegree(text, "--switch-degree"),
    () => parseBackend(text, "--backend"),
    () => same(rangeText(readRange(text)), rangeText(readRange(rangeText(readRange(text)))), "a range of sizes"),
    () => {
      const value = parseRational(text);
      if (value === null) throw new InputError("a fraction", "one", text);
      same(format(value), format(parseRational(format(value)) ?? value), "a fraction");
    },
  );
}

const RING = presetTopology("ring:6");
const BOXES = presetTopology("dgx-a100:2");

function checkNames(text: string): void {
  anyOf(
    () => parseGroups(RING, text),
    () => parseGroups(BOXES, text),
    () => judgeTopology(without(RING, listOf(text, "--without", "names"))),
    () => judgeTopology(without(BOXES, listOf(text, "--without", "names"))),
    () => judgeTopology(degrade(RING, degradations(text, "--degrade"))),
    () => judgeTopology(degrade(BOXES, degradations(text, "--degrade"))),
    () => namedCollective(text),
    () => topologyOptions({ assume: text }),
  );
}

/** Presets and constructions with larger numbers are only taken apart: what they build may be as large as is allowed. */
const MOST_PRODUCT = 3000;
const isSmall = (text: string): boolean =>
  [...text.split("@", 1)[0].matchAll(/\d+(?:e\d+)?/gi)].reduce(
    (product, [digits]) => product * Math.max(1, Number(digits)),
    1,
  ) <= MOST_PRODUCT;

function checkPreset(text: string): void {
  looksLikePreset(text);
  if (isSmall(text)) judgeTopology(presetTopology(text));
}

function checkConstruction(text: string): void {
  const construction = parseConstruction(text);
  const written = constructionText(construction);
  same(written, constructionText(parseConstruction(written)), "a construction");
  const { nodes, degree } = sizeOf(construction);
  if (nodes * degree <= MOST_PRODUCT && isSmall(text)) graphOf(construction);
}

function optionsRead(options: Options): void {
  const readers: readonly (() => unknown)[] = [
    () => topologyOptions(options),
    () => synthesisOptions(options),
    () => namedRequest(textOf(options, "collective") ?? "allgather", options),
    () => programOptions(options, "msccl"),
    () => rangeOf(options),
    () => dialectOf(options),
    () => searchOptions(options),
    () => sweepOptions(options),
  ];
  for (const read of readers) unlessRefused(read);
}

/** A command line: an argument a line. */
function checkCommandLine(text: string): void {
  const argv = text.split("\n").slice(0, 100);
  const read = readCommandLine(argv);
  if ("options" in read) {
    optionsRead(read.options);
    return;
  }
  const { failure } = read;
  if (failure === null) return;
  if (failure.code !== 2) throw new LawBroken(`exit code ${failure.code}`);
  if (/\n/.test(failure.message)) throw new LawBroken(`several lines: ${failure.message}`);
}

const AMOUNTS = [
  "1GiB",
  "64 MB",
  "4096",
  "1.5KiB",
  "0.5us",
  "700ns",
  "25GB/s",
  "400Gbps",
  "1KiB..1GiB*16",
  "3/4",
  "1e9",
  "ports",
  "2.5K",
  "64M",
];
const NAMES = [
  "0,1,2",
  "0,1;2,3",
  "3,0>1,4-5",
  "sw0,1>2#2",
  "0-1=0.5,3=0.25",
  "allreduce",
  "nvlink=25GB/s,latency=1us",
  "gpu0,gpu1",
];
const NETWORKS = [
  "mesh:4x4@50GB/s,1us",
  "torus:2x2x2",
  "ring:4*fc:3@200,100GB/s,0.5us",
  "dgx-a100:2",
  "circulant:9,1,3",
  "dragonfly:3,2,1",
  "fat-tree:4",
  "dbt:5",
  "hypercube:3",
  "switch:4",
  "shifted-ring:7",
  "L(K(3,3))@25Gbps",
];
const CONSTRUCTIONS = [
  "L3(C(16,{3,4}))",
  "(UniRing(1,4) x UniRing(1,8))^2",
  "BiRing(2,5)*2",
  "T(L(K(4,4))) x Bi(Pi(2,9))",
  "Π_{4,24}",
  "SkewTorus(4,6,{2})",
  "K5",
  "Diamond^2",
];

/** Returns the words of a command line as a shell takes them apart. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");

export const wordTargets = (): FuzzTarget[] => [
  { name: "amounts", seeds: () => AMOUNTS, check: checkAmount },
  { name: "names", seeds: () => NAMES, check: checkNames },
  { name: "presets", seeds: () => [...NETWORKS, ...PRESETS.map(({ form }) => form)], check: checkPreset },
  { name: "constructions", seeds: () => CONSTRUCTIONS, check: checkConstruction },
  {
    name: "command-line",
    seeds: () =>
      Object.values(EXAMPLES)
        .flat()
        .map((line) =>
          wordsOf(line.replace(/^.*\| /, ""))
            .slice(1)
            .join("\n"),
        ),
    check: checkCommandLine,
  },
];
