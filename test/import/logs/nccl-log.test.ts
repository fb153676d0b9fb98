import { describe, expect, it } from "vitest";
import { looksLikeNcclLog, readNcclLog } from "../../../src/import/logs/nccl-log.ts";

import { refusalFrom, unexpected } from "../../support/refusals.ts";

const head = "node1:812:812 [0] NCCL INFO";
const call = (name: string, send: string, receive: string, count: number, type = 7): string =>
  `${head} ${name}: opCount 1f sendbuff ${send} recvbuff ${receive} count ${count} datatype ${type} op 0 root 0 comm 0x55d0 [nranks=8] stream 0x1`;

describe("readNcclLog", () => {
  it("tells which programs were read, and from where", () => {
    const log = readNcclLog(
      [
        "NCCL version 2.12.12.MSCCL.0.7.4+cuda11.6",
        `${head} Parsed MSCCL Algorithm /opt/x/ring.xml successfully.`,
        "node1:812:812 [0] misc/x.cc:31 NCCL WARN MSCCL: algorithm /opt/x/bad.xml failed to initialize. Will be ignored.",
        `${head} Connected 1 MSCCL algorithms`,
      ].join("\r\n"),
      "log",
    );
    expect(log).toMatchObject({
      version: "NCCL version 2.12.12.MSCCL.0.7.4",
      parsed: ["/opt/x/ring.xml"],
      failed: ["/opt/x/bad.xml"],
      connected: 1,
      hasRuntime: true,
      tellsCalls: false,
    });
    expect(log.problems.map(({ line }) => line)).toEqual([3]);
  });

  it("counts calls that are alike, with size, placement and what ran them", () => {
    const log = readNcclLog(
      [
        call("AllReduce", "0x7f00", "0x7f00", 1024),
        call("AllReduce", "0x8f00", "0x8f00", 1024),
        call("mscclFuncAllReduce", "0x7f00", "0x9f00", 1024, 6),
        call("AllGather", "0x7f200", "0x7f000", 64, 2),
        call("AllGather", "0x1000", "0x7f000", 64, 2),
        call("mscclpp_ncclAllGather", "0x1000", "0x7f000", 64, 2),
        call("Unknown", "0x1000", "0x7f000", 64, 2),
      ].join("\n"),
      "log",
    );
    expect(log.tellsCalls).toBe(true);
    expect(
      log.calls.map(({ collective, sizeBytes, elementBytes, inPlace, ranBy, times }) => [
        collective,
        sizeBytes,
        elementBytes,
        inPlace,
        ranBy,
        times,
      ]),
    ).toEqual([
      ["allreduce", 4096, 4, true, "library", 2],
      ["allreduce", 2048, 2, false, "msccl", 1],
      ["allgather", 2048, 4, true, "library", 1],
      ["allgather", 2048, 4, false, "library", 1],
      ["allgather", 2048, 4, false, "mscclpp", 1],
    ]);
  });

  it("refuses what is no log", () => {
    expect(looksLikeNcclLog("hello")).toBe(false);
    expect(refusalFrom(() => readNcclLog("hello", "f"))).toEqual(unexpected("f", "hello"));
  });
});
