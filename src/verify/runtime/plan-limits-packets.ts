import { OPS, type Program, rankOfBlocks, SCRATCH, VIA } from "../../model/program/program.ts";
import { atInstruction, type LimitReport } from "./program-limits-report.ts";

/** How scratch of a rank was first used, and by which instruction. */
interface FirstUse {
  instruction: number;
  block: number;
}

/**
 * Reports packets that the executor would put elsewhere: they are found in scratch only, at twice the offset, so that a rank's
 * scratch cannot hold both packets and plain data; and it is large enough only where the protocol is LL. A `ppkt` over a port
 * reads scratch as packets (handlePutPackets). O(operands).
 */
export function checkPackets(program: Program, report: LimitReport): void {
  const { instructionOffset, operandOffset, operandBuffer, operandPacket, operandRank, sourceCount } = program;
  const rankOf = rankOfBlocks(program);
  const plain = new Map<number, FirstUse>();
  const packets = new Map<number, FirstUse>();
  for (let block = 0; block < rankOf.length; block++) {
    for (let i = instructionOffset[block]; i < instructionOffset[block + 1]; i++) {
      const raw = OPS[program.op[i]] === "ppkt" && VIA[program.via[i]] === "port";
      for (let k = operandOffset[i]; k < operandOffset[i + 1]; k++) {
        const packet = operandPacket[k] === 1 || (raw && k < operandOffset[i] + sourceCount[i]);
        if (packet && operandBuffer[k] !== SCRATCH) {
          const { place, where } = atInstruction(program, i, block, rankOf[block]);
          report.error("packets", `${place}: packets are in scratch only, not in another buffer`, where);
        }
        if (operandBuffer[k] !== SCRATCH) continue;
        const uses = packet ? packets : plain;
        if (!uses.has(operandRank[k])) uses.set(operandRank[k], { instruction: i, block });
      }
    }
  }
  const [first] = packets.values();
  if (first !== undefined && program.protocol === "Simple") {
    const { place, where } = atInstruction(program, first.instruction, first.block, rankOf[first.block]);
    report.error("packets", `${place}: packets need protocol LL, for which scratch is twice as large`, where);
  }
  for (const [rank, { instruction, block }] of plain) {
    if (!packets.has(rank)) continue;
    const { place, where } = atInstruction(program, instruction, block, rankOf[block]);
    const message = `${place}: plain data in scratch of gpu ${rank}, whose packets begin at twice their offset and overlap it`;
    report.error("packets", message, where);
  }
}
