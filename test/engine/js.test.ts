import { kernelContract } from "./kernels.contract.ts";

await kernelContract("js");
