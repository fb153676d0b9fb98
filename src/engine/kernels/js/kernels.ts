import { CancelledError } from "../../../base/errors.ts";
import { replayJs } from "../../../model/replay/replay.ts";
import type { Kernels } from "../../contract/kernels.ts";
import {
  checkArborescenceShapes,
  checkArborescenceValues,
  checkBalanceShapes,
  checkBalanceValues,
  checkConcurrentShapes,
  checkConcurrentValues,
  checkMatchShapes,
  checkMatchValues,
  checkPackShapes,
  checkPackValues,
  checkPlaceShapes,
  checkPlaceValues,
  checkRateShapes,
  checkRateValues,
  checkRelayShapes,
  checkRelayValues,
  checkSpreadShapes,
  checkSpreadValues,
  checkSweepShapes,
  checkSweepValues,
} from "../check.ts";
import { checkReplayShapes, checkReplayValues } from "../check-replay.ts";
import {
  allocateArcs,
  allocateBalance,
  allocateConcurrent,
  allocateTrees,
  balanceOf,
  concurrentOf,
  packOutcomeOf,
  rateOfCut,
  throwForArcs,
} from "../outputs.ts";
import { arborescenceJs } from "./arborescence.ts";
import { balanceJs } from "./balance.ts";
import { concurrentJs } from "./concurrent.ts";
import { matchJs } from "./match.ts";
import { packJs } from "./pack.ts";
import { placeJs } from "./place.ts";
import { rateJs } from "./rate.ts";
import { relayJs } from "./relay.ts";
import { spreadJs } from "./spread.ts";
import { sweepJs } from "./sweep.ts";

/** The JavaScript twins of the kernels: always there, the reference for the compiled ones. */
export const jsKernels: Kernels = {
  backend: "js",
  match(problem, cancel) {
    checkMatchShapes(problem);
    checkMatchValues(problem);
    return matchJs(problem, cancel);
  },
  spread(problem, cancel) {
    checkSpreadShapes(problem);
    checkSpreadValues(problem);
    return spreadJs(problem, cancel);
  },
  relay(problem, cancel) {
    checkRelayShapes(problem);
    checkRelayValues(problem);
    return relayJs(problem, cancel);
  },
  place(problem, cancel) {
    checkPlaceShapes(problem);
    checkPlaceValues(problem);
    return placeJs(problem, cancel);
  },
  rate(problem, cancel) {
    checkRateShapes(problem);
    checkRateValues(problem);
    return rateOfCut(problem, rateJs(problem, cancel));
  },
  pack(problem, cancel) {
    checkPackShapes(problem);
    checkPackValues(problem);
    const out = allocateTrees(problem);
    return packOutcomeOf(packJs(problem, out, cancel), problem, out);
  },
  sweep(problem, cancel) {
    checkSweepShapes(problem);
    checkSweepValues(problem);
    return sweepJs(problem, cancel);
  },
  arborescence(problem, cancel) {
    checkArborescenceShapes(problem);
    checkArborescenceValues(problem);
    const arc = allocateArcs(problem);
    throwForArcs(arborescenceJs(problem, arc, cancel), problem, arc);
    return arc;
  },
  concurrent(problem, cancel) {
    checkConcurrentShapes(problem);
    checkConcurrentValues(problem);
    const out = allocateConcurrent(problem);
    return concurrentOf(concurrentJs(problem, out, cancel), out);
  },
  balance(problem, cancel) {
    checkBalanceShapes(problem);
    checkBalanceValues(problem);
    const out = allocateBalance(problem);
    return balanceOf(balanceJs(problem, out, cancel), out);
  },
  replay(problem, cancel) {
    checkReplayShapes(problem);
    checkReplayValues(problem);
    return replayJs(problem, () => {
      if (cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
    });
  },
};
