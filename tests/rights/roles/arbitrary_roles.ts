import fc from "fast-check";
import { ROLES } from "./roles_world.ts";
import type { Ask, ClassSpec, Doc, FieldSpec, Hooks, Role, Rule, World } from "./roles_world.ts";

type Values = fc.Arbitrary<unknown>;
type Kind = FieldSpec["kind"];

const TENANTS = ["tenant-a", "tenant-b"] as const;
const ROOTS = 6;
export const TARGETS = 100;
export const PARTS = 200;

export function idOf(place: number): string {
  return String(place).padStart(24, "0");
}

/** Identifiers from a place on; some of what is not there. */
export function ids(from: number, count = 4): fc.Arbitrary<string> {
  return fc.integer({ min: from, max: from + count - 1 }).map(idOf);
}

const text = fc.constantFrom("", "x", "Xy", "z", "open", "x", "", "z", "open", "x", "é.");
const number = fc.constantFrom(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 4, -1);
const date = fc.constantFrom("2001-01-01T00:00:00.000Z", "2002-02-02T00:00:00.000Z");
const OWN = { maxKeys: 2, noNullPrototype: true } as const;
const keyed = (values: Values) => fc.dictionary(fc.constantFrom("k", "note", "m"), values, OWN);
const wrong: Values = fc.constantFrom<unknown>(
  ...["wrong", ["wrong"], 5, true, { a: "x" }, { $gt: 1 }, [{ a: 1 }], [[]], "", null],
);

/** Values that fit a field. With `written`, those that a body has. */
export function values(
  { kind, of }: FieldSpec,
  { written = false, objects = written ? bodies : docs }: {
    readonly written?: boolean;
    readonly objects?: (spec: ClassSpec) => fc.Arbitrary<Doc>;
  } = {},
): Values {
  const inner = () => objects(of as ClassSpec);
  const kinds: Record<Kind, () => Values> = {
    text: () => text,
    number: () => number,
    flag: () => fc.boolean(),
    date: () => date,
    texts: () => fc.array(text, { maxLength: 2 }),
    free: () => fc.oneof(keyed(text), keyed(keyed(number)), text),
    words: () => keyed(text),
    reference: () => ids(TARGETS, 5),
    references: () => fc.uniqueArray(ids(TARGETS, 5), { minLength: 2, maxLength: 4 }),
    object: () => written ? inner() : inner().map((each) => ({ _id: idOf(PARTS), ...each as Doc })),
    things: () =>
      keyed(written ? inner() : inner().map((each) => ({ _id: idOf(PARTS), ...each as Doc }))),
    objects: () =>
      written
        ? fc.array(
          fc.tuple(inner(), fc.option(ids(PARTS))).map(([each, _id]) =>
            _id === null ? each : { ...each as Doc, _id }
          ),
          { maxLength: 3 },
        )
        : fc.array(inner(), { minLength: 2, maxLength: 3 }).map((list) =>
          list.map((each, index) => ({ _id: idOf(PARTS + index), ...each as Doc }))
        ),
  };
  return kinds[kind]();
}

/** What is stored: mostly what fits. */
function docs({ fields }: ClassSpec): fc.Arbitrary<Doc> {
  const given = Object.entries(fields).filter(([name]) => name !== "code").map(([name, field]) => {
    const own = name === "owner" ? fc.constantFrom(...TENANTS, TENANTS[0]) : values(field);
    return [
      name,
      fc.oneof({ weight: 40, arbitrary: own }, fc.constantFrom(null, "odd", 7)),
    ] as const;
  });
  const requiredKeys = Object.keys(fields).filter((name) =>
    name === "owner" || fields[name]?.routed
  );
  return fc.record(Object.fromEntries(given), { requiredKeys, noNullPrototype: true });
}

const roles = fc.subarray([...ROLES], { minLength: 1, maxLength: 2 });
const rule: fc.Arbitrary<Rule | undefined> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 6, arbitrary: roles as fc.Arbitrary<readonly Role[]> },
  fc.constant(true as const),
);

