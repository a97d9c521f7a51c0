import type { TogetherWrite } from "../../pipeline/class_feature.ts";
import type { RequestWrite } from "./request_write.ts";

type Check = () => Promise<void>;

/** The checks wait until the write of a request, and all writes that follow from it, are sent. */
const waiting = new WeakMap<TogetherWrite, Check[]>();

/**
 * A write that follows from another write is checked together with it. Its entities may refer to entities that the same
 * cascade removes or restores later.
 */
export async function checkLast(
  write: RequestWrite,
  { send, check }: { readonly send: () => Promise<void>; readonly check: Check },
): Promise<void> {
  const { origin } = write.request;
  const later = origin && waiting.get(origin);
  if (later !== undefined) {
    later.push(check);
    return await send();
  }
  const checks = [check];
  waiting.set(write, checks);
  await send();
  for (const each of checks) await each();
}
