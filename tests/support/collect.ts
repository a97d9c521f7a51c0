import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/** Makes the engine collect what nobody holds. */
export const collect: () => void = runInNewContext("gc");
