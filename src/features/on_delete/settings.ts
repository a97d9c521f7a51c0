import type { ModelClass } from "../../declare/model/framework_model.ts";
import { countSelected } from "../../pipeline/open_level.ts";
import type { TransactionRequest } from "../../pipeline/class_feature.ts";
import { runAround } from "../../pipeline/plugins/run_around.ts";
import { admitReader } from "../../pipeline/run_pipeline.ts";
import { type Call, makeCall, requestView } from "../../pipeline/request/request_context.ts";
import type { Route } from "../../pipeline/request/route.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { secrecyOf } from "../../schema/fields/visibility.ts";
import type { ReferringField } from "./referring_fields.ts";

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

/** Error messages name only classes of which a route shows one of these fields to the client. */
export async function areShown(
  fields: readonly ReferringField[],
  { req, client, route }: Pick<TransactionRequest, "req" | "client" | "route">,
): Promise<boolean> {
  const [{ owner }] = fields as readonly [ReferringField];
  for (const reader of onDeleteSettings(route).readers.get(owner) ?? []) {
    const facts = { req: requestView(req), client, count: countSelected, weight: 0 };
    const shape = await admittedShape(makeCall(reader, facts));
    if (shape && fields.some(({ path }) => secrecyOf(path, shape) !== "secret")) return true;
  }
  return false;
}

async function admittedShape(call: Call): Promise<Shape | undefined> {
  try {
    const admitted = await admitReader(call);
    // Plugins, such as the one for API keys, may allow less than the hooks.
    return await runAround(admitted, {
      purpose: "description",
      setsHeaders: false,
      read: () => admitted,
      run: () => Promise.resolve(admitted.context.level.shape),
    });
  } catch {
    return undefined;
  }
}
