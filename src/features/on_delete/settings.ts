import type { ModelClass } from "../../declare/model/framework_model.ts";
import { countSelected } from "../../pipeline/open_level.ts";
import type { TransactionRequest } from "../../pipeline/class_feature.ts";
import { runAround } from "../../pipeline/plugins/run_around.ts";
import { admitReader } from "../../pipeline/run_pipeline.ts";
import { type Call, makeCall, requestView } from "../../pipeline/request/request_context.ts";
import type { Route } from "../../pipeline/request/route.ts";

const MAX_CASCADE = 1000;

export interface OnDeleteSettings {
  readonly maxCascade: number;
  readonly readers: Map<ModelClass, Route[]>;
}

export function readSettings(maxCascade: unknown = MAX_CASCADE): OnDeleteSettings {
  if (!Number.isSafeInteger(maxCascade) || Number(maxCascade) < 1) {
    throw new RangeError(
      `Cannot initialize: limits.cascade is ${maxCascade}, not a whole number of at least 1`,
    );
  }
  return { maxCascade: Number(maxCascade), readers: new Map() };
}

export function onDeleteSettings({ settings }: Route): OnDeleteSettings {
  return settings.get("onDelete") as OnDeleteSettings;
}

/** Error messages name only classes that a route shows to the client. */
export async function isReadable(
  target: ModelClass,
  { req, client, route }: Pick<TransactionRequest, "req" | "client" | "route">,
): Promise<boolean> {
  for (const reader of onDeleteSettings(route).readers.get(target) ?? []) {
    const facts = { req: requestView(req), client, count: countSelected, weight: 0 };
    if (await isAdmitted(makeCall(reader, facts))) return true;
  }
  return false;
}

async function isAdmitted(call: Call): Promise<boolean> {
  try {
    const admitted = await admitReader(call);
    // Plugins, such as the one for API keys, may allow less than the hooks.
    return await runAround(admitted, {
      purpose: "description",
      read: () => admitted,
      run: () => Promise.resolve(true),
    });
  } catch {
    return false;
  }
}
