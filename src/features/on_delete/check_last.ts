import type { TogetherWrite } from "../../pipeline/class_feature.ts";
import type { RequestWrite } from "./request_write.ts";

type Check = () => Promise<void>;

/**
 * The checks of references that wait until a write for which a client has sent a request, and all writes that follow
 * from it, are sent.
 */
const waiting = new WeakMap<TogetherWrite, Check[]>();

/**
 * Sends the writes that follow from a write, such as a cascade, and checks the references of its entities afterwards. A
 * write that follows from another one is checked together with this other one. Its entities may refer to entities that
 * the same cascade removes or restores later.
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
