import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { ALGORITHMS } from "../../src/synthesize/catalog.ts";
import { banyan, compile, NO_ADDON } from "../support/cli.ts";
import { commandsHere } from "../support/cli-here.ts";
import { infeasible, missing, outOfRange, type Refusal, refused, unexpected } from "../support/refusals.ts";

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

/** What is wrong, the arguments, and the refusal; a sentence where it has no kind. */
type Case = readonly [title: string, args: string, refusal: Refusal | string];

describe("a command line that is wrong gets exit code 2 and one line", () => {
  it.each<Case>([
    ["unknown command", "snth mesh:3x3", "unknown command 'snth' (did you mean synth?); see `banyan --help`"],
    [
      "unknown option",
      "synth mesh:3x3 --collective allgather --sise 3",
      "unknown option '--sise' (did you mean --size?); see `banyan synth --help`",
    ],
    ["missing argument", "topology", 'TOPO is missing ("-" reads standard input); see `banyan topology --help`'],
    ["missing option", "synth mesh:3x3", missing("collective", "--collectives")],
    [
      "missing value",
      "bound mesh:3x3 --collective",
      "--collective is without its value <name>; see `banyan bound --help`",
    ],
    [
      "an argument too many",
      "verify a.json b.json",
      '"b.json" is one argument too many; verify takes 1 argument; see `banyan verify --help`',
    ],
    ["unknown list", "list backend", refused("unknown-name", "what to list", "backend", "backends")],
    ["unknown backend", "synth mesh:3x3 --collective allgather --backend gpu", unexpected("backend", "gpu")],
    ["threads", "synth mesh:3x3 --collective allgather --threads two", unexpected("threads", "two")],
  ])("%s", (_, args, line) => here.refuses(args, line));
});

describe("a topology that is neither a file nor a preset", () => {
  it.each<Case>([
    [
      "unknown preset, with the nearest one",
      "topology meesh:3x3",
      refused("unknown-name", '"meesh" in the topology', "meesh:3x3", "mesh"),
    ],
    ["no such file, with the nearest one", "topology good.jsn", unexpected("the topology", "good.jsn", "good.json")],
    ["a preset without its colon", "topology mesh3x3", unexpected("the topology", "mesh3x3", "mesh:AxB[x...]")],
    ["a folder", "topology ..", unexpected("the topology", "..")],
    ["a size of 0", "topology mesh:0x3", outOfRange("a size of mesh in mesh:0x3", "0")],
    ["a unit that is none", "topology ring:4@50GX/s", unexpected('value 1 after "@" in ring:4@50GX/s', "50GX/s")],
    [
      "options of another format",
      "topology good.json --nodes 2",
      unexpected("nodes", "good.json (banyan-topology)", "--showtopo"),
    ],
  ])("%s", (_, args, line) => {
    here.put("good.json", good);
    return here.refuses(args, line);
  });
});

describe("a topology file that is wrong", () => {
  it.each<readonly [title: string, content: unknown, line: Refusal]>([
    ["negative bandwidth", link({ bandwidthGBps: -5 }), unexpected("t.json: links[0].bandwidthGBps", -5)],
    [
      "NaN bandwidth",
      JSON.stringify(good).replace("50", "NaN"),
      // JSON has no NaN, so the text stops being JSON there.
      unexpected(`t.json line 1, column ${JSON.stringify(good).indexOf("50") + 1}`, 'NaN,"latencyUs":1,"bidir'),
    ],
    ["a bandwidth that is a text", link({ bandwidthGBps: "NaN" }), unexpected("t.json: links[0].bandwidthGBps", "NaN")],
    ["a link to a missing node", link({ to: "c" }), unexpected("t.json: links[0].to", "c")],
    ["duplicate ids", network([...NODES, { id: "a", kind: "switch" }], []), unexpected("t.json: nodes[2].id", "a")],
    ["a self-loop", link({ to: "a" }), unexpected("t.json: links[0].to", "a")],
    ["no nodes", network([], []), outOfRange("t.json: nodes", [])],
    ["switches only", network([{ id: "s", kind: "switch" }], []), outOfRange("t.json: nodes", "1 switches")],
    ["truncated JSON", JSON.stringify(good).slice(0, 60), missing("t.json line 1, column 61")],
    ["an empty file", "", missing("t.json")],
    ["another format", "<algo name='x'/>", unexpected("t.json", "<algo name='x'/>")],
    ["an unknown version", { ...good, version: 7 }, unexpected("t.json: version", 7)],
  ])("%s", async (_, content, line) => {
    await here.refuses(`topology ${here.put("t.json", content)}`, line);
  });
});

