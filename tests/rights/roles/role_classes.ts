import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type ModelClass,
  one,
  prop,
  remove,
  removeAll,
  rest,
  update,
} from "../../../mod.ts";
import { guardOf, isListed, listedPaths } from "./roles_world.ts";
import type { ClassSpec, FieldSpec, Hooks, Shown, View, World } from "./roles_world.ts";

type Entity = Record<string, unknown> & { save?: () => Promise<unknown> };

const TYPES: Partial<Record<FieldSpec["kind"], unknown>> = {
  text: String,
  number: Number,
  flag: Boolean,
  date: Date,
  free: Object,
};

function scope({ headers }: FrameworkRequest) {
  return { owner: headers["x-tenant"] };
}

export interface CollectionNames {
  readonly roots: string;
  readonly targets: string;
}

/** What lists and entities declare of reads. */
interface Reads {
  readonly many: { readonly filter?: readonly string[] };
  readonly single: object;
}

/** Makes the classes of one view. */
export class ClassMaker {
  readonly #view: View;
  readonly #world: World;
  readonly #made = new Map<ClassSpec, ModelClass>();
  #target: ModelClass | undefined;

  constructor(view: View, world: World) {
    this.#view = view;
    this.#world = world;
  }

  /** Makes the classes that have collections. */
  models(collections: CollectionNames): ModelClass[] {
    const { root, target, scoped, schemaOptions, history } = this.#world;
    const unbuilt = { autoCreate: false, autoIndex: false };
    const scoping = scoped ? { scope } : {};
    const referred = this.#make(target, { ...unbuilt, collection: collections.targets });
    this.#target = referred;
    route(referred, { route: "/targets", methods: [all(), one()], ...scoping });
    const made = this.#make(root, { ...unbuilt, ...schemaOptions, collection: collections.roots });
    const { many, single } = this.#readOptions();
    const { hooks, plain } = this.#methods({ many, single });
    const lean = this.#readHooks();
    const leanReads = [
      all({ ...many, ...lean, lean: true } as never),
      one({ ...single, ...lean, lean: true } as never),
    ];
    const shared = { ...scoping, ...history && { history } };
    route(made, { route: "/fast", methods: plain, ...shared });
    route(made, { route: "/slow", methods: hooks, ...shared });
    route(made, { route: "/lean", methods: leanReads, ...shared });
    return [made, referred];
  }

