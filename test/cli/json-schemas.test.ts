import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { beforeAll, describe, expect, it } from "vitest";
import { COMMAND_NAMES, type CommandName } from "../../src/cli/protocol.ts";
import { periodsToJson } from "../../src/export/schedules/periods-json.ts";
import { commandsHere } from "../support/cli-here.ts";
import { plainPeriods } from "../support/plain-periods.ts";
import { probeRecord } from "../support/probe-record.ts";
import { sweepRows } from "../support/sweep-rows.ts";

/** What --json prints is what schemas/ says, of every verb: answers of every form, checks that fail, and refusals. */

const here = commandsHere();
const FOLDER = fileURLToPath(new URL("../../schemas", import.meta.url));
const schemaOf = (name: string) => JSON.parse(readFileSync(join(FOLDER, `${name}.schema.json`), "utf8"));

const ajv = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true });
ajv.addSchema(schemaOf("error"));

const NCCL_TESTS = `# nccl-tests version 2.13.8
# Collective test starting: all_reduce_perf
${Array.from({ length: 8 }, (_, i) => `#  Rank  ${i} Group  0 Pid  ${i + 1} on node0 device  ${i} [0x0${i}] A`).join("\n")}
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
     1048576        262144     float     sum      -1    40.00   26.21   45.87      0    40.00   26.21   45.87      0
    67108864      16777216     float     sum      -1   520.00  129.06  225.85      0   520.00  129.06  225.85      0
