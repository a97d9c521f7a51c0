import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  type ModelClass,
  one,
  onlyIf,
  prop,
  type ReadOnly,
  replace,
  rest,
  update,
  updateAll,
} from "../../../mod.ts";

/** Waits as long as the request says, so that other requests write in between. */
async function linger<T>(req: FrameworkRequest, entity: T): Promise<T> {
  await new Promise((resolve) => setTimeout(resolve, Number(req.get("x-linger") ?? 0)));
  return entity;
}

const hooks = { preSave: linger, preSend: linger };

class Inner extends FrameworkModel {
  @prop({ type: Number })
  x?: number;
  @prop({ type: Number })
  y?: number;
}

class Line extends FrameworkModel {
  @prop({ type: Number })
  a?: number;
  @prop({ type: Number })
  b?: number;
  @prop({ stamp: "updatedBy" })
  readonly by?: ReadOnly<string>;
}

class Values extends FrameworkModel {
  @prop({ type: Number })
  a?: number;
  @prop({ type: Number })
  b?: number;
  @prop({ type: Number, default: 0 })
  c?: number;
  @prop({ type: Inner })
  inner?: Inner;
  @prop({ type: Map, of: Number })
  counts?: Map<string, number>;
  @prop({ type: Object })
  free?: Record<string, unknown>;
  @arrayProp({ items: Number })
  list?: number[];
  @prop({ readonly: true })
  hook?: ReadOnly<string>;
  @rest({ methods: [all(), one(), create<Line>(hooks), update<Line>(hooks)] })
  @arrayProp({ items: Line, embedded: true, readonly: true })
  lines?: Line[];
  @prop({ stamp: "updatedBy" })
  readonly by?: ReadOnly<string>;
}

const SET = ["a", "b", "c", "inner", "counts", "free", "list"] as const;

const PLAIN = [one(), update(), replace()];

const HOOKED = [
  one(),
  update<Values>({
    ...hooks,
    async preSave(req, values) {
      Object.assign(values, { hook: req.get("x-user") });
      return await linger(req, values);
    },
  }),
  replace<Values>(hooks),
  updateAll<Values>({ fields: [...SET], preSave: linger }),
  action<Values>("mark", {
    on: "one",
    run: async (req, values: Entity<Values>) => {
      await linger(req, values);
      values.c = Number(req.get("x-value"));
      await values.save();
      return values;
    },
  }),
];

const NAMED = [one(), update<Values>({ postFetch: onlyIf(["c"], () => true) })];

export function sheets(history: true | undefined): ModelClass {
  const schemaOptions = { collection: `sheets_${history ?? "alone"}` };
  const options = { schemaOptions, ...history && { history } };
  @rest({ route: "/plain", methods: PLAIN as never[], ...options })
  @rest({ route: "/hooked", methods: HOOKED as never[], ...options, main: true })
  @rest({ route: "/named", methods: NAMED as never[], ...options })
  class Sheet extends Values {}
  return Sheet;
}