const OPTIONS: Partial<Record<Kind, Values>> = {
  text: fc.constantFrom(
    ...[{}, {}, {}, {}, { default: "x" }, { required: true }, {
      enum: ["", "x", "Xy", "z", "open"],
    }],
    ...[{ select: false }, { maxLength: 3 }, { default: "x", required: true }, { trim: true }],
    { match: /^[^é]*$/ },
  ),
  number: fc.constantFrom({}, {}, { min: 0, max: 3 }, { default: 2 }, { required: true, max: 3 }),
  date: fc.constantFrom({}, { default: new Date(0) }, { select: false }),
  texts: fc.constantFrom({}, { enum: ["", "x", "Xy", "z", "open"] }, { default: ["x"] }),
  free: fc.constantFrom({}, { default: { k: "x" } }),
};

function field(kind: Kind, more: Partial<FieldSpec> = {}): fc.Arbitrary<FieldSpec> {
  return fc.record({
    hidden: rule,
    readonly: rule,
    options: (OPTIONS[kind] ?? fc.constant({})) as fc.Arbitrary<Record<string, unknown>>,
  }).map((given) => ({ kind, ...given, ...more }));
}

const LEAVES = {
  ...{ note: field("text"), remark: field("text"), count: field("number"), flag: field("flag") },
  ...{ when: field("date"), tags: field("texts"), free: field("free"), words: field("words") },
};

const name = fc.constant<FieldSpec>({ kind: "text" });
const leaves = fc.record(LEAVES, { requiredKeys: ["note"], noNullPrototype: true });
const owner = fc.tuple(rule, rule).map(([hidden, readonly]): FieldSpec => ({
  ...{ kind: "text", hidden, readonly, options: { default: "tenant-a" } },
}));

function classes(more: Record<string, fc.Arbitrary<FieldSpec>>): fc.Arbitrary<ClassSpec> {
  return fc.tuple(fc.record({ name, ...more }, { noNullPrototype: true }), leaves).map((
    [own, others],
  ) => ({ fields: { ...own, ...others as Record<string, FieldSpec> } }));
}

function embedding(kind: Kind, of: fc.Arbitrary<ClassSpec>, routed = false) {
  const apart = fc.constantFrom(false, false, true);
  return fc.tuple(field(kind), of, apart).map(([each, made, apart]): FieldSpec => ({
    ...each,
    // What is apart is not read, whoever asks; what is hidden is.
    options: routed ? { apart: apart && each.hidden === undefined } : {},
    of: made,
    routed,
  }));
}

const flat = classes({});
/** Mongoose takes no `select` inside of a Map. */
const selected = flat.map(({ fields }): ClassSpec => ({
  fields: Object.fromEntries(
    Object.entries(fields).map(([name, each]) =>
      [name, each.options?.select === false ? { ...each, options: {} } : each] as const
    ),
  ),
}));
const deep = classes({
  inner: embedding("object", flat, true),
  subs: embedding("objects", flat, true),
});
const code = rule.map((hidden): FieldSpec => ({
  ...{ kind: "number", hidden, options: { unique: true, sparse: true } },
}));
const aliased = fc.tuple(rule, rule).map(([hidden, readonly]): FieldSpec => ({
  ...{ kind: "text", hidden, readonly, options: { alias: "nick" } },
}));
export const root = classes({
  ...{ owner, code, aliased },
  parts: embedding("objects", deep, true),
  single: embedding("object", classes({ inner: embedding("object", flat, true) }), true),
  held: embedding("object", flat),
  things: embedding("things", selected),
  link: field("reference", { routed: true }),
  links: field("references", { routed: true }),
  other: fc.tuple(field("reference"), fc.boolean()).map(([each, exists]): FieldSpec => ({
    ...each,
    options: { exists },
  })),
});
export const target = classes({ owner, held: embedding("object", flat) });

const hooks = fc.record<Hooks>({
  shown: fc.constantFrom(
    ...["itself", "itself", "spread", "object", "around", "list"] as const,
    ...["map", "set", "other", "copies"] as const,
  ),
  postFetch: fc.boolean(),
  preSave: fc.boolean(),
  persist: fc.constantFrom(false, false, true),
  steers: fc.constantFrom(
    ...[undefined, undefined, undefined, "sort", "populate", "project", "filter", "count"] as const,
  ),
});

