import { describe, expect, it } from "vitest";
import { looksLikeMscclppJson, programFromPlan, readMscclppJson } from "../../src/import/programs/mscclpp-json.ts";
import { missing, outOfRange, type Refusal, refusalFrom, unexpected } from "../support/refusals.ts";
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

/** A change that puts a value (undefined: removes it) at a path such as `gpus[0].id`. */
const put =
  (path: string, value: unknown) =>
  (file: Plan): Plan => {
    const keys = path.split(/[.[\]]+/).filter((key) => key !== "");
    const last = keys.pop() as string;
    keys.reduce((at, key) => at[key], file)[last] = value;
    return file;
  };
const refusal = (value: Plan) => refusalFrom(() => programFromPlan(value, "p.json"));

const G0 = "gpus[0]";
const B0 = "gpus[0].threadblocks[0]";
const PUT = `${B0}.ops[3]`;

/** Plan, path, value put there, the refusal. */
const CASES: readonly (readonly [Plan, string, unknown, Refusal])[] = [
  [allGather(), "name", undefined, missing("p.json: name")],
  [allGather(), "collective", 3, unexpected("p.json: collective", 3)],
  [allGather(), "protocol", "LL128", unexpected("p.json: protocol", "LL128")],
  [allGather(), "inplace", undefined, missing("p.json: inplace")],
  [allGather(), "reuse_resources", 1, unexpected("p.json: reuse_resources", 1)],
  [allGather(), "buffer_alignment", 0, unexpected("p.json: buffer_alignment", 0, 2147483647)],
  [allGather(), "min_message_size", -1, unexpected("p.json: min_message_size", -1)],
  [allGather(), "max_message_size", "1M", unexpected("p.json: max_message_size", "1M")],
  [allGather(), "gpus", {}, unexpected("p.json: gpus", {})],
  [allGather(), "gpus", [], outOfRange("p.json: gpus", [])],
  [allGather(), "gpus[1]", null, unexpected("p.json: gpus[1]", null)],
  [allGather(), "gpus[1].id", 0, unexpected("p.json: gpus[1].id", 0)],
  [allGather(), `${G0}.input_chunks`, 1e10, unexpected(`p.json: ${G0}.input_chunks`, 10000000000, 2147483647)],
  [allGather(), `${G0}.scratch_chunks`, undefined, missing(`p.json: ${G0}.scratch_chunks`, 2147483647)],
  [allGather(), `${G0}.threadblocks`, undefined, missing(`p.json: ${G0}.threadblocks`)],
  [allGather(), `${B0}.id`, 1, unexpected(`p.json: ${B0}.id`, 1)],
  [allGather(), `${B0}.ops`, "put", unexpected(`p.json: ${B0}.ops`, "put")],
  [
    allGather(),
    `${G0}.channels[0].channel_type`,
    "proxy",
    unexpected(`p.json: ${G0}.channels[0].channel_type`, "proxy"),
  ],
  [allGather(), `${G0}.channels[0].connected_to[0]`, 2, unexpected(`p.json: ${G0}.channels[0].connected_to[0]`, 2)],
  [allGather(), `${G0}.channels[0].connected_to[0]`, 0, unexpected(`p.json: ${G0}.channels[0].connected_to[0]`, 0)],
  [allGather(), `${G0}.remote_buffers[0].type`, "x", unexpected(`p.json: ${G0}.remote_buffers[0].type`, "x")],
  [
    allGather(),
    `${G0}.remote_buffers[0].access_channel_types`,
    ["port"],
    unexpected(`p.json: ${B0}.remote_buffer_refs[0].remote_buffer_ids[0]`, 0),
  ],
  [allGather(), `${B0}.channels[0].channel_ids[0]`, 7, unexpected(`p.json: ${B0}.channels[0].channel_ids[0]`, 7)],
  [
    allGather(),
    `${B0}.remote_buffer_refs[0].access_channel_type`,
    "switch",
    unexpected(`p.json: ${B0}.remote_buffer_refs[0].access_channel_type`, "switch"),
  ],
  [allGather(), `${B0}.remote_buffer_refs`, [], unexpected(`p.json: ${PUT}.dst_buff[0].buffer_id`, 0)],
  [allGather(), `${PUT}.name`, "rrcs", unexpected(`p.json: ${PUT}.name`, "rrcs")],
  [allGather(), `${PUT}.name`, undefined, missing(`p.json: ${PUT}.name`)],
  [allGather(), `${PUT}.name`, "get", missing(`p.json: ${PUT}.src_buff[0].buffer_id`)],
  [allGather(), `${PUT}.channel_type`, undefined, missing(`p.json: ${PUT}.channel_type`)],
  [allGather(), `${PUT}.src_buff`, [], unexpected(`p.json: ${PUT}.src_buff`, [])],
  [allGather(), `${PUT}.src_buff[1]`, local("i", 0), unexpected(`p.json: ${PUT}.dst_buff`, 1, 2)],
  [allGather(), `${PUT}.src_buff[0].size`, 2, unexpected(`p.json: ${PUT}`, 1, 2)],
  [allGather(), `${PUT}.src_buff[0].size`, 0, unexpected(`p.json: ${PUT}.src_buff[0].size`, 0, 2147483647)],
  [allGather(), `${PUT}.src_buff[0].index`, -1, unexpected(`p.json: ${PUT}.src_buff[0].index`, -1, 2147483647)],
  [allGather(), `${PUT}.src_buff[0].type`, undefined, missing(`p.json: ${PUT}.src_buff[0].type`)],
  [allGather(), `${PUT}.dst_buff[0].buffer_id`, 1, unexpected(`p.json: ${PUT}.dst_buff[0].buffer_id`, 1)],
  [allGather(), `${PUT}.reduce_op`, "max", unexpected(`p.json: ${PUT}.reduce_op`, "max")],
  [allGather(), `${PUT}.tbg_info`, { tb_id: 2, tbg_size: 2 }, unexpected(`p.json: ${PUT}.tbg_info.tb_id`, 2)],
  [
    allGather(),
    `${PUT}.tbg_info`,
    { tb_id: 0, tbg_size: 1e9 },
    unexpected(`p.json: ${PUT}.tbg_info.tbg_size`, 1000000000, 1024),
  ],
  [allGather(), `${B0}.ops[0].channel_ids[0]`, 1, unexpected(`p.json: ${B0}.ops[0].channel_ids[0]`, 1)],
  [allGather(), `${B0}.ops[0].name`, "flush", unexpected(`p.json: ${B0}.ops[0].channel_type`, "memory")],
  [
    allGather(),
    `${B0}.ops[2]`,
    { name: "sem_acquire", semaphore_ids: [0] },
    unexpected(`p.json: ${B0}.ops[2].semaphore_ids[0]`, 0),
  ],
  [portAllGather(), `${PUT}.channel_ids`, [], unexpected(`p.json: ${PUT}.channel_ids`, [])],
  [portAllGather(), `${PUT}.channel_type`, "memory", unexpected(`p.json: ${PUT}.channel_type`, "memory")],
  [
    portAllGather(),
    "gpus[0].semaphores[0].init_value",
    -1,
    unexpected("p.json: gpus[0].semaphores[0].init_value", -1, 2147483647),
  ],
  [
    switchAllReduce(3),
    "gpus[1].channels[1].rank_groups[0].ranks",
    [0, 2],
    unexpected("p.json: gpus[1].channels[1].rank_groups[0].ranks", [0, 2]),
  ],
  [
    switchAllReduce(3),
    "gpus[1].channels[1].rank_groups[0].ranks",
    [1, 1],
    unexpected("p.json: gpus[1].channels[1].rank_groups[0].ranks", [1, 1]),
  ],
  [switchAllReduce(), `${B0}.ops[2].num_threadblocks`, 3, unexpected("p.json: gpus[0].threadblocks[0].ops[3]", 2, 3)],
  [
    switchAllReduce(),
    "gpus[0].threadblocks[1].ops[1].src_buff[0].switch_channel_id",
    1,
    unexpected("p.json: gpus[0].threadblocks[1].ops[1].src_buff[0].switch_channel_id", 1),
  ],
  [
    switchAllReduce(),
    "gpus[0].threadblocks[1].ops[1]",
    move("gstore", [{ ...local("i", 0), rank: 1 }], [], { channel_type: "switch" }),
    unexpected("p.json: gpus[0].threadblocks[1].ops[1].src_buff[0].rank", 1),
  ],
  [
    pipelinedCopy(1024, 1, 1),
    `${B0}.ops[0].iter_context.unit_size`,
    0,
    unexpected(`p.json: ${B0}.ops[0].iter_context.unit_size`, 0, 4294967295),
  ],
  [
    pipelinedCopy(1024, 1, 1),
    `${B0}.ops[0].ops[0]`,
    { name: "pipeline" },
    unexpected(`p.json: ${B0}.ops[0].ops[0].name`, "pipeline"),
  ],
  [
    pipelinedCopy(1024, 1, 1),
    `${B0}.ops[0].iter_context.num_chunks`,
    2 ** 31 - 1,
    unexpected("p.json", "more", 8388608),
  ],
  [
    pipelinedCopy(4294967291, 1, 1),
    "gpus[0].threadblocks[1].ops[0].iter_context.unit_size",
    4294967279,
    unexpected("p.json: gpus[0].threadblocks[1].ops[0]", 4294967279, 4),
  ],
  [sharedCopy(3, 2), `${G0}.input_chunks`, 2 ** 30, unexpected(`p.json: ${G0}.input_chunks`, 3221225472, 2147483647)],
  [
    sharedCopy(3, 2),
    `${B0}.ops[0].src_buff[0].index`,
    2 ** 30,
    unexpected(`p.json: ${B0}.ops[0]`, 1073741826, 2147483647, 3),
  ],
];

