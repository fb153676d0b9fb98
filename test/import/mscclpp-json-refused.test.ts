import { describe, expect, it } from "vitest";
import { looksLikeMscclppJson, programFromPlan, readMscclppJson } from "../../src/import/programs/mscclpp-json.ts";
import {
  allGather,
  local,
  move,
  type Plan,
  pipelinedCopy,
  plan,
  portAllGather,
  sharedCopy,
  switchAllReduce,
} from "./mscclpp-json-plans.ts";
import { sentenceOf } from "./support.ts";

/** A change that puts a value (undefined: removes it) at a path such as `gpus[0].id`. */
const put =
  (path: string, value: unknown) =>
  (file: Plan): Plan => {
    const keys = path.split(/[.[\]]+/).filter((key) => key !== "");
    const last = keys.pop() as string;
    keys.reduce((at, key) => at[key], file)[last] = value;
    return file;
  };
const refusal = (value: Plan): string => sentenceOf(() => programFromPlan(value, "p.json"));

const G0 = "gpus[0]";
const B0 = "gpus[0].threadblocks[0]";
const PUT = `${B0}.ops[3]`;

/** Plan, path, value put there, the sentence. */
const CASES: readonly (readonly [Plan, string, unknown, string])[] = [
  [allGather(), "name", undefined, "expected a text for p.json: name but received nothing"],
  [allGather(), "collective", 3, "expected a text for p.json: collective but received 3"],
  [allGather(), "protocol", "LL128", 'expected "Simple" or "LL" for p.json: protocol but received "LL128"'],
  [allGather(), "inplace", undefined, "expected true or false for p.json: inplace but received nothing"],
  [allGather(), "reuse_resources", 1, "expected true or false for p.json: reuse_resources but received 1"],
  [
    allGather(),
    "buffer_alignment",
    0,
    "expected an integer in 1 .. 2147483647 for p.json: buffer_alignment but received 0",
  ],
  [
    allGather(),
    "min_message_size",
    -1,
    "expected an integer of 0 or more for p.json: min_message_size but received -1",
  ],
  [
    allGather(),
    "max_message_size",
    "1M",
    'expected an integer of 0 or more for p.json: max_message_size but received "1M"',
  ],
  [allGather(), "gpus", {}, "expected a list of gpus for p.json: gpus but received {}"],
  [allGather(), "gpus", [], "expected at least one gpu for p.json: gpus but received []"],
  [allGather(), "gpus[1]", null, "expected an object for p.json: gpus[1] but received null"],
  [allGather(), "gpus[1].id", 0, "expected 1, its place in the list, for p.json: gpus[1].id but received 0"],
  [
    allGather(),
    `${G0}.input_chunks`,
    1e10,
    `expected an integer in 0 .. 2147483647 for p.json: ${G0}.input_chunks but received 10000000000`,
  ],
  [
    allGather(),
    `${G0}.scratch_chunks`,
    undefined,
    `expected an integer in 0 .. 2147483647 for p.json: ${G0}.scratch_chunks but received nothing`,
  ],
  [allGather(), `${G0}.threadblocks`, undefined, `expected a list for p.json: ${G0}.threadblocks but received nothing`],
  [allGather(), `${B0}.id`, 1, `expected 0, its place in the list, for p.json: ${B0}.id but received 1`],
  [allGather(), `${B0}.ops`, "put", `expected a list for p.json: ${B0}.ops but received "put"`],
  [
    allGather(),
    `${G0}.channels[0].channel_type`,
    "proxy",
    `expected "memory", "port" or "switch" for p.json: ${G0}.channels[0].channel_type but received "proxy"`,
  ],
  [
    allGather(),
    `${G0}.channels[0].connected_to[0]`,
    2,
    `expected an integer in 0 .. 1 for p.json: ${G0}.channels[0].connected_to[0] but received 2`,
  ],
  [
    allGather(),
    `${G0}.channels[0].connected_to[0]`,
    0,
    `expected another rank than the gpu's own for p.json: ${G0}.channels[0].connected_to[0] but received 0`,
  ],
  [
    allGather(),
    `${G0}.remote_buffers[0].type`,
    "x",
    `expected "i", "o" or "s" for p.json: ${G0}.remote_buffers[0].type but received "x"`,
  ],
  [
    allGather(),
    `${G0}.remote_buffers[0].access_channel_types`,
    ["port"],
    `expected a remote buffer with access by memory for p.json: ${B0}.remote_buffer_refs[0].remote_buffer_ids[0] but received 0`,
  ],
  [
    allGather(),
    `${B0}.channels[0].channel_ids[0]`,
    7,
    `expected the number of a memory channel of gpu 0 in 0 .. 0 for p.json: ${B0}.channels[0].channel_ids[0] but received 7`,
  ],
  [
    allGather(),
    `${B0}.remote_buffer_refs[0].access_channel_type`,
    "switch",
    `expected "memory" or "port" for p.json: ${B0}.remote_buffer_refs[0].access_channel_type but received "switch"`,
  ],
  [
    allGather(),
    `${B0}.remote_buffer_refs`,
    [],
    `expected nothing, for there is no remote buffer that the thread block reaches by memory, for p.json: ${PUT}.dst_buff[0].buffer_id but received 0`,
  ],
  [allGather(), `${PUT}.name`, "rrcs", `expected an operation of MSCCL++ for p.json: ${PUT}.name but received "rrcs"`],
  [
    allGather(),
    `${PUT}.name`,
    undefined,
    `expected the name of an operation for p.json: ${PUT}.name but received nothing`,
  ],
  [
    allGather(),
    `${PUT}.name`,
    "get",
    `expected the number of a remote buffer that the thread block reaches by memory in 0 .. 0 for p.json: ${PUT}.src_buff[0].buffer_id but received nothing`,
  ],
  [
    allGather(),
    `${PUT}.channel_type`,
    undefined,
    `expected "memory" or "port" for p.json: ${PUT}.channel_type but received nothing`,
  ],
  [
    allGather(),
    `${PUT}.src_buff`,
    [],
    `expected a list of 1 or more buffers for p.json: ${PUT}.src_buff but received []`,
  ],
  [
    allGather(),
    `${PUT}.src_buff[1]`,
    local("i", 0),
    `expected as many buffers as in src_buff, 2, for p.json: ${PUT}.dst_buff but received 1`,
  ],
  [
    allGather(),
    `${PUT}.src_buff[0].size`,
    2,
    `expected buffers of equal size, 2 as the first, for p.json: ${PUT} but received 1`,
  ],
  [
    allGather(),
    `${PUT}.src_buff[0].size`,
    0,
    `expected an integer in 1 .. 2147483647 for p.json: ${PUT}.src_buff[0].size but received 0`,
  ],
  [
    allGather(),
    `${PUT}.src_buff[0].index`,
    -1,
    `expected an integer in 0 .. 2147483647 for p.json: ${PUT}.src_buff[0].index but received -1`,
  ],
  [
    allGather(),
    `${PUT}.src_buff[0].type`,
    undefined,
    `expected "i", "o" or "s" for p.json: ${PUT}.src_buff[0].type but received nothing`,
  ],
  [
    allGather(),
    `${PUT}.dst_buff[0].buffer_id`,
    1,
    `expected the number of a remote buffer that the thread block reaches by memory in 0 .. 0 for p.json: ${PUT}.dst_buff[0].buffer_id but received 1`,
  ],
  [
    allGather(),
    `${PUT}.reduce_op`,
    "max",
    `expected "sum", which is all that runs, for p.json: ${PUT}.reduce_op but received "max"`,
  ],
  [
    allGather(),
    `${PUT}.tbg_info`,
    { tb_id: 2, tbg_size: 2 },
    `expected an integer in 0 .. 1 for p.json: ${PUT}.tbg_info.tb_id but received 2`,
  ],
  [
    allGather(),
    `${PUT}.tbg_info`,
    { tb_id: 0, tbg_size: 1e9 },
    `expected an integer in 1 .. 1024 for p.json: ${PUT}.tbg_info.tbg_size but received 1000000000`,
  ],
  [
    allGather(),
    `${B0}.ops[0].channel_ids[0]`,
    1,
    `expected the number of a memory channel of the thread block in 0 .. 0 for p.json: ${B0}.ops[0].channel_ids[0] but received 1`,
  ],
  [
    allGather(),
    `${B0}.ops[0].name`,
    "flush",
    `expected "port" for p.json: ${B0}.ops[0].channel_type but received "memory"`,
  ],
  [
    allGather(),
    `${B0}.ops[2]`,
    { name: "sem_acquire", semaphore_ids: [0] },
    `expected nothing, for there is no semaphore of gpu 0, for p.json: ${B0}.ops[2].semaphore_ids[0] but received 0`,
  ],
  [
    portAllGather(),
    `${PUT}.channel_ids`,
    [],
    `expected one channel for each of 1 destinations for p.json: ${PUT}.channel_ids but received []`,
  ],
  [
    portAllGather(),
    `${PUT}.channel_type`,
    "memory",
    `expected "port" for p.json: ${PUT}.channel_type but received "memory"`,
  ],
  [
    portAllGather(),
    "gpus[0].semaphores[0].init_value",
    -1,
    "expected an integer in 0 .. 2147483647 for p.json: gpus[0].semaphores[0].init_value but received -1",
  ],
  [
    switchAllReduce(3),
    "gpus[1].channels[1].rank_groups[0].ranks",
    [0, 2],
    "expected ranks with the gpu's own, 1, among them for p.json: gpus[1].channels[1].rank_groups[0].ranks but received [0,2]",
  ],
  [
    switchAllReduce(3),
    "gpus[1].channels[1].rank_groups[0].ranks",
    [1, 1],
    "expected each rank once for p.json: gpus[1].channels[1].rank_groups[0].ranks but received [1,1]",
  ],
  [
    switchAllReduce(),
    `${B0}.ops[2].num_threadblocks`,
    3,
    "expected 3 thread blocks, as earlier at barrier 0 of gpu 0, for p.json: gpus[0].threadblocks[0].ops[3] but received 2",
  ],
  [
    switchAllReduce(),
    "gpus[0].threadblocks[1].ops[1].src_buff[0].switch_channel_id",
    1,
    "expected the number of a switch channel of the thread block in 0 .. 0 for p.json: gpus[0].threadblocks[1].ops[1].src_buff[0].switch_channel_id but received 1",
  ],
  [
    switchAllReduce(),
    "gpus[0].threadblocks[1].ops[1]",
    move("gstore", [{ ...local("i", 0), rank: 1 }], [], { channel_type: "switch" }),
    "expected the gpu's own rank 0 for p.json: gpus[0].threadblocks[1].ops[1].src_buff[0].rank but received 1",
  ],
  [
    pipelinedCopy(1024, 1, 1),
    `${B0}.ops[0].iter_context.unit_size`,
    0,
    `expected an integer in 1 .. 4294967295 for p.json: ${B0}.ops[0].iter_context.unit_size but received 0`,
  ],
  [
    pipelinedCopy(1024, 1, 1),
    `${B0}.ops[0].ops[0]`,
    { name: "pipeline" },
    `expected no pipeline within a pipeline for p.json: ${B0}.ops[0].ops[0].name but received "pipeline"`,
  ],
  [
    pipelinedCopy(1024, 1, 1),
    `${B0}.ops[0].iter_context.num_chunks`,
    2 ** 31 - 1,
    'expected a plan of at most 8388608 operations and operands, with pipelines unrolled, for p.json but received "more"',
  ],
  [
    pipelinedCopy(4294967291, 1, 1),
    "gpus[0].threadblocks[1].ops[0].iter_context.unit_size",
    4294967279,
    "expected units with a common multiple below 4 GiB for p.json: gpus[0].threadblocks[1].ops[0] but received 4294967279",
  ],
  [
    sharedCopy(3, 2),
    `${G0}.input_chunks`,
    2 ** 30,
    `expected an integer in 0 .. 2147483647 for p.json: ${G0}.input_chunks but received 3221225472`,
  ],
  [
    sharedCopy(3, 2),
    `${B0}.ops[0].src_buff[0].index`,
    2 ** 30,
    `expected chunk numbers up to 2147483647 when cut 3 times finer for p.json: ${B0}.ops[0] but received 1073741826`,
  ],
];

