import { parentPort, workerData } from "node:worker_threads";
import { runThread, type ThreadSetup } from "../../execute/thread.ts";

/** Runs some ranks of a program beside other such threads (src/cli/programs/run-program.ts starts them), and says what came of it. */
parentPort?.postMessage(runThread(workerData as ThreadSetup));
