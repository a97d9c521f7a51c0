import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/** Makes the engine collect unreferenced objects. */
export const collect: () => void = runInNewContext("gc");