export const schemaOptions = fc.constantFrom<Doc>(
  ...[{}, {}, {}, { timestamps: true }, { strict: "throw" }, { toJSON: { virtuals: true } }],
  ...[{ toJSON: { getters: true } }, { strict: false }, { versionKey: "rev" }],
  { toJSON: { transform: (_doc: unknown, json: object) => ({ ...json, made: { ...json } }) } },
);

/** Paths, of what is hidden and of what is not there too. */
function paths({ fields }: ClassSpec, prefix = ""): string[] {
  const own = Object.entries(fields).flatMap(([each, { kind, of }]) => [
    ...[`${prefix}${each}`, ...kind === "free" || kind === "words" ? [`${prefix}${each}.k`] : []],
    ...of ? paths(of, `${prefix}${each}.${kind === "things" ? "k." : ""}`) : [],
  ]);
  return prefix === ""
    ? [...own, "nick", "undeclared", "plugged", "both", "extra", "parts.0.note", "parts.extra"]
    : own;
}

function comparison(of: ClassSpec): Values {
  const value = fc.oneof(text, number, date, ids(TARGETS));
  const inner = fc.constantFrom(...Object.keys(of.fields));
  return fc.oneof(
    { weight: 4, arbitrary: value },
    fc.tuple(fc.constantFrom("$eq", "$ne", "$gt", "$lte", "$not"), value).map(([op, each]) => ({
      [op]: op === "$not" ? { $eq: each } : each,
    })),
    fc.array(value, { maxLength: 2 }).map(($in) => ({ $in })),
    fc.boolean().map(($exists) => ({ $exists })),
    fc.tuple(inner, value).map(([key, each]) => ({ $elemMatch: { [key]: each } })),
    fc.tuple(inner, value).map(([key, each]) => ({ $eq: { [key]: each } })),
    fc.tuple(inner, value).map(([key, each]) => ({ [key]: each })),
    fc.constantFrom<unknown>({ $size: 1 }, { $regex: "^x" }, { $type: "string" }, { $where: "1" }),
    fc.constantFrom<unknown>({ $all: ["x"] }, { $elemMatch: { $eq: "x" } }, { $nin: [null] }),
  );
}

function filters(spec: ClassSpec): fc.Arbitrary<Doc> {
  const path = fc.constantFrom(...paths(spec), "name", "name", "_id");
  const inner = Object.values(spec.fields).find(({ of }) => of)?.of ?? spec;
  const clause = fc.tuple(path, comparison(inner)).map(([each, value]): Doc => ({ [each]: value }));
  const many = fc.tuple(
    fc.constantFrom("$and", "$or", "$nor"),
    fc.array(clause, { minLength: 1, maxLength: 2 }),
  ).map(([op, list]): Doc => ({ [op]: list }));
  return fc.oneof({ weight: 3, arbitrary: clause }, many, fc.constant<Doc>({ $expr: 1 }));
}

const STRANGE: readonly (readonly [string, unknown])[] = [
  ...[["_id", idOf(3)], ["__v", 77], ["undeclared", "y"], ["nick", "z"], ["both", "x"]] as const,
  ...[["$set", { note: "x" }], ["plugged", "q"], ["parts.0.note", "x"], ["createdAt", 5], [
    "extra",
    "y",
  ]] as const,
];

/** Bodies: any fields, wrong values among them. */
function bodies({ fields }: ClassSpec): fc.Arbitrary<Doc> {
  const pairs = Object.entries(fields).map(([each, spec]) => {
    const own = each === "owner" ? fc.constantFrom(...TENANTS) : values(spec, { written: true });
    const given = fc.oneof({ weight: 25, arbitrary: own }, wrong);
    return fc.tuple(fc.constant(each), given);
  });
  const pair = fc.oneof({ weight: 25, arbitrary: fc.oneof(...pairs) }, fc.constantFrom(...STRANGE));
  return fc.array(pair, { maxLength: 4 }).map((list) => Object.fromEntries(list));
}

/** What a request is sent to: the class that is there, and paths to it. */
interface Place {
  readonly spec: ClassSpec;
  readonly path: fc.Arbitrary<string>;
  readonly many: boolean;
  readonly written: boolean;
  /** The first of its identifiers. */
  readonly from: number;
}

const via = fc.constantFrom("fast", "slow");

