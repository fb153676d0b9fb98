import type { Subject, Welcome } from "../protocol.ts";

type Format = Welcome["exports"][number];

/** Formats that belong together for people; what is named nowhere is of the subject itself. */
const GROUPS = [
  { title: "Programs for runtimes", names: ["msccl-xml", "mscclpp-json", "forestcoll-xml", "jax", "torch"] },
  { title: "Pictures and pages", names: ["svg", "dot", "html", "report", "perfetto"] },
  { title: "For simulators and other tools", names: ["chakra", "astra-sim", "nccl-graph", "taccl-sketches"] },
] as const;

const TITLES: Readonly<Record<Subject["kind"], string>> = {
  schedule: "The schedule",
  program: "The program",
  network: "The network",
};

/** Returns what can be written of a kind of subject, in groups; those without a member are left out. */
export function exportGroups(
  formats: readonly Format[],
  kind: Subject["kind"],
): { title: string; formats: Format[] }[] {
  const fitting = formats.filter(({ of }) => of.includes(kind));
  const named = (title: string, names: readonly string[]) => ({
    title,
    formats: fitting.filter(({ name }) => names.includes(name)),
  });
  const known: readonly string[] = GROUPS.flatMap(({ names }) => names);
  return [
    { title: TITLES[kind], formats: fitting.filter(({ name }) => !known.includes(name)) },
    ...GROUPS.map(({ title, names }) => named(title, names)),
  ].filter(({ formats: found }) => found.length > 0);
}

/** Formats of programs, which take the options of programs. */
export const PROGRAM_FORMATS: readonly string[] = ["msccl-xml", "mscclpp-json"];
