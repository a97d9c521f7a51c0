import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { countSelected } from "../../pipeline/open_level.ts";
import { passGuard } from "../../pipeline/pass_guard.ts";
import { passPreFetch } from "../../pipeline/pass_hooks.ts";
import { type Call, makeCall, requestView } from "../../pipeline/request/request_context.ts";
import type { Route } from "../../pipeline/request/route.ts";

const MAX_CASCADE = 1000;

export interface OnDeleteSettings {
  readonly maxCascade: number;
  /** The routes that show entities of a class. */
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
export async function isShown(
  target: ModelClass,
  { req, route }: { readonly req: FrameworkRequest; readonly route: Route },
): Promise<boolean> {
  for (const reader of onDeleteSettings(route).readers.get(target) ?? []) {
    const facts = { req: requestView(req), count: countSelected, weight: 0 };
    if (await isAdmitted(makeCall(reader, facts))) return true;
  }
  return false;
}

async function isAdmitted(call: Call): Promise<boolean> {
  try {
    await passGuard(call);
    await passPreFetch(call);
    return true;
  } catch {
    return false;
  }
}