describe("a request that cannot be", () => {
  it.each<Case>([
    ["size 0", "--collective allgather --size 0", unexpected("sizeBytes", "0")],
    ["a malformed size", "--collective allgather --size 1..5MB", unexpected("sizeBytes", "1..5MB")],
    ["an unknown unit", "--collective allgather --size 1XB", unexpected("sizeBytes", "1XB")],
    [
      "an absurd number of chunks, with its estimate",
      "--collective allgather --chunks 1e9",
      outOfRange("chunks", "1000000000 (about 9.0e+9 chunks in all)", 9, 2147483647),
    ],
    [
      "chunks for more transfers than a schedule lists, with its estimate",
      "--collective alltoall --chunks 1e7",
      outOfRange("chunks", "10000000 (about 8.1e+8 transfers, 32.4 GB of memory)", 9, 8),
    ],
    ["half a chunk", "--collective allgather --chunks 1.5", unexpected("chunks", "1.5")],
    [
      "an unknown collective, with the nearest one",
      "--collective all-gathr",
      refused("unknown-name", "collective", "all-gathr", "allgather"),
    ],
    ["a root outside the group", "--collective broadcast --root 8 --group 0,1,2", unexpected("root", "8")],
    ["a root that is not there", "--collective broadcast --root 9", unexpected("root", "9", 9)],
    ["an NPU twice in a group", "--collective allgather --group 0,1,0", unexpected("group", "0")],
    ["an unknown NPU", "--collective allgather --without 99", unexpected("without", "99")],
    [
      "an unknown link, with the nearest one",
      "--collective allgather --without 0-8",
      unexpected("without", "0-8", "0-1"),
    ],
    ["a degradation above 1", "--collective allgather --degrade 0-1=2", unexpected("--degrade 0-1", 2)],
    ["a degradation without a factor", "--collective allgather --degrade 0-1", unexpected("degrade", "0-1")],
    ["a negative seed", "--collective allgather --seed -1", outOfRange("seed", "-1", 0)],
    ["a seed beyond 32 bits", "--collective allgather --seed 1e10", outOfRange("seed", 10000000000)],
    [
      "an unknown algorithm",
      "--collective allgather --algorithm magic",
      refused("unknown-name", "algorithm", "magic", [...ALGORITHMS.map(({ name }) => name), "auto"].join(", ")),
    ],
    ["an unknown switching", "--collective allgather --switching worm", refused("unknown-name", "switching", "worm")],
    ["a switch degree of 0", "--collective allgather --switch-degree 0", unexpected("switchDegree", "0")],
    [
      "chunks of less than a byte",
      "--collective allgather --size 9KB --chunks 2000 --algorithm auto",
      unexpected("chunks", 2000, 1000, 9),
    ],
    [
      "chunks of less than a byte for one algorithm",
      "--collective allgather --size 9KB --chunks 2000 --algorithm ring",
      unexpected("chunks", 2000, 1000, 9),
    ],
    [
      "so much data that its time is no exact number",
      "--collective allreduce --size 999TiB --algorithm auto",
      unexpected("sizeBytes", "999 TiB", 2.5),
    ],
    [
      "the same for one algorithm",
      "--collective allreduce --size 999TiB --algorithm ring",
      unexpected("sizeBytes", "999 TiB", 2.5),
    ],
    [
      "the same for one whose schedule alone is so long",
      "--collective alltoall --size 999TiB --algorithm direct",
      unexpected("sizeBytes", "999 TiB", 2.5),
    ],
    ["a custom collective that is not there", "--collective custom:no.json", unexpected("collective", "no.json")],
  ])("%s", (_, args, line) => here.refuses(`synth mesh:3x3 ${args}`, line));

  it("ends with exit code 3 and an unreachable pair where the network is not connected", () =>
    here.refuses("synth mesh:3x3 --without 1,3 --collective allgather", infeasible({ from: "0", to: "2" }), 3));

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
    ["a missing folder", "nowhere/x.json", "a folder that exists"],
    ["a folder", ".", "not a folder"],
    ["a name with a slash at its end", "x.json/", "not a folder"],
    ["a file as folder", "good.json/x.json", "a folder that exists"],
    ["a name that is too long", `${"n".repeat(300)}.json`, "a shorter name"],
  ])("%s", async (_, path, expected) => {
    here.put("good.json", good);
    const before = readdirSync(here.at());
    await here.refuses(`${heavy} ${path}`, unexpected("output", path, expected));
    expect(readdirSync(here.at())).toEqual(before);
  });

  it.skipIf(process.getuid?.() === 0)("a folder that may not be written", async () => {
    mkdirSync(here.at("locked"), { mode: 0o555 });
    await here.refuses(`${heavy} locked/x.json`, unexpected("output", "locked/x.json", "may be written"));
  });

  it("a trace", () => here.refuses("simulate s.json --trace no/t.json", unexpected("trace", "no/t.json")));
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
      unexpected("s.json", "one for another topology, ring:4 (hash ea5f6225f3cbcbbd)"),
    );
  });

  it("is refused where there is none", () =>
    here.refuses("verify no.json", unexpected("the schedule or program", "no.json")));

  it("is refused where it is a file of another format", () =>
    here.refuses(`verify ${here.put("good.json", good)}`, unexpected("good.json", "a network (banyan-topology)")));

  it("is refused where options speak of a topology that is not given", async () => {
    await make();
    await here.refuses("verify s.json --without 1", refused("not-alone", "without", "1", "--topology"));
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
      'BANYAN_BACKEND is "native"; it must be a backend that loads (the native add-on is not built: build it with `npm run build:native`)',
      { ...NO_ADDON, BANYAN_BACKEND: "native" },
    ));

  it("fails the same way, forced by --backend", () =>
    refuses(
      `${synth} --backend native`,
      '--backend is "native"; it must be a backend that loads (the native add-on is not built: build it with `npm run build:native`)',
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
