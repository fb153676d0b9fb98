import type { Run } from "./context.ts";
import type { CommandName } from "./protocol.ts";

/** Where the code of each command is; it is loaded when the command runs. */
export const COMMANDS: Readonly<Record<CommandName, () => Promise<{ readonly run: Run }>>> = {
  topology: () => import("./commands/topology.ts"),
  bound: () => import("./commands/bound.ts"),
  synth: () => import("./commands/synth.ts"),
  verify: () => import("./commands/verify.ts"),
  simulate: () => import("./commands/simulate.ts"),
  export: () => import("./commands/export.ts"),
  run: () => import("./commands/run.ts"),
  probe: () => import("./commands/probe.ts"),
  lab: () => import("./commands/lab.ts"),
  explain: () => import("./commands/explain.ts"),
  compare: () => import("./commands/compare.ts"),
  train: () => import("./commands/train.ts"),
  plan: () => import("./commands/plan.ts"),
  calibrate: () => import("./commands/calibrate.ts"),
  search: () => import("./commands/search.ts"),
  sweep: () => import("./commands/sweep.ts"),
  worker: () => import("./commands/worker.ts"),
  results: () => import("./commands/results.ts"),
  atlas: () => import("./commands/atlas.ts"),
  serve: () => import("./commands/serve.ts"),
  list: () => import("./commands/list.ts"),
  help: () => import("./commands/help.ts"),
  completion: () => import("./commands/completion.ts"),
};
