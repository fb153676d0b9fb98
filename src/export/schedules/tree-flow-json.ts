import { format } from "../../model/numbers/rational.ts";
import {
  type Certificate,
  copiesPerRoot,
  type Forest,
  type NetworkSymmetry,
  type TreeFlow,
} from "../../model/trees/tree-flow.ts";
import { collectiveJson, scheduleTopParts, type Told } from "./schedule-header.ts";

/** Characters of a part, about. */
const PART = 65_536;

/** Returns the text of a `banyan-schedule` file of trees that reads back to the same flow. `about`: see Told. */
export function treeFlowToJson(flow: TreeFlow, about?: Told["about"]): string {
  return [...treeFlowJsonParts(flow, { about })].join("");
}

/**
 * Yields the parts of that text, so that a caller can write them as they come: network and collective as in other schedules,
 * the number of chunks, `k` copies at each root where all roots have as many, `inNetwork` where switches duplicate, the symmetry, the certificate, then the trees of
 * each forest, one a line. Nodes and links stand by number, as the network inside the file has them; an edge is the list of
 * its links from the root outwards, or its link's number where it has one; bandwidths and weights are texts such as "2400/7".
 * O(nodes + links + edges).
 */
export function* treeFlowJsonParts(flow: TreeFlow, told: Told = {}): Generator<string> {
  const { topology, collective, forests, concurrent, inNetwork, symmetry, certificate } = flow;
  const { chunkCount, chunkBytes } = collective;
  const k = copiesPerRoot(flow);
  yield* scheduleTopParts(topology, 1, told);
  yield `  "kind": "trees",\n  "collective": ${collectiveJson(collective, "  ")},\n`;
  yield `  "chunks": { "count": ${chunkCount}, "bytes": "${format(chunkBytes)}" },\n`;
  if (k !== null && k.den === 1n) yield `  "k": ${k.num},\n`;
  yield `  "concurrent": ${concurrent},\n${inNetwork === true ? '  "inNetwork": true,\n' : ""}  "symmetry": `;
  yield* symmetryParts(symmetry);
  yield ',\n  "certificate": ';
  yield* certificateParts(certificate);
  yield ',\n  "forests": [';
  for (const [f, forest] of forests.entries()) {
    yield f === 0 ? "\n    " : ",\n    ";
    yield* forestParts(forest, collective.groupSize - 1);
  }
  yield "\n  ]\n}\n";
}

function* symmetryParts(symmetry: NetworkSymmetry | null): Generator<string> {
  if (symmetry === null) {
    yield "null";
    return;
  }
  yield `{\n    "sizes": [${symmetry.sizes.join(",")}],\n    "steps": [`;
  for (const [d, step] of symmetry.steps.entries()) {
    yield d === 0 ? "\n      [" : ",\n      [";
    yield* numberParts(step);
    yield "]";
  }
  yield "\n    ]\n  }";
}

function* certificateParts(certificate: Certificate | null): Generator<string> {
  if (certificate === null) {
    yield "null";
    return;
  }
  if (certificate.kind === "cut") {
    yield `{ "kind": "cut", "direction": "${certificate.direction}", "nodes": [`;
    yield* numberParts(certificate.nodes);
    yield "] }";
    return;
  }
  yield '{\n    "kind": "dual",\n    "cuts": [';
  for (const [i, { nodes, direction, weight }] of certificate.cuts.entries()) {
    yield `${i === 0 ? "" : ","}\n      { "direction": "${direction}", "weight": "${format(weight)}", "nodes": [`;
    yield* numberParts(nodes);
    yield "] }";
  }
  yield "\n    ]";
  if (certificate.potentials !== undefined) {
    const listed = certificate.potentials.map(
      (own) => `\n      { "node": ${own.node}, "out": "${format(own.out)}", "in": "${format(own.in)}" }`,
    );
    yield `,\n    "potentials": [${listed.join(",")}\n    ]`;
  }
  yield "\n  }";
}

function* forestParts(forest: Forest, edges: number): Generator<string> {
  const { direction, root, copies, copyBytesPerSecond, linkOffset, links } = forest;
  yield `{\n      "direction": "${direction}",\n      "copyBytesPerSecond": "${format(copyBytesPerSecond)}",\n      "trees": [`;
  const out = asciiWriter(PART);
  for (let tree = 0; tree < root.length; tree++) {
    out.text(`${tree === 0 ? "" : ","}\n        {"root":${root[tree]},"copies":${copies[tree]},"edges":[`);
    for (let edge = tree * edges; edge < (tree + 1) * edges; edge++) {
      const from = linkOffset[edge];
      const to = linkOffset[edge + 1];
      if (edge > tree * edges) out.text(",");
      if (to - from !== 1) out.text("[");
      for (let i = from; i < to; i++) {
        if (i > from) out.text(",");
        out.number(links[i]);
        if (out.size() >= PART - 16) yield out.take();
      }
      if (to - from !== 1) out.text("]");
    }
    out.text("]}");
    if (out.size() >= PART - 16) yield out.take();
  }
  yield `${out.take()}\n      ]\n    }`;
}

/** Yields numbers with commas between them. */
function* numberParts(column: Int32Array): Generator<string> {
  const block = PART / 8;
  for (let from = 0; from < column.length; from += block) {
    yield `${from === 0 ? "" : ","}${column.subarray(from, from + block).join(",")}`;
  }
}

/** Collects ASCII text byte by byte: 200 MB of link numbers in 1.3 s, where joining strings took 15 s. */
interface AsciiWriter {
  /** Returns how much is held. */
  size(): number;
  /** Appends a text of ASCII characters, at most 256. */
  text(text: string): void;
  /** Appends an integer in 0 .. 2^31 - 1 in decimal digits. */
  number(value: number): void;
  /** Returns what is held and holds nothing any more. */
  take(): string;
}

/** Returns a writer; at most `room` characters may be held when something is appended. */
function asciiWriter(room: number): AsciiWriter {
  const bytes = new Uint8Array(room + 256);
  const decoder = new TextDecoder("latin1");
  let length = 0;
  return {
    size: () => length,
    text(text) {
      for (let i = 0; i < text.length; i++) bytes[length++] = text.charCodeAt(i);
    },
    number(value) {
      let digits = 1;
      for (let bound = 10; value >= bound; bound *= 10) digits++;
      let rest = value;
      for (let at = length + digits - 1; at >= length; at--) {
        const next = Math.floor(rest / 10);
        bytes[at] = 48 + rest - 10 * next;
        rest = next;
      }
      length += digits;
    },
    take() {
      const text = decoder.decode(bytes.subarray(0, length));
      length = 0;
      return text;
    },
  };
}