  /** What lists declare, for the fields that the view has. */
  #readOptions() {
    const { root, target, populated, filtered } = this.#world;
    const named = ({ fields }: ClassSpec, ...kinds: FieldSpec["kind"][]) =>
      Object.entries(fields).filter(([, field]) =>
        isListed(field, this.#view) && (kinds.length === 0 || kinds.includes(field.kind))
      ).map(([name]) => name);
    const how = populated === "all"
      ? true
      : { select: named(target), ...populated === "always" && { always: true } };
    const references = named(root, "reference", "references");
    const populate = Object.fromEntries(references.map((name) => [name, how]));
    const single = {
      ...filtered && { filter: listedPaths(root, this.#view) },
      select: named(root),
      ...references.length > 0 && { populate },
    };
    const many = {
      ...single,
      page: { size: 3, max: 5 },
      sort: named(root, "text", "number", "date", "flag"),
      search: named(root, "text"),
    };
    return { many, single };
  }

  #methods({ many, single }: Reads) {
    const { filter } = many;
    const writes = [
      create(),
      update({ filter } as never),
      remove({ filter } as never),
      removeAll(),
    ];
    const reads = this.#readHooks();
    const { change, erase } = this.#writeHooks();
    return {
      plain: [all({ ...many, count: true } as never), one(single as never), ...writes],
      hooks: [
        ...[all({ ...many, ...reads } as never), one({ ...single, ...reads } as never)],
        ...[create(change as never), update({ ...change, ...fetched(this.#world.hooks) } as never)],
        ...[remove(erase as never), removeAll(erase as never)],
      ],
    };
  }

  #readHooks(): object {
    const { hooks } = this.#world;
    return {
      ...steering(hooks),
      ...fetched(hooks),
      preSend: (_req: unknown, entity: object) => this.#show(entity),
    };
  }

  #writeHooks(): { readonly change: object; readonly erase: object } {
    const { preSave, persist } = this.#world.hooks;
    const touch = (_req: unknown, entity: Entity) => {
      if (preSave) Object.assign(entity, { note: "y", count: 2 });
      return entity;
    };
    const save = async (_req: unknown, entity: Entity) => {
      await entity.save?.();
      return entity;
    };
    const preSend = (_req: unknown, entity: object) => this.#show(entity);
    return {
      change: { preSave: touch, ...persist && { persist: save }, preSend },
      erase: { preSave: (_req: unknown, entity: object) => entity },
    };
  }

  /** Gives what a hook gives in the place of an entity. */
  async #show(entity: object): Promise<unknown> {
    const plain = () => entity instanceof mongoose.Document ? entity.toObject() : entity;
    const other = () => getModel(this.#target as ModelClass).findOne().sort({ _id: 1 });
    const forms: Record<Shown, () => unknown> = {
      itself: () => entity,
      spread: () => ({ ...entity }),
      object: plain,
      around: () => ({ entity, kept: 1 }),
      list: () => [entity, plain()],
      map: () => ({ map: new Map([["note", entity], ["b", plain()]]) }),
      set: () => ({ set: new Set([entity]) }),
      other: async () => ({ ...entity, other: await other(), more: [await other().lean()] }),
      copies: () => ({ copy: { ...entity }, plain: plain(), own: [[entity]] }),
    };
    return await forms[this.#world.hooks.shown]();
  }

  #make(spec: ClassSpec, schemaOptions: object): ModelClass {
    const known = this.#made.get(spec);
    if (known !== undefined) return known;
    const { plugged, root } = this.#world;
    const kind = spec === root || spec === root.fields.parts?.of ? this.#kind(spec) : undefined;
    class Made extends FrameworkModel {
      static override configure(schema: mongoose.Schema): void {
        if (kind !== undefined) {
          const added = new mongoose.Schema(kind as never);
          schema.discriminator(`Kind${crypto.randomUUID()}`, added, { value: "Kind" });
        }
        if (!plugged) return;
        schema.plugin((given) => {
          given.add({ plugged: { type: String, default: "p" } });
          given.virtual("both").get(() => "both");
        });
      }
    }
    const metadata = {};
    for (const [name, field] of Object.entries(spec.fields)) {
      const context = { kind: "field", name, static: false, private: false, metadata };
      decorate(this.#declare(field), context);
      if (this.#isRouted(field)) this.#routePart([name, field], context);
    }
    Object.defineProperty(Made, Symbol.metadata, { value: metadata });
    Object.assign(Made, { schemaOptions: { minimize: false, id: false, ...schemaOptions } });
    this.#made.set(spec, Made as ModelClass);
    return Made as ModelClass;
  }

  /** Gives the fields of a kind: one that its base does not have, and one that its base guards alike. */
  #kind({ fields }: ClassSpec): object | undefined {
    const { extra } = this.#world;
    const { note } = fields;
    if (extra === undefined || note === undefined) return undefined;
    const select = note.options?.select;
    return {
      extra: { type: String, ...guardOf(extra, this.#view, "kind") },
      note: { type: String, ...select === false && { select }, ...guardOf(note, this.#view) },
    };
  }

  /** Whether the view has the routes of a property: who does not see it has none. */
  #isRouted({ hidden = [], routed = false }: FieldSpec): boolean {
    return routed && hidden !== true &&
      (this.#view === "functions" || !hidden.includes(this.#view));
  }

  #routePart([name, { kind }]: readonly [string, FieldSpec], context: object): void {
    const isMany = kind === "objects" || kind === "references";
    const { plain, hooks } = this.#methods({ many: {}, single: {} });
    const uncounted = [all(), one(), ...plain.slice(2)];
    const ways = [["fast", uncounted], ["slow", hooks]] as const;
    // Each one doubles the routes below it.
    for (const [path, methods] of name === "inner" ? ways.slice(1) : ways) {
      const own = methods.filter((_, index) => isMany || ![0, 5].includes(index));
      decorate(rest({ route: `/${path}-${name}`, methods: own } as never), context);
    }
  }

  #declare(field: FieldSpec): unknown {
    const { kind, of, options } = field;
    const { apart, ...others } = options ?? {};
    const shared = {
      ...others,
      ...this.#isRouted(field) && apart !== undefined && { apart },
      ...guardOf(field, this.#view),
    };
    const embedded = () => this.#make(of as ClassSpec, {});
    const target = () => this.#target as ModelClass;
    const special: Partial<Record<FieldSpec["kind"], () => unknown>> = {
      texts: () => arrayProp({ items: String, ...shared } as never),
      objects: () => arrayProp({ items: embedded(), embedded: true, ...shared } as never),
      references: () => arrayProp({ items: target, ...shared } as never),
      reference: () => prop({ ref: target, ...shared } as never),
      object: () => prop({ type: embedded(), ...shared } as never),
      things: () => prop({ type: Map, of: embedded(), ...shared } as never),
      words: () => prop({ type: Map, of: String, ...shared } as never),
    };
    return special[kind]?.() ?? prop({ type: TYPES[kind], ...shared } as never);
  }
}

/** The hook that runs after the read: it changes entities, and leaves some out. */
function fetched({ postFetch }: Hooks): object {
  if (!postFetch) return {};
  return {
    postFetch: (_req: unknown, entity: Entity) => {
      if (entity.flag === true && entity.count === 1) return null;
      entity.note = "seen";
      return entity;
    },
  };
}

/** The hook that runs before the read: it asks for more than the client does. */
function steering({ steers }: Hooks): object {
  const steer = async ({ framework }: FrameworkRequest) => {
    if (steers === "sort") framework.options.sort = { count: -1, note: 1 };
    if (steers === "populate") {
      framework.options.populate = { path: "link", strictPopulate: false };
    }
    if (steers === "project") framework.projection = { remark: 1, note: 1, parts: 1, name: 1 };
    if (steers === "filter") {
      framework.filter = { $and: [framework.filter, { count: { $gte: 1 } }] };
    }
    if (steers === "count") await framework.count().catch(() => {});
    return true;
  };
  return steers === undefined ? {} : { preFetch: steer };
}

/** Calls a decorator as the compiler does. */
function decorate(decorator: unknown, context: object): void {
  (decorator as (value: undefined, context: object) => void)(undefined, context);
}

function route(made: ModelClass, given: object): void {
  const metadata = (made as unknown as Record<symbol, object>)[Symbol.metadata];
  const context = { kind: "class", name: "Made", metadata, addInitializer: () => {} };
  (rest(given as never) as unknown as (value: unknown, context: object) => void)(made, context);
}
