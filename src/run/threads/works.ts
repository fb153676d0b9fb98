import type { Works } from "../../engine/pool/request.ts";
import { JUDGE, SIMULATE, WRITE } from "../programs/beside.ts";

/** What the threads of a pool can do of this room. */
export const WORKS: Works = [JUDGE, SIMULATE, WRITE];
