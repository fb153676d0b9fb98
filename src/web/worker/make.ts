import { synthesize } from "../../pipeline.ts";
import { namedRequest } from "../../words/collective-options.ts";
import { progressOf, synthesisOptions, withoutAuto } from "../../words/synthesis-options.ts";
import { textOf } from "../../words/values.ts";
import type { MakeWish, ScheduleRef, ScheduleView } from "../protocol.ts";
import type { Tools } from "./handlers.ts";
import { networkOf } from "./networks.ts";
import { scheduleView } from "./schedule-view.ts";
import { type Kept, keep } from "./shelf.ts";

/** Returns what a wish asks for: synthesized, verified, simulated, bounded. Throws as synthesize does. */
export async function madeFor({ network, options }: MakeWish, { engine, signal, progress }: Tools): Promise<Kept> {
  const topology = await networkOf(network);
  const request = {
    ...namedRequest(textOf(options, "collective") ?? "allgather", withoutAuto(options)),
    ...synthesisOptions(options),
  };
  return synthesize(engine, topology, { ...request, signal, onProgress: (step) => progress(progressOf(step)) });
}

/** Answers "make". */
export async function make({ wish }: { readonly wish: MakeWish }, tools: Tools): Promise<ScheduleView> {
  const started = performance.now();
  const made = await madeFor(wish, tools);
  const ref: ScheduleRef = { id: keep(made), file: null, wish };
  return scheduleView(ref, made, performance.now() - started);
}
