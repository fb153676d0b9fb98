import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { ALGORITHMS } from "../../src/synthesize/catalog.ts";
import { banyan, compile, NO_ADDON } from "../support/cli.ts";
import { commandsHere } from "../support/cli-here.ts";

const here = commandsHere();
/** As a process of its own, for one whose add-on is hidden. */
const runWithout = (line: string, env: NodeJS.ProcessEnv) => banyan(line.split(" "), { cwd: here.at(), env });

const NODES = [
  { id: "a", kind: "npu" },
  { id: "b", kind: "npu" },
];
const network = (nodes: unknown, links: unknown) => ({
  format: "banyan-topology",
  version: 1,
  name: "pair",
  nodes,
  links,
});
const link = (fields: object) => network(NODES, [{ from: "a", to: "b", bandwidthGBps: 50, latencyUs: 1, ...fields }]);
const good = link({ bidirectional: true });

/** What is wrong, the arguments, and the one line on standard error. */
type Case = readonly [title: string, args: string, line: string];

describe("a command line that is wrong gets exit code 2 and one line", () => {
  it.each<Case>([
    ["unknown command", "snth mesh:3x3", "unknown command 'snth' (did you mean synth?); see `banyan --help`"],
    [
      "unknown option",
      "synth mesh:3x3 --collective allgather --sise 3",
      "unknown option '--sise' (did you mean --size?); see `banyan synth --help`",
    ],
    ["missing argument", "topology", "missing required argument 'TOPO'; see `banyan topology --help`"],
    [
      "missing option",
      "synth mesh:3x3",
      "expected a collective, or --collectives FILE, for --collective but received nothing",
    ],
    [
      "missing value",
      "bound mesh:3x3 --collective",
      "option '--collective <name>' argument missing; see `banyan bound --help`",
    ],
    [
      "an argument too many",
      "verify a.json b.json",
      "too many arguments for 'verify'. Expected 1 argument but got 2; see `banyan verify --help`",
    ],
    [
      "unknown list",
      "list backend",
      'expected one of presets, algorithms, collectives, formats, gpus, backends (did you mean "backends"?) for what to list but received "backend"',
    ],
    [
      "unknown backend",
      "synth mesh:3x3 --collective allgather --backend gpu",
      'expected native, wasm or js for --backend but received "gpu"',
    ],
    [
      "threads",
      "synth mesh:3x3 --collective allgather --threads two",
      'expected a whole number, 0 or more for --threads but received "two"',
    ],
  ])("%s", (_, args, line) => here.refuses(args, line));
});

describe("a topology that is neither a file nor a preset", () => {
  it.each<Case>([
    [
      "unknown preset, with the nearest one",
      "topology meesh:3x3",
      'expected a preset of `banyan list presets` (did you mean "mesh"?) for "meesh" in the topology but received "meesh:3x3"',
    ],
    [
      "no such file, with the nearest one",
      "topology good.jsn",
      'expected a file that exists or a preset (see `banyan list presets`; did you mean "good.json"?) for the topology but received "good.jsn"',
    ],
    [
      "a preset without its colon",
      "topology mesh3x3",
      'expected a file that exists or a preset (see `banyan list presets`; did you mean "mesh:AxB[x...]"?) for the topology but received "mesh3x3"',
    ],
    ["a folder", "topology ..", 'expected a file or a preset, not a folder, for the topology but received ".."'],
    [
      "a size of 0",
      "topology mesh:0x3",
      'expected a whole number, 1 or more for a size of mesh in mesh:0x3 but received "0"',
    ],
    [
      "a unit that is none",
      "topology ring:4@50GX/s",
      'expected a positive bandwidth such as "25GB/s", "50GiB/s" or "400Gbps" for value 1 after "@" in ring:4@50GX/s but received "50GX/s"',
    ],
    [
      "options of another format",
      "topology good.json --nodes 2",
      'expected a file (TACCL topology, NCCL topology, nvidia-smi topo -m or rocm-smi --showtopo) that leaves this open for --nodes but received "good.json (banyan-topology)"',
    ],
  ])("%s", (_, args, line) => {
    here.put("good.json", good);
    return here.refuses(args, line);
  });
});

