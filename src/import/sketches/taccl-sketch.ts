import { parseSize } from "../../model/numbers/units.ts";
import type { InternodeSketch, Sketch, SymmetryOffset } from "../../model/sketch/sketch.ts";
import { boxCount, whyNoBoxes } from "../../model/sketch/sketch-boxes.ts";
import { checkSketch } from "../../model/sketch/sketch-check.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { parseJson } from "../text/json-text.ts";
import { asInteger, asList, asText, placeIn, refuse } from "../text/json-value.ts";
import { fieldsOf } from "./taccl-sketch-fields.ts";
import { readInternode } from "./taccl-sketch-internode.ts";
import { readIntranode } from "./taccl-sketch-intranode.ts";

const FIELDS = ["nnodes", "intranode_sketch", "internode_sketch", "symmetry_offsets", "hyperparameters"] as const;
const HYPERPARAMETERS = ["input_chunkup", "input_size"] as const;

/**
 * Returns the communication sketch of a TACCL file for a network (TACCL, appendix A, listing 1; the fields of its public
 * examples). A file says how many nodes there are, not how many GPUs they have: that is the network's. Without `nnodes`, which
 * the listing leaves out, the nodes are the network's boxes. Lines may end in `//` comments, as the listing's do.
 *
 * Throws InputError with the place in the file: for text that is no JSON, fields that are unknown (with the one that was perhaps
 * meant), wrong types, and parts that contradict each other (`checkSketch`). Whether the network has what the sketch names is
 * for `sketchNetwork`. O(text).
 */
export function readSketch(text: string, fileName: string, topology: Topology): Sketch {
  const fields = fieldsOf(parseJson(withoutComments(text), fileName), fileName, "", FIELDS);
  const { npuCount } = topology;
  const known = boxCount(topology);
  const told = known ?? (fields.internode_sketch === undefined ? 1 : undefined);
  if (fields.nnodes === undefined && told === undefined)
    refuse(
      placeIn(fileName, "nnodes"),
      "how many nodes there are, which only networks of equal boxes tell,",
      `${topology.name}, ${whyNoBoxes(topology)}`,
    );
  const boxes = nodesOf(fields.nnodes ?? told, fileName);
  if (known !== null && boxes !== known)
    refuse(placeIn(fileName, "nnodes"), `${known}, the boxes of ${topology.name},`, boxes);
  if (npuCount % boxes !== 0)
    refuse(
      placeIn(fileName, "nnodes"),
      `a number of nodes that divides the ${npuCount} NPUs of ${topology.name}`,
      boxes,
    );
  const npusPerBox = npuCount / boxes;
  const hyper = fieldsOf(fields.hyperparameters ?? {}, fileName, "hyperparameters", HYPERPARAMETERS);
  const sketch: Sketch = {
    name: fileName,
    boxes,
    npusPerBox,
    intranode: readIntranode(fields.intranode_sketch, fileName, npusPerBox),
    internode: internodeOf(fields.internode_sketch, fileName, npusPerBox),
    symmetries: rotationsOf(fields.symmetry_offsets, fileName),
    chunksPerNpu:
      hyper.input_chunkup === undefined
        ? 1
        : asInteger(hyper.input_chunkup, placeIn(fileName, "hyperparameters.input_chunkup"), 1),
    inputBytes: inputBytesOf(hyper.input_size, placeIn(fileName, "hyperparameters.input_size")),
  };
  checkSketch(sketch);
  return sketch;
}

/** Returns the number of nodes that a sketch file asks for, null where it does not say. Throws InputError as `readSketch`. */
export function readSketchNodes(text: string, fileName: string): number | null {
  const { nnodes } = fieldsOf(parseJson(withoutComments(text), fileName), fileName, "", FIELDS);
  return nnodes === undefined ? null : nodesOf(nnodes, fileName);
}

const nodesOf = (value: unknown, fileName: string): number => asInteger(value, placeIn(fileName, "nnodes"), 1, 65536);

const internodeOf = (value: unknown, fileName: string, npusPerBox: number): InternodeSketch | null =>
  value === undefined ? null : readInternode(value, fileName, npusPerBox);

function inputBytesOf(value: unknown, place: string): number | null {
  return value === undefined ? null : parseSize(asText(value, place, 'a size such as "1M"'), place);
}

function rotationsOf(value: unknown, fileName: string): SymmetryOffset[] {
  if (value === undefined) return [];
  const place = placeIn(fileName, "symmetry_offsets");
  return asList(value, place, "a list of [offset, group size]").map((pair, i) => {
    const at = `${place}[${i}]`;
    const numbers = asList(pair, at, "[offset, group size]");
    if (numbers.length !== 2) refuse(at, "[offset, group size]", pair);
    return { offset: asInteger(numbers[0], `${at}[0]`, 0), period: asInteger(numbers[1], `${at}[1]`, 0) };
  });
}

/**
 * Returns a JSON text with `//` comments, outside strings, turned into spaces, so that lines and columns stay. TACCL's listing 1
 * has them. O(text).
 */
function withoutComments(text: string): string {
  const parts: string[] = [];
  let kept = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const c = text[at];
    if (c === '"' || c === "\n") inString = c === '"' && !inString;
    else if (c === "\\" && inString) at++;
    else if (c === "/" && !inString && text[at + 1] === "/") {
      const end = text.indexOf("\n", at);
      const stop = end < 0 ? text.length : end;
      parts.push(text.slice(kept, at), " ".repeat(stop - at));
      kept = stop;
      at = stop - 1;
    }
  }
  return parts.length === 0 ? text : parts.join("") + text.slice(kept);
}
