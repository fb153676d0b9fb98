import { optionName } from "../../base/option-names.ts";
import { readSketch, readSketchNodes } from "../../import/sketches/taccl-sketch.ts";
import type { Sketch } from "../../model/sketch/sketch.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { nameOf, readText } from "./input-file.ts";

const PLACE = optionName("sketch");

/** Returns the sketch of a TACCL file for a network ("-": standard input). Throws InputError. */
export async function readSketchFile(path: string, topology: Topology): Promise<Sketch> {
  return readSketch(readText(path, PLACE), nameOf(path), topology);
}

/** Returns the number of nodes that a sketch file asks for, null where it does not say; TACCL's topology files leave it open. Throws InputError. */
export async function sketchFileNodes(path: string): Promise<number | null> {
  return readSketchNodes(readText(path, PLACE), nameOf(path));
}