`;

/** Command lines that prepare files, and by verb those whose output is validated. */
const BEFORE = [
  "synth mesh:3x3 -c allgather -s 9KiB -o steps.json -q",
  "synth dgx-a100:2 -c allgather -a forestcoll -o trees.json -q",
  "synth torus:4x4 -c allreduce -a themis -o phases.json -q",
  "export mesh:2x2 -c allgather --to msccl-xml -o p.xml -q",
];
const LINES: Readonly<Record<CommandName, readonly string[]>> = {
  topology: ["topology mesh:2x2", "topology dgx-h100:1", "topology nothing:4"],
  bound: [
    "bound mesh:3x3 -c allreduce",
    "bound dgx-a100:2 -c alltoall",
    "bound mesh:3x3 -c allgather --without-each 0-1,4,links",
    "bound line:3 -c allgather --without-each 1,0-1",
    "bound mesh:3x3 -c allreduc",
  ],
  synth: [
    "synth mesh:3x3 -c allgather",
    "synth dgx-a100:2 -c allgather -a forestcoll",
    "synth torus:4x4 -c allreduce -a themis",
    "synth ring:4 -c allreduce -a auto --time-limit 2",
    "synth mesh:2x2 -c allgather -s 4KiB -a tacos-ilp --time-limit 5",
    "synth Q(3) -c allgather -a bfb",
    "synth mesh:2x2 --collectives both.json",
    "synth mesh:3x3 --without 0-1 --repair steps.json",
    "synth dgx-a100:2 --without 0-ib --repair trees.json",
    "synth mesh:2x2 -c allgather --without-each 0-1,3",
    "synth mesh:3x3 -c allgather -k 0",
    "synth line:3 -c allgather --without 1",
  ],
  verify: [
    "verify steps.json",
    "verify trees.json",
    "verify phases.json",
    "verify periods.json",
    "verify steps.json --record r.json",
    "verify wrong.json",
    "verify p.xml --target azure",
    "verify folder --target azure",
    "verify steps.json --independent",
    "verify none.json",
  ],
  simulate: [
    "simulate steps.json",
    "simulate trees.json",
    "simulate phases.json",
    "simulate periods.json",
    "simulate p.xml --topology mesh:2x2",
    "simulate none.json",
  ],
  export: [
    "export steps.json --to perfetto -o t.json",
    "export mesh:2x2 --to dot -o x.dot",
    "export mesh:2x2 -c allgather -a tacos -s 1MiB --to msccl-xml -o t.xml",
    "export steps.json --to xlm -o x",
  ],
  run: ["run p.xml", "run steps.json"],
  explain: ["explain steps.json", "explain periods.json", "explain p.xml --size 1MiB", "explain none.json"],
  compare: [
    "compare mesh:2x2 -c allgather --sizes 1KiB,1MiB",
    "compare mesh:2x2 -c allgather --sizes 1KiB --target msccl",
    "compare dgx-a100:2 -c broadcast --sizes 1KiB --algorithms nccl-rings --target nccl",
    "compare mesh:2x2 -c allgather --sizes 1KiB --algorithms magic",
  ],
  plan: [
    "plan gpt2-small ring:4 --accelerator a100 --batch 8 --seq 256 --passes 1,2 --algorithms ring --time-limit 3",
    "plan gpt2-small torus:2x2 --accelerator a100 --batch 8 --seq 256 --passes 1 --algorithms ring --memory 1GiB --time-limit 3",
    "plan gpt2-small ring:4 --accelerator a100 --batch 8 --seq 256 --passes 2 --stages 2 --mesh 2 --algorithms ring --time-limit 3",
    "plan gpt2-small ring:4 --accelerator a100 --batch 8 --seq 256 --memory 1MiB --algorithms ring --time-limit 3",
    "plan nobody ring:4 --batch 8",
  ],
  train: [
    "train llama3-8b dgx-h100:1 -p tp=8 --batch 8",
    "train resnet-50 torus:4x4 --accelerator a100 --batch 64 --algorithms ring,ideal",
    "train llama3-8b dgx-h100:2 -p zero=3 --batch 16 --without 0-nvsw0 --algorithms library",
    "train resnet-50 ring:4 --accelerator a100 --batch 8 --algorithms ring --chakra traces",
    "train traces ring:4 --algorithms ring",
    "train llama3-8b dgx-h100:1 -p tp=8",
    "train nobody dgx-h100:1 -p tp=8 --batch 8",
  ],
  calibrate: ["calibrate dgx-a100:1 all_reduce_perf.log --collective allreduce", "calibrate dgx-a100:1 none.log"],
  search: [
    "search --nodes 8 --degree 2 --no-cache",
    "search --all --max-nodes 6 --degrees 2 --no-cache",
    "search --nodes 8",
  ],
  probe: ["probe --from measured.json", "probe", "probe --from none.json"],
  lab: ["lab --clean", "lab ring:65"],
  sweep: ["sweep some.yaml --dry-run", "sweep some.yaml", "sweep none.yaml", "sweep some.yaml --cancel"],
  results: [
    "results links.sweep",
    "results links.sweep --where us<50 --sort us --limit 3 --columns task,us",
    "results links.sweep --group topology,size --value min(us),best(us),count()",
    "results links.sweep --pivot topology\u00a0x\u00a0size --value us",
    "results links.sweep --cell collective=allgather",
    "results links.sweep --where uss<3",
    "results none.sweep",
  ],
  atlas: [
    "atlas ring:4 -c allgather,broadcast --size 4KiB -a tacos --failures links,npus -o atlas",
    "atlas ring:4 --on 0-1 --failures 1-2 -o atlas",
    "atlas lookup atlas",
    "atlas lookup atlas --failed 1-0",
    "atlas lookup atlas --failed 2-3 -c allgather",
    "atlas lookup atlas --failed 0,2",
    "atlas lookup atlas --failed 9",
    "atlas mesh:2x2 -o atlas",
  ],
  worker: ["worker redis://127.0.0.1:1", "worker none"],
  serve: ["serve none.json"],
  help: ["help synth", "help", "help --man", "help snth"],
  completion: ["completion bash", "completion zsh", "completion fish", "completion csh"],
  list: [
    "list presets",
    "list algorithms",
    "list collectives",
    "list formats",
    "list gpus",
    "list backends",
    "list things",
  ],
};
/** What a test of its own holds: `serve` ends with a signal only, a laboratory needs MPI. */
const ELSEWHERE = ["banyan/serve@1", "banyan/lab@1", "banyan/worker@1", "banyan/queue@1"];

it("there is a schema for every verb and for errors, and for nothing else", () => {
  const names = readdirSync(FOLDER).map((file) => file.replace(".schema.json", ""));
  expect(names.sort()).toEqual([...COMMAND_NAMES, "error"].sort());
});

describe("what --json prints is what its schema says", () => {
  // no line writes over these
  beforeAll(async () => {
    here.put("both.json", [
      { kind: "allgather", size: "4KiB" },
      { kind: "allreduce", size: "4KiB" },
    ]);
    here.put("some.yaml", "axes:\n  topology: [mesh:2x2]\n  collective: [allgather, allreduce]\n");
    here.put("all_reduce_perf.log", NCCL_TESTS);
    here.put("periods.json", periodsToJson(plainPeriods()));
    mkdirSync(here.at("folder"), { recursive: true });
    mkdirSync(here.at("links.sweep"), { recursive: true });
    const rows = sweepRows(60, 5).map((row) => JSON.stringify(row));
    here.put("links.sweep/results.jsonl", `${rows.join("\n")}\n`);
    for (const line of BEFORE) await here.ends(line);
    const steps = JSON.parse(readFileSync(here.at("steps.json"), "utf8"));
    here.put("wrong.json", {
      ...steps,
      transfers: Object.fromEntries(
        Object.entries(steps.transfers as Record<string, unknown[]>).map(([key, column]) => [
          key,
          Array.isArray(column) ? column.slice(0, -1) : column,
        ]),
      ),
    });
    here.put("measured.json", (await probeRecord("ring:4@0.025GB/s", 3)).text);
    here.put("folder/p.xml", readFileSync(here.at("p.xml"), "utf8"));
  });

  it.each(Object.keys(LINES) as CommandName[])("%s", { timeout: 120_000 }, async (verb) => {
    const schema = schemaOf(verb);
    const validate = ajv.compile(schema);
    const seen = new Set<string>();
    for (const line of LINES[verb]) {
      const { code, out } = await here.ends(`${line} --json`);
      const answer = JSON.parse(out);
      const isValid = validate(answer);
      expect([
        line,
        isValid,
        isValid
          ? []
          : validate.errors
              ?.slice(0, 12)
              .map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`),
      ]).toEqual([line, true, []]);
      expect([line, answer.verb, answer.ok]).toEqual([line, verb, code === 0]);
      if (answer.error !== undefined) expect([line, answer.error.code]).toEqual([line, code]);
      seen.add(answer.schema);
    }
    const promised = schema.anyOf.map((one: { title?: string }) => one.title ?? "banyan/error@1");
    expect([...seen].sort()).toEqual([...new Set<string>(promised)].filter((one) => !ELSEWHERE.includes(one)).sort());
    // a schema that takes anything holds nothing
    expect(validate({ schema: promised[0], verb, ok: true, warnings: [] })).toBe(false);
    expect(validate({ schema: "banyan/error@1", verb, ok: true, warnings: [], error: {} })).toBe(false);
  });

  it("and the envelope of what no command is named for has no verb", async () => {
    const { out } = await here.ends("nothing --json");
    expect(ajv.validate("error.schema.json", JSON.parse(out))).toBe(true);
    expect(JSON.parse(out)).toMatchObject({ verb: null, ok: false, error: { code: 2, kind: "input" } });
  });
});
