import {
  action,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  update,
  updateAll,
} from "../../../mod.ts";
import type { EntityBody } from "../../support/client.ts";
import type { Mounted } from "../../support/support.ts";

let gate: Promise<void> | undefined;
let reached = () => {};

async function hold<T>(_req: unknown, entity: T): Promise<T> {
  if (gate !== undefined) reached();
  await gate;
  return entity;
}

/** Lets the hook of each write wait. Returns the function that lets it go on, and a promise of its run. */
export function holdHooks(): { readonly open: () => void; readonly waiting: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  const waiting = new Promise<void>((resolve) => reached = resolve);
  const open = () => {
    gate = undefined;
    resolve();
  };
  return { open, waiting };
}

const AT_SAVE = { preSave: hold };
const AT_READ = { postFetch: hold };

const methodsWith = (
  { atSave, atRead }: { readonly atSave?: typeof AT_SAVE; readonly atRead?: typeof AT_READ },
) => [
  one(),
  create({ many: 10, ...atSave }),
  update(atSave),
  updateAll({ fields: ["text"], ...atSave }),
  replace(atSave),
  remove(atRead),
  removeAll({ max: 10, ...atRead }),
  action("shout", {
    on: "one",
    run: async (req, entity: Entity<Part>) => {
      await hold(req, entity);
      entity.text = "LOUD";
      return await entity.save();
    },
  }),
];

const methods = methodsWith({ atSave: AT_SAVE, atRead: AT_READ });

const partMethods = [create(AT_SAVE), update(AT_SAVE), remove(AT_READ)];

class Part extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/plain", methods })
@rest({ route: "/direct", methods: methodsWith({}) })
export class Plain extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ unique: true, sparse: true })
  code?: string;
  @rest({ methods: partMethods })
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
  @rest({ methods: [create(AT_SAVE), remove(AT_READ)] })
  @arrayProp({ items: () => Plain })
  links?: Ref<Plain>[];
}

@rest({ route: "/kept", methods, history: true, trash: { see: () => true } })
export class Kept extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ unique: true, sparse: true })
  code?: string;
  @rest({ methods: partMethods })
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
  @rest({ methods: [create(AT_SAVE), remove(AT_READ)] })
  @arrayProp({ items: () => Kept })
  links?: Ref<Kept>[];
}

@rest({ route: "/owned", methods: [create()] })
export class Owned extends FrameworkModel {
  @prop({ ref: () => Plain, onDelete: "cascade" })
  owner?: Ref<Plain>;
}

type Row = readonly [path: string, method: string, body?: unknown];

const WRITES: readonly Row[] = [
  ["", "POST", { code: "new" }],
  ["", "POST", [{ code: "new" }]],
  ["", "POST", [{ code: "new" }, { code: "newer" }]],
  [`?q={"text":"a"}`, "PATCH", { text: "b" }],
  [`?q={"text":"a"}`, "DELETE"],
  ["/:id", "PATCH", { text: "b" }],
  ["/:id", "PUT", { text: "b" }],
  ["/64b64b64b64b64b64b64b64b", "PUT", { code: "new" }],
  ["/:id", "DELETE"],
  ["/:id/shout", "POST", {}],
  ["/:id/parts", "POST", { text: "b" }],
  ["/:id/parts/:part", "PATCH", { text: "b" }],
  ["/:id/parts/:part", "DELETE"],
  ["/:id/links", "POST", { text: "b" }],
  ["/:id/links/:link", "DELETE"],
];

const KEPT_WRITES: readonly Row[] = [
  ...WRITES,
  ["/:id/revert", "POST", { version: 0 }],
  ["/:gone/restore", "POST"],
];

/**
 * Stores the entities that the writes of a route need. Returns a row for each kind of write: its method, its path and
 * its body. A creation has the unique code `new`.
 */
export async function writesOf(
  app: Mounted,
  route: "/plain" | "/direct" | "/kept",
): Promise<(readonly [method: string, path: string, body?: unknown])[]> {
  const { _id: id, parts } = await app.created(route, { text: "z", parts: [{ text: "p" }] });
  const { _id: link } = await app.created(`${route}/${id}/links`, { text: "l" });
  const { _id: gone } = await app.created(route, { text: "g" });
  await app.updated(`${route}/${id}`, { text: "a" });
  await app.delete(`${route}/${gone}`);
  if (route !== "/kept") await app.created("/owned", { owner: id });
  const part = (parts as EntityBody[])[0]?._id;
  const names: Record<string, string | undefined> = { id, link, gone, part };
  return (route === "/kept" ? KEPT_WRITES : WRITES).map(([path, method, body]) => {
    const named = path.replaceAll(/:(id|part|link|gone)/g, (_all, name) => `${names[name]}`);
    return [method, route + named, body];
  });
}