function places(world: Pick<World, "root" | "target">): Place[] {
  const below = (spec: ClassSpec, above: fc.Arbitrary<string>): Place[] =>
    Object.entries(spec.fields).filter(([, { routed }]) => routed).flatMap(([each, field]) => {
      const hooks = each === "inner" ? fc.constant("slow") : via;
      const path = fc.tuple(above, hooks).map(([base, hook]) => `${base}/${hook}-${each}`);
      const many = field.kind === "objects" || field.kind === "references";
      const from = field.of ? PARTS : TARGETS;
      const place = { spec: field.of ?? world.target, path, many, written: true, from };
      const item = many ? fc.tuple(path, ids(from, 3)).map((each) => each.join("/")) : path;
      return [place, ...below(place.spec, item)];
    });
  const path = fc.constantFrom("/fast", "/slow", "/slow");
  const parent = fc.tuple(via, ids(0)).map(([each, id]) => `/${each}/${id}`);
  const own = { spec: world.root, path, many: true, written: true, from: 0 };
  const lean = { ...own, path: fc.constant("/lean"), written: false };
  const referred = {
    spec: world.target,
    path: fc.constant("/targets"),
    many: true,
    written: false,
    from: TARGETS,
  };
  return [own, own, own, own, own, own, lean, referred, ...below(world.root, parent)];
}

function queries(spec: ClassSpec): fc.Arbitrary<Record<string, string>> {
  const each = fc.constantFrom(...Object.keys(spec.fields), "_id", "undeclared", "nick");
  const given: Record<string, fc.Arbitrary<string>> = {
    q: filters(spec).map((filter) => JSON.stringify(filter)),
    limit: fc.constantFrom("1", "2", "5", "6"),
    sort: fc.array(fc.tuple(fc.constantFrom("", "-"), each).map((key) => key.join("")), {
      ...{ minLength: 1, maxLength: 2 },
    }).map((keys) => keys.join()),
    select: fc.array(each, { minLength: 1, maxLength: 2 }).map((names) => names.join()),
    search: fc.constantFrom("x", "y", "z", "seen"),
    populate: fc.constantFrom("link", "links", "other", "link,other", "name"),
    skip: fc.constantFrom("0", "1"),
  };
  // More of them are mostly refused.
  const some = fc.shuffledSubarray(Object.keys(given), { minLength: 1, maxLength: 2 });
  return fc.tuple(fc.record(given), some).map(([query, names]) =>
    Object.fromEntries(names.map((name) => [name, String(query[name])]))
  );
}

const NEW = ["POST", "POST", "DELETE"] as const;
const WRITES = ["PATCH", "PATCH", "PATCH", "DELETE"] as const;

/** Requests to a place. */
function asksTo({ spec, path, many, written, from }: Place): fc.Arbitrary<Ask> {
  const item = many ? fc.tuple(path, ids(from, 4)).map((each) => each.join("/")) : path;
  const one = fc.record({
    method: fc.constantFrom<Ask["method"]>("GET", "GET", ...written ? WRITES : []),
    path: item,
  });
  const whole = fc.record({
    method: many
      ? fc.constantFrom<Ask["method"]>("GET", "GET", "GET", ...written ? NEW : [])
      : fc.constant<Ask["method"]>("POST"),
    path,
  });
  return fc.record({
    to: fc.oneof(one, whole),
    role: fc.constantFrom(...ROLES),
    query: fc.oneof<fc.Arbitrary<Record<string, string>>[]>(
      queries(spec),
      fc.constant({}),
      fc.constant({}),
    ),
    body: fc.oneof({ weight: 20, arbitrary: bodies(spec) }, fc.constantFrom<unknown>([], [{}], 5)),
    tag: fc.constantFrom(undefined, undefined, "if-match" as const, "if-none-match" as const),
    headers: fc.record({
      "x-tenant": fc.constantFrom(...TENANTS, "tenant-a"),
      prefer: fc.constantFrom("", "count=exact"),
      accept: fc.constantFrom("*/*", "*/*", "application/problem+json"),
    }),
    follows: fc.constantFrom(false, false, false, true),
  }).map(({ to, query, body, tag, ...others }): Ask => {
    const isWritten = to.method === "POST" || to.method === "PATCH";
    const q = to.method === "PATCH" && tag !== undefined ? undefined : query.q;
    const named: Record<string, string> = to.method === "GET"
      ? query
      : q === undefined
      ? {}
      : { q };
    return { ...to, ...others, tag, query: named, ...isWritten && { body } };
  });
}