describe("a plan that is not one", () => {
  it.each(CASES.map(([value, path, wrong, sentence]) => [path, wrong, sentence, value] as const))(
    "is refused in one sentence: %s = %j",
    (path, wrong, sentence, value) => {
      expect(refusal(put(path, wrong)(structuredClone(value)))).toContain(sentence);
    },
  );

  it("is refused where nothing is to be moved, or a port leads elsewhere", () => {
    expect(
      refusal(
        plan([
          {
            ...allGather().gpus[0],
            input_chunks: 0,
            output_chunks: 0,
            threadblocks: [],
            channels: [],
            remote_buffers: [],
          },
        ]),
      ),
    ).toBe("expected a chunk of input or output at least for p.json: gpus but received 0");
    const three = portAllGather();
    three.gpus.push({ ...structuredClone(three.gpus[1]), id: 2, threadblocks: [], channels: [], remote_buffers: [] });
    three.gpus[0].remote_buffers[0].rank = 2;
    expect(refusal(three)).toBe(
      `expected a channel to rank 2 for p.json: ${PUT}.channel_ids[0] but received "one to rank 1"`,
    );
  });

  it("is refused where blocks would cut chunks too fine together", () => {
    const value = sharedCopy(1, 1);
    const sizes = [997, 991, 983];
    value.gpus[0].threadblocks[0].ops = sizes.map((tbg_size) =>
      move("copy", [local("i", 0)], [local("s", 0)], { tbg_info: { tb_id: 0, tbg_size } }),
    );
    expect(refusal(value)).toBe(
      `expected operations that cut a chunk into 65536 parts at most for p.json: ${B0}.ops[1] but received 988027`,
    );
  });

  it("of the format until 0.7 is recognised, and refused with the reason and what to do", () => {
    const legacy = {
      name: "old",
      collective: "allreduce",
      gpus: [{ id: 0, inputChunks: 8, chunkGroups: 1, threadblocks: [] }],
    };
    expect(looksLikeMscclppJson(legacy)).toBe(true);
    expect(refusal(legacy)).toBe(
      "expected a plan in the format of MSCCL++ 0.8 and later (compile the algorithm anew with its mscclpp.language of today) " +
        'for p.json: gpus[0] but received "inputChunks, as the format had it until 0.7"',
    );
  });

  it("is refused with the line of the operation where the text has lines", () => {
    const text = JSON.stringify(allGather(), null, 1);
    const wrong = text.replace('"name": "put"', '"name": "push"');
    const line = wrong.slice(0, wrong.indexOf('"push"')).split("\n").length - 1;
    expect(sentenceOf(() => readMscclppJson(wrong, "p.json"))).toBe(
      `expected an operation of MSCCL++ for p.json: ${PUT}.name (line ${line}) but received "push"`,
    );
  });
});
