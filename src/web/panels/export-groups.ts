import type { Options } from "../../request/option-table.ts";
import type { Subject, Welcome } from "../protocol.ts";

type Format = Welcome["exports"][number];

const NETWORKS = "The network, for other tools";

/** Formats that belong together for people; what is named nowhere is of the subject itself. */
const GROUPS = [
  {
    title: "Programs for runtimes",
    names: ["msccl-xml", "mscclpp-json", "mpi", "forestcoll-xml", "jax", "torch", "msccl-lang", "mscclpp-dsl"],
  },
  { title: "Pictures and pages", names: ["svg", "dot", "html", "report", "perfetto"] },
  { title: "For simulators and other tools", names: ["chakra", "astra-sim", "nccl-graph", "taccl-sketches"] },
  { title: NETWORKS, names: ["astra-network", "infragraph", "ns3", "simai", "te-ccl", "forestcoll-json"] },
] as const;

const TITLES: Readonly<Record<Subject["kind"], string>> = {
  schedule: "The schedule",
  program: "The program",
  network: "The network",
};

/** Returns what can be written of a kind of subject, in groups with members; a schedule's network is a subject of its own. */
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
  ].filter(({ title, formats: found }) => found.length > 0 && !(kind === "schedule" && title === NETWORKS));
}

/** Formats of programs, which take the options of programs. */
export const PROGRAM_FORMATS: readonly string[] = ["msccl-xml", "mscclpp-json", "mpi"];

/** Options of programs that a format does not take. */
const NOT_OF: Readonly<Record<string, readonly string[]>> = {
  "msccl-xml": ["hosts"],
  "mscclpp-json": ["dialect", "parts", "threadBlocks", "hosts"],
  mpi: ["dialect", "threadBlocks", "placement", "instances", "protocol"],
};

/** Returns the options that go to a format. */
export function optionsFor(format: string, options: Options): Options {
  if (!PROGRAM_FORMATS.includes(format)) return {};
  const untaken = NOT_OF[format];
  if (untaken === undefined) return options;
  return Object.fromEntries(Object.entries(options).filter(([name]) => !untaken.includes(name)));
}

/** What is said of a format here, where the description names options of the command line. */
export const BRIEFLY: Readonly<Record<string, string>> = {
  "msccl-xml": "a program for microsoft/msccl, Azure's executor or RCCL",
  mpi: "a plan for Banyan's runtime for MPI, by which unchanged MPI programs follow the schedule",
};

/** Views of pictures, with what they show. */
export const PICTURES: Readonly<Record<Subject["kind"], readonly (readonly [view: string, what: string])[]>> = {
  schedule: [
    ["topology", "the network, with what limits the schedule"],
    ["trees", "the trees on the network"],
    ["links", "how busy every link is"],
    ["time", "which link is held when"],
  ],
  network: [["topology", "the network"]],
  program: [],
};