/** Requests for the records of roots, and for their earlier versions. */
const historyAsks: fc.Arbitrary<Ask> = fc.record({
  path: fc.tuple(fc.constantFrom("/fast", "/slow", "/lean"), ids(0)).map((each) => each.join("/")),
  version: fc.nat(3),
  limit: fc.constantFrom("1", "3", "20"),
  isRead: fc.boolean(),
  role: fc.constantFrom(...ROLES),
  tenant: fc.constantFrom(...TENANTS, TENANTS[0]),
  follows: fc.boolean(),
}).map(({ path, version, limit, isRead, role, tenant, follows }): Ask => ({
  ...{ role, tag: undefined, headers: { "x-tenant": tenant }, follows },
  ...isRead
    ? { method: "GET", path: `${path}/history`, query: { limit } }
    : { method: "POST", path: `${path}/revert`, query: {}, body: { version } },
}));

/** A world, and requests to it. */
export interface Trial {
  readonly world: World;
  readonly asks: readonly Ask[];
}

function stored(
  spec: ClassSpec,
  { from, count, key }: Record<"from" | "count", number> & { key: string },
) {
  const each = (place: number) =>
    docs(spec).map((doc): Doc => ({
      ...{ owner: "tenant-a", ...doc, _id: idOf(from + place), name: `n${place % 3}` },
      ...spec.fields.code && { code: place },
      [key]: 0,
    }));
  return fc.tuple(...Array.from({ length: count }, (_, place) => each(place)));
}

/** Drops the guards of a kind where the base admits every name: the framework refuses such a start. */
function withoutRefusedKinds<W extends Pick<World, "extra" | "schemaOptions">>(world: W): W {
  const { extra, schemaOptions } = world;
  return schemaOptions.strict === false && extra
    ? { ...world, extra: { kind: extra.kind } }
    : world;
}

/** Records no writes of a `persist` hook: the framework refuses such a start. */
function withoutRefusedHistory<W extends Pick<World, "history" | "hooks">>(world: W): W {
  return { ...world, history: world.history && !world.hooks.persist };
}

/** Random trials of at most some requests. */
export function trials(most: number): fc.Arbitrary<Trial> {
  const worlds = fc.record({
    ...{
      root,
      target,
      hooks,
      schemaOptions,
      scoped: fc.boolean(),
      plugged: fc.boolean(),
      filtered: fc.boolean(),
      history: fc.boolean(),
    },
    extra: fc.option(field("text"), { freq: 2, nil: undefined }).map((each) =>
      each && { ...each, options: {} }
    ),
    populated: fc.constantFrom("all" as const, "all" as const, "some" as const, "always" as const),
  });
  return worlds.map(withoutRefusedKinds).map(withoutRefusedHistory).chain((given) => {
    const key = String(given.schemaOptions.versionKey ?? "__v");
    const kinds = (doc: Doc, place: number): Doc => {
      if (given.extra === undefined || place % 2 === 1) return doc;
      const parts = Array.isArray(doc.parts) && doc.parts.every((part) => part instanceof Object)
        ? { parts: doc.parts.map(kinds) }
        : {};
      return { ...doc, ...parts, __t: "Kind", extra: "x" };
    };
    const world = fc.record({
      roots: stored(given.root, { from: 0, count: ROOTS, key }).map((all) => all.map(kinds)),
      targets: stored(given.target, { from: TARGETS, count: 4, key: "__v" }),
    }).map((data): World => ({ ...given, ...data }));
    const ask = fc.oneof(
      ...places(given).map(asksTo),
      ...given.history ? Array<fc.Arbitrary<Ask>>(6).fill(historyAsks) : [],
    );
    return fc.record({ world, asks: fc.array(ask, { minLength: 1, maxLength: most, size: "max" }) })
      .map((trial) => ({ ...trial, [fc.toStringMethod]: () => "a trial" }));
  });
}
