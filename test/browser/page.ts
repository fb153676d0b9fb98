import { openEngine, type SynthesizeRequest, stepsOf, synthesize } from "banyan";

/** The page under test: the package as a page's bundler gets it. What it makes is given back as plain data. */
Object.assign(globalThis, {
  async synthesizeHere(request: SynthesizeRequest): Promise<unknown> {
    const engine = await openEngine();
    const { report, schedule } = await synthesize({ ...request, engine });
    const { chunk, route, startPs, endPs } = stepsOf(schedule);
    const columns = [chunk, route, startPs, endPs].map((column) => Array.from(column));
    return {
      backend: engine.backend,
      verified: report.verified,
      time: report.time,
      details: report.details,
      columns,
    };
  },
});