describe("a topology file that is wrong", () => {
  it.each<readonly [title: string, content: unknown, line: string]>([
    [
      "negative bandwidth",
      link({ bandwidthGBps: -5 }),
      "expected a positive number of GB/s for t.json: links[0].bandwidthGBps but received -5",
    ],
    [
      "NaN bandwidth",
      JSON.stringify(good).replace("50", "NaN"),
      // JSON has no NaN, so the text stops being JSON there.
      `expected valid JSON for t.json line 1, column ${JSON.stringify(good).indexOf("50") + 1} but received "NaN,\\"latencyUs\\":1,\\"bidir"`,
    ],
    [
      "a bandwidth that is a text",
      link({ bandwidthGBps: "NaN" }),
      'expected a positive number of GB/s for t.json: links[0].bandwidthGBps but received "NaN"',
    ],
    [
      "a link to a missing node",
      link({ to: "c" }),
      'expected the id of a node in the list of nodes for t.json: links[0].to but received "c"',
    ],
    [
      "duplicate ids",
      network([...NODES, { id: "a", kind: "switch" }], []),
      'expected an id not used by another node for t.json: nodes[2].id but received "a"',
    ],
    [
      "a self-loop",
      link({ to: "a" }),
      'expected another node than the link\'s own start for t.json: links[0].to but received "a"',
    ],
    ["no nodes", network([], []), "expected at least one node for t.json: nodes but received []"],
    [
      "switches only",
      network([{ id: "s", kind: "switch" }], []),
      'expected at least one NPU for t.json: nodes but received "1 switches"',
    ],
    [
      "truncated JSON",
      JSON.stringify(good).slice(0, 60),
      "expected more JSON (the text stops too early) for t.json line 1, column 61 but received nothing",
    ],
    ["an empty file", "", "expected a network in a format of `banyan list formats` for t.json but received nothing"],
    [
      "another format",
      "<algo name='x'/>",
      "expected a network in a format of `banyan list formats` for t.json but received \"<algo name='x'/>\"",
    ],
    [
      "an unknown version",
      { ...good, version: 7 },
      "expected version 1, the only one this program reads, for t.json: version but received 7",
    ],
  ])("%s", async (_, content, line) => {
    await here.refuses(`topology ${here.put("t.json", content)}`, line);
  });
});

