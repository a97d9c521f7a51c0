import type { Document, Schema } from "mongoose";
import { markOwnMiddleware } from "../schemas/middleware.ts";

/** What runs on a document after every other `save` middleware, right before it is written. */
export type LastCheck = () => Promise<void>;

const checks = new WeakMap<object, LastCheck>();

/** Adds the middleware that runs a document's last check. Called after `configure`, so that it comes last. */
export function runLastBeforeSave(schema: Schema): void {
  schema.pre("save", runLastCheck);
}

async function runLastCheck(this: object): Promise<void> {
  await checks.get(this)?.();
}
markOwnMiddleware(runLastCheck);

export function setLastCheck(doc: Document, check: LastCheck): void {
  checks.set(doc, check);
}
