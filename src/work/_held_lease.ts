import type { Connection } from "mongoose";
import { hostname } from "node:os";
import process from "node:process";
import { decodeAllNames, hintAtUnopened, isOpen } from "../schema/mongoose/connections.ts";
import type { Lease } from "../store/lease.ts";
import { pause } from "../store/pause.ts";

/** After this time, another process continues the work of a killed one. */
export const LEASE_MS = 30_000;

const AGAIN_MS = 500;

const POLL_MS = 100;

const HINT_MS = 10_000;

/** Times of a record are by the clock of the database, because the clocks of processes differ. */
export const ENDED = { endedAt: "$$NOW", tookMS: { $subtract: ["$$NOW", "$startedAt"] } } as const;

export function begunFields(): object {
  return {
    outcome: "running",
    process: { $literal: processName() },
    startedAt: "$$NOW",
    endedAt: "$$REMOVE",
    tookMS: "$$REMOVE",
    error: "$$REMOVE",
  };
}

/**
 * Renews the lease until `ended` is aborted or the lease is lost. A release must wait for this, or else a late renewal
 * could follow it.
 */
export async function keepRenewed(
  lease: Lease,
  { leaseMS, ended }: { readonly leaseMS: number; readonly ended: AbortSignal },
): Promise<void> {
  const over = AbortSignal.any([ended, lease.signal]);
  let isRenewed = true;
  while (!over.aborted) {
    await pause(isRenewed ? leaseMS / 3 : AGAIN_MS, over);
    if (over.aborted) return;
    isRenewed = await lease.renew().then(() => true, () => false);
  }
}

/**
 * Stores `fields` in the record of the lease, again after an error such as a failover. Returns `false` if another
 * process may have the lease.
 */
export async function noteUnlessLost(lease: Lease, fields: object): Promise<boolean> {
  while (lease.isHeld) {
    try {
      return await lease.renew(fields) !== null;
    } catch {
      await pause(AGAIN_MS, lease.signal);
    }
  }
  return false;
}

/** Ignores errors, because a lease that is not released ends by itself. */
export async function releaseQuietly(lease: Lease): Promise<void> {
  if (lease.isHeld) await lease.release().catch(() => {});
  lease.lose();
}

/** Mongoose can open a connection without an event, so its state is polled. */
export async function whenOpen(
  connection: Connection,
  { signal, ref }: { readonly signal: AbortSignal; readonly ref: boolean },
): Promise<void> {
  for (let waited = 0; !isOpen(connection) && !signal.aborted; waited += POLL_MS) {
    if (waited === HINT_MS) hintAtUnopened(connection);
    await pause(POLL_MS, signal, { ref });
  }
  if (isOpen(connection)) decodeAllNames(connection);
}

function processName(): string {
  try {
    return `${hostname()}:${process.pid}`;
  } catch {
    // Without `--allow-sys`, Deno refuses the name of the host.
    return String(process.pid);
  }
}