describe("a request that cannot be", () => {
  it.each<Case>([
    [
      "size 0",
      "--collective allgather --size 0",
      'expected a positive size such as "1GiB", "64MB" or "4096" for --size but received "0"',
    ],
    [
      "a malformed size",
      "--collective allgather --size 1..5MB",
      'expected a positive size such as "1GiB", "64MB" or "4096" for --size but received "1..5MB"',
    ],
    [
      "an unknown unit",
      "--collective allgather --size 1XB",
      'expected a positive size such as "1GiB", "64MB" or "4096" for --size but received "1XB"',
    ],
    [
      "an absurd number of chunks, with its estimate",
      "--collective allgather --chunks 1e9",
      'expected so few chunks that 9 NPUs have at most 2147483647 in all for --chunks but received "1000000000 (about 9.0e+9 chunks in all)"',
    ],
    [
      "chunks for more transfers than a schedule lists, with its estimate",
      "--collective alltoall --chunks 1e7",
      'expected so few chunks that 9 NPUs need at most 4e+8 transfers for --chunks but received "10000000 (about 8.1e+8 transfers, 32.4 GB of memory)"',
    ],
    [
      "half a chunk",
      "--collective allgather --chunks 1.5",
      'expected a whole number, 1 or more for --chunks but received "1.5"',
    ],
    [
      "an unknown collective, with the nearest one",
      "--collective all-gather",
      'expected one of allgather, reducescatter, allreduce, broadcast, reduce, gather, scatter, alltoall, custom:FILE (did you mean "allgather"?) for --collective but received "all-gather"',
    ],
    [
      "a root outside the group",
      "--collective broadcast --root 8 --group 0,1,2",
      'expected an NPU of the group for --root but received "8"',
    ],
    [
      "a root that is not there",
      "--collective broadcast --root 9",
      'expected the name or id (below 9) of an NPU for --root but received "9"',
    ],
    [
      "an NPU twice in a group",
      "--collective allgather --group 0,1,0",
      'expected each NPU once in a group for --group but received "0"',
    ],
    [
      "an unknown NPU",
      "--collective allgather --without 99",
      'expected an NPU, switch or link of mesh:3x3 for --without but received "99"',
    ],
    [
      "an unknown link, with the nearest one",
      "--collective allgather --without 0-8",
      'expected an NPU, switch or link of mesh:3x3 (did you mean "0-1"?) for --without but received "0-8"',
    ],
    [
      "a degradation above 1",
      "--collective allgather --degrade 0-1=2",
      "expected a factor above 0 and at most 1 for --degrade 0-1 but received 2",
    ],
    [
      "a degradation without a factor",
      "--collective allgather --degrade 0-1",
      'expected NAME=FACTOR such as a-b=0.5 for --degrade but received "0-1"',
    ],
    [
      "a negative seed",
      "--collective allgather --seed -1",
      'expected a whole number, 0 or more for --seed but received "-1"',
    ],
    [
      "a seed beyond 32 bits",
      "--collective allgather --seed 1e10",
      "expected an integer in 0 .. 2^32 - 1 for --seed but received 10000000000",
    ],
    [
      "an unknown algorithm",
      "--collective allgather --algorithm magic",
      `expected one of ${[...ALGORITHMS.map(({ name }) => name), "auto"].join(", ")} for --algorithm but received "magic"`,
    ],
    [
      "an unknown switching",
      "--collective allgather --switching worm",
      'expected one of cut-through, store-and-forward for --switching but received "worm"',
    ],
    [
      "a switch degree of 0",
      "--collective allgather --switch-degree 0",
      'expected "ports" or a degree of 1 or more for --switch-degree but received "0"',
    ],
    [
      "chunks of less than a byte",
      "--collective allgather --size 9KB --chunks 2000 --algorithm auto",
      "expected at most 1000, so that a chunk of 9 KB has a byte or more, for --chunks but received 2000",
    ],
    [
      "chunks of less than a byte for one algorithm",
      "--collective allgather --size 9KB --chunks 2000 --algorithm ring",
      "expected at most 1000, so that a chunk of 9 KB has a byte or more, for --chunks but received 2000",
    ],
    [
      "so much data that its time is no exact number",
      "--collective allreduce --size 999TiB --algorithm auto",
      'expected so little data that it takes less than 2^53 ps (2.5 hours) for --size but received "999 TiB"',
    ],
    [
      "the same for one algorithm",
      "--collective allreduce --size 999TiB --algorithm ring",
      'expected so little data that it takes less than 2^53 ps (2.5 hours) for --size but received "999 TiB"',
    ],
    [
      "the same for one whose schedule alone is so long",
      "--collective alltoall --size 999TiB --algorithm direct",
      'expected so little data that it takes less than 2^53 ps (2.5 hours) for --size but received "999 TiB"',
    ],
    [
      "a custom collective that is not there",
      "--collective custom:no.json",
      'expected a file that exists for --collective but received "no.json"',
    ],
  ])("%s", (_, args, line) => here.refuses(`synth mesh:3x3 ${args}`, line));

  it("ends with exit code 3 and an unreachable pair where the network is not connected", () =>
    here.refuses(
      "synth mesh:3x3 --without 1,3 --collective allgather",
      "mesh:3x3 without 1,3 is not connected: NPU 0 cannot reach NPU 2",
      3,
    ));

  it("makes an empty schedule of time 0 for one NPU", async () => {
    expect(await here.json("synth mesh:1x1 --collective allreduce")).toMatchObject({
      schedule: { transfers: 0 },
      time: { us: 0 },
      verified: true,
      ofLimit: 1,
      details: { ofPlannedBound: 1 },
    });
  });
});