describe("a plan that is not one", () => {
  it.each(CASES.map(([value, path, wrong, sentence]) => [path, wrong, sentence, value] as const))(
    "is refused in one sentence: %s = %j",
    (path, wrong, sentence, value) => {
      expect(refusal(put(path, wrong)(structuredClone(value)))).toEqual(sentence);
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
    ).toEqual(unexpected("p.json: gpus", 0));
    const three = portAllGather();
    three.gpus.push({ ...structuredClone(three.gpus[1]), id: 2, threadblocks: [], channels: [], remote_buffers: [] });
    three.gpus[0].remote_buffers[0].rank = 2;
    expect(refusal(three)).toEqual(unexpected(`p.json: ${PUT}.channel_ids[0]`, "one to rank 1", 2));
  });

  it("is refused where blocks would cut chunks too fine together", () => {
    const value = sharedCopy(1, 1);
    const sizes = [997, 991, 983];
    value.gpus[0].threadblocks[0].ops = sizes.map((tbg_size) =>
      move("copy", [local("i", 0)], [local("s", 0)], { tbg_info: { tb_id: 0, tbg_size } }),
    );
    expect(refusal(value)).toEqual(unexpected(`p.json: ${B0}.ops[1]`, 988027, 65536));
  });

  it("of the format until 0.7 is recognised, and refused with the reason and what to do", () => {
    const legacy = {
      name: "old",
      collective: "allreduce",
      gpus: [{ id: 0, inputChunks: 8, chunkGroups: 1, threadblocks: [] }],
    };
    expect(looksLikeMscclppJson(legacy)).toBe(true);
    expect(refusal(legacy)).toEqual(unexpected("p.json: gpus[0]", "inputChunks, as the format had it until 0.7"));
  });

  it("is refused with the line of the operation where the text has lines", () => {
    const text = JSON.stringify(allGather(), null, 1);
    const wrong = text.replace('"name": "put"', '"name": "push"');
    const line = wrong.slice(0, wrong.indexOf('"push"')).split("\n").length - 1;
    expect(refusalFrom(() => readMscclppJson(wrong, "p.json"))).toEqual(
      unexpected(`p.json: ${PUT}.name (line ${line})`, "push"),
    );
  });
});
