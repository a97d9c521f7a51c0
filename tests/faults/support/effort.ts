import { isLong } from "../../harness/report.ts";

/** How many clients send requests, each one after the other. */
export const CLIENTS = isLong ? 64 : 16;

/** How often each fault happens. */
export const ROUNDS = isLong ? 3 : 1;
