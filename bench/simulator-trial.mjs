// One schedule in a process of its own: simulator-trial.mjs CASE. One message, answered by the seconds of every verb.
import { openEngine, simulate, synthesize, verify } from "../dist/index.js";
import { CASES } from "./simulator-cases.mjs";
import { answerWith } from "./support.mjs";

const trial = CASES[Number(process.argv[2])];

const VERBS = {
  "simulate, cut-through": (schedule) => simulate(schedule, { switching: "cut-through" }).ps > 0,
  "simulate, store-and-forward": (schedule) => simulate(schedule, { switching: "store-and-forward" }).ps > 0,
  verify: (schedule) => verify(schedule).violationCount === 0,
};

answerWith(async () => {
  const engine = await openEngine();
  const { schedule } = await synthesize({ engine, trials: 1, sizeBytes: 2 ** 30, ...trial.request });
  await engine.close();
  const { route, chunk, routes } = schedule;
  let hops = 0;
  for (let i = 0; i < route.length; i++) hops += routes.linkOffset[route[i] + 1] - routes.linkOffset[route[i]];
  const seconds = {};
  for (const [name, verb] of Object.entries(VERBS)) {
    seconds[name] = [];
    // The first call is not timed.
    for (let i = -1; i < trial.runs; i++) {
      const start = performance.now();
      if (!verb(schedule)) throw new Error(`${name} does not accept the schedule of ${trial.name}`);
      if (i >= 0) seconds[name].push((performance.now() - start) / 1000);
    }
  }
  return { transfers: chunk.length, hops, seconds };
});
