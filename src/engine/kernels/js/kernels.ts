import {
  checkMatchShapes,
  checkMatchValues,
  checkPlaceShapes,
  checkPlaceValues,
  checkRelayShapes,
  checkRelayValues,
} from "../check.ts";
import type { Kernels } from "../kernels.ts";
import { matchJs } from "./match.ts";
import { placeJs } from "./place.ts";
import { relayJs } from "./relay.ts";

/** The JavaScript twins of the kernels: always there, the reference for the compiled ones. */
export const jsKernels: Kernels = {
  backend: "js",
  match(problem, cancel) {
    checkMatchShapes(problem);
    checkMatchValues(problem);
    return matchJs(problem, cancel);
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
};
