import type { TransactionWrite } from "../../pipeline/class_feature.ts";
import type { RequestWrite } from "./request_write.ts";

type Check = () => Promise<void>;

const waiting = new WeakMap<TransactionWrite, Check[]>();

/** All checks come last, because the cascade may remove or restore entities to which written entities refer. */
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
