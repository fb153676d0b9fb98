import { jaxProgram } from "../../export/programs/jax-program.ts";
import { torchProgram } from "../../export/programs/torch-program.ts";
import { transfersOf } from "../../model/steps/schedule.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { count } from "../../report/amounts.ts";
import { type Exporter, lacksMessages } from "./exporter.ts";
import { stepsFor } from "./steps.ts";

/** A format that writes a schedule as a Python program. */
function pythonExporter(
  name: string,
  description: string,
  program: (schedule: StepSchedule, name: string) => Iterable<string>,
): Exporter {
  return {
    name,
    description,
    extension: ".py",
    runs: true,
    lacks: lacksMessages,
    fromSchedule(world, subject, path) {
      const output = world.file(path);
      const steps = stepsFor(subject, name);
      const title = `${steps.collective.kind} on ${steps.topology.name}`;
      const transfers = transfersOf(steps);
      return { bytes: output.write(program(steps, title)), what: count(transfers, "transfer"), facts: { transfers } };
    },
  };
}

export const PYTHON_EXPORTERS: readonly Exporter[] = [
  pythonExporter("jax", "a Python program of jax.lax.ppermute rounds, which checks itself when run", jaxProgram),
  pythonExporter(
    "torch",
    "a Python program of torch.distributed point-to-point rounds, which checks itself when run",
    torchProgram,
  ),
];
