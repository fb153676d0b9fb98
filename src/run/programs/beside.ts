import type { Pool, Work } from "../../engine/pool/pool.ts";
import type { Engine } from "../../engine/types.ts";
import type { Program } from "../../model/program/program.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type ProgramSimulationOptions, simulateProgram } from "../../simulate/program/program.ts";
import { type ProgramVerification, type ProgramVerifyOptions, verifyProgram } from "../../verify/program/program.ts";

import { blocks } from "../export/blocks.ts";
import { fileParts, type ProgramFile } from "./program-file.ts";

/** Lets threads do work, where the caller has some. */
export type Beside = <R>(work: (pool: Pool) => Promise<R>) => Promise<R>;

/** Returns what lets an engine's threads do work. */
export const besideEngine =
  (engine: Engine): Beside =>
  (work) =>
    work(engine.pool());

/** A judge's work of a thread. */
export const JUDGE: Work<
  { readonly program: Program; readonly options: Omit<ProgramVerifyOptions, "onProgress"> },
  ProgramVerification
> = { name: "judge", run: ({ program, options }) => verifyProgram(program, options) };

/** A simulation's work of a thread. */
export const SIMULATE: Work<
  {
    readonly program: Program;
    readonly topology: Topology;
    readonly options: Omit<ProgramSimulationOptions, "onProgress" | "timeline">;
  },
  { readonly ps: number }
> = {
  name: "simulate",
  run: ({ program, topology, options }) => ({ ps: simulateProgram(program, topology, options).ps }),
};

/** The writing of a file by a thread: its text, in blocks. */
export const WRITE: Work<ProgramFile, string[]> = { name: "write", run: (file) => [...blocks(fileParts(file))] };