describe("an output that cannot be written is refused before the work, and nothing stays behind", () => {
  // This much work would take minutes: the refusal comes first.
  const heavy = "synth torus:40x40 --collective alltoall -o";

  it.each<readonly [title: string, path: string, expected: string]>([
    ["a missing folder", "nowhere/x.json", "a file in a folder that exists"],
    ["a folder", ".", "a file, not a folder,"],
    ["a name with a slash at its end", "x.json/", "a file, not a folder,"],
    ["a file as folder", "good.json/x.json", "a file in a folder that exists"],
    ["a name that is too long", `${"n".repeat(300)}.json`, "a shorter name of a file"],
  ])("%s", async (_, path, expected) => {
    here.put("good.json", good);
    const before = readdirSync(here.at());
    const shown = path.length > 76 ? `"${path.slice(0, 76)}...` : `"${path}"`;
    await here.refuses(`${heavy} ${path}`, `expected ${expected} for -o but received ${shown}`);
    expect(readdirSync(here.at())).toEqual(before);
  });

  it.skipIf(process.getuid?.() === 0)("a folder that may not be written", async () => {
    mkdirSync(here.at("locked"), { mode: 0o555 });
    await here.refuses(
      `${heavy} locked/x.json`,
      'expected a file that may be written for -o but received "locked/x.json"',
    );
  });

  it("a trace", () =>
    here.refuses(
      "simulate s.json --trace no/t.json",
      'expected a file in a folder that exists for --trace but received "no/t.json"',
    ));
});

describe("a schedule file that does not fit", () => {
  const make = async (): Promise<void> => {
    if (existsSync(here.at("s.json"))) return;
    await here.run("synth ring:4 --collective allgather --size 1MiB -o s.json");
  };

  it("is refused where it is for another topology", async () => {
    await make();
    await here.refuses(
      "verify s.json --topology mesh:2x3",
      /^banyan: expected a schedule for mesh:2x3 \(hash [0-9a-f]{16}\) for s\.json but received "one for another topology, ring:4 \(hash [0-9a-f]{16}\)"\n$/,
    );
  });

  it("is refused where there is none", () =>
    here.refuses("verify no.json", 'expected a file that exists for the schedule or program but received "no.json"'));

  it("is refused where it is a file of another format", () =>
    here.refuses(
      `verify ${here.put("good.json", good)}`,
      'expected "banyan-schedule" for good.json: format but received "banyan-topology"',
    ));

  it("is refused where options speak of a topology that is not given", async () => {
    await make();
    await here.refuses("verify s.json --without 1", 'expected --topology beside it for --without but received "1"');
  });
});

describe("a backend that cannot be had", () => {
  beforeAll(compile, 120_000);
  const synth = "synth mesh:3x3 --collective allgather";
  const refuses = async (line: string, sentence: string, env: NodeJS.ProcessEnv): Promise<void> =>
    expect(await runWithout(line, env)).toEqual({ code: 2, out: "", err: `banyan: ${sentence}\n` });

  it("fails and says how to build it, forced by BANYAN_BACKEND", () =>
    refuses(
      synth,
      'expected a backend that loads (the native add-on is not built: build it with `npm run build:native`) for BANYAN_BACKEND but received "native"',
      { ...NO_ADDON, BANYAN_BACKEND: "native" },
    ));

  it("fails the same way, forced by --backend", () =>
    refuses(
      `${synth} --backend native`,
      'expected a backend that loads (the native add-on is not built: build it with `npm run build:native`) for --backend but received "native"',
      NO_ADDON,
    ));

  it("falls back where it is not forced, and says so in one line, but not with --quiet", async () => {
    const loud = await runWithout(`${synth} --json`, NO_ADDON);
    expect(loud.err).toMatch(/^banyan: (wasm|js) kernels, because the native add-on is not built[^\n]*\n$/);
    const quiet = await runWithout(`${synth} --json --quiet`, NO_ADDON);
    expect([quiet.code, quiet.err]).toEqual([0, ""]);
    const times = [loud, quiet].map(({ out }) => JSON.parse(out).time.us);
    expect(times[0]).toBe(times[1]);
  });
});
