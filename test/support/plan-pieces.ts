import {
  blockCount,
  blockOfInstructions,
  instructionCount,
  OPS,
  type Program,
  rankOfBlocks,
  WAIT_INSTRUCTION,
} from "../../src/model/program/program.ts";
import { type Operand, programBuilder } from "../../src/model/program/program-builder.ts";

/**
 * Returns a plan for MPI with every instruction cut into its chunks, as the runtime cuts messages into pieces: where one waits for an
 * instruction of the same chunks, each piece waits for its piece only, else for all pieces.
 */
export function inPieces(program: Program): Program {
  const { mpi, chunks, instructionOffset, waitOffset, waitOn, operandOffset, sourceCount } = program;
  if (mpi === undefined) throw new Error("no plan for MPI");
  const block = blockOfInstructions(program);
  const rank = rankOfBlocks(program);
  const start = new Int32Array(instructionCount(program) + 1);
  for (let i = 0; i < instructionCount(program); i++) start[i + 1] = start[i] + chunks[i];
  const builder = programBuilder();
  const chunk: number[] = [];
  for (let r = 0; r < program.rankCount; r++) {
    builder.addRank();
    for (let b = program.blockOffset[r]; b < program.blockOffset[r + 1]; b++) {
      const { sendPeer, recvPeer, channel, blockId } = program;
      builder.addBlock({ id: blockId[b], sendPeer: sendPeer[b], recvPeer: recvPeer[b], channel: channel[b] });
      for (let i = instructionOffset[b]; i < instructionOffset[b + 1]; i++) {
        for (let k = 0; k < chunks[i]; k++) {
          const operands = Array.from({ length: operandOffset[i + 1] - operandOffset[i] }, (_, o): Operand => {
            const at = operandOffset[i] + o;
            return { rank: rank[block[i]], buffer: program.operandBuffer[at], index: program.operandIndex[at] + k };
          });
          chunk.push(mpi.chunk[i] + k);
          builder.add({
            op: OPS[program.op[i]],
            chunks: 1,
            sends: program.sends[i] === 1,
            receives: program.receives[i] === 1,
            publishes: program.publishes[i] === 1,
            sources: operands.slice(0, sourceCount[i]),
            destinations: operands.slice(sourceCount[i]),
            waits: Array.from(waitOn.subarray(waitOffset[i], waitOffset[i + 1]), (on) => {
              const same = mpi.chunk[on] === mpi.chunk[i] && chunks[on] === chunks[i];
              return { kind: WAIT_INSTRUCTION, on: same ? start[on] + k : start[on + 1] - 1 };
            }),
          });
        }
      }
    }
  }
  if (blockCount(program) === 0) throw new Error("no blocks");
  const { mpi: _, ...header } = program;
  return builder.build({ ...header, mpi: { ...mpi, chunk: Int32Array.from(chunk) } });
}
