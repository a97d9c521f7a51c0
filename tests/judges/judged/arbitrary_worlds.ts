import fc from "fast-check";
import type { JudgedFilter, Value } from "../../q/q_judge.ts";
import { isDoc } from "./fields.ts";
import type { Ask, ClassSpec, Copies, Doc, FieldSpec, World } from "./world.ts";

export const TENANTS = ["tenant-a", "tenant-b"];

/** Every value of a field that clients cannot see says so. */
export const SECRET = /SECRET|98765432/;

type Values = fc.Arbitrary<Value>;

const text = fc.constantFrom("", "x", "Xy", "é.", "z");
const secretText = fc.constantFrom("SECRET-1", "SECRET-2");
const wrong = fc.constantFrom<Value>("wrong", ["wrong"], 5, true, { a: "x" }, [{ a: 1 }], [[]], "");

function values(field: FieldSpec, depth = 0): Values {
  const texts = isSecret(field) ? secretText : text;
  const number = isSecret(field) ? fc.constantFrom(987654321, 987654322) : fc.nat({ max: 3 });
  const keyed = fc.dictionary(fc.constantFrom("k", "l", "m"), texts, OWN);
  switch (field.kind) {
    case "text":
      return texts;
    case "number":
      return number;
    case "flag":
      return fc.boolean();
    case "texts":
      return fc.array(texts, { maxLength: 2 });
    case "map":
      return keyed;
    case "free":
      return fc.oneof(keyed, fc.dictionary(fc.constantFrom("k", "l"), keyed, OWN)) as Values;
    case "reference":
      return ids(TARGETS, 2);
    case "references":
      return fc.uniqueArray(ids(TARGETS, 2), { maxLength: 3 });
    case "object":
      return docs(field.of as ClassSpec, { depth: depth + 1, id: 0 });
    default:
      return fc.array(docs(field.of as ClassSpec, { depth: depth + 1, id: 0 }), { maxLength: 3 })
        .map((list) => list.map((each, index) => ({ ...each, _id: idOf(PARTS + index) })));
  }
}

const OWN = { maxKeys: 2, noNullPrototype: true } as const;

function isSecret({ guard }: FieldSpec): boolean {
  return guard === "hidden" || guard === "unselected";
}

const TARGETS = 100;
const PARTS = 200;
const ROOTS = 6;

function idOf(place: number): string {
  return String(place).padStart(24, "0");
}

/** Identifiers from a place on; those of what is not there included. */
function ids(from: number, strange = 0): fc.Arbitrary<string> {
  return fc.integer({ min: from, max: from + 3 + strange }).map(idOf);
}

/** Objects have identifiers: Mongoose makes one up at every read of those without. */
function identified(value: Value): Value {
  if (Array.isArray(value)) return value.map(identified);
  return isDoc(value) ? { _id: idOf(PARTS), ...value } : value;
}

/** What is stored: mostly what fits. */
function docs({ fields, loose, kinds }: ClassSpec, { depth, id }: { depth: number; id: number }) {
  const given = Object.entries(fields).map(([name, field]) => {
    const odd = fc.oneof(fc.constant(null), wrong.map(identified));
    const own = values(field, depth);
    return [name, fc.oneof({ weight: 40, arbitrary: own }, odd)] as const;
  });
  const owner: Record<string, Values> = fields.owner ? { owner: fc.constantFrom(...TENANTS) } : {};
  const others: Record<string, Values> = loose === undefined ? {} : { other: text };
  return fc.record(
    { ...Object.fromEntries(given), ...owner, ...others },
    { requiredKeys: Object.keys(owner), noNullPrototype: true },
  ).map((doc): Doc => ({
    _id: idOf(id),
    ...doc as Doc,
    ...kinds && id % 2 === 0 && { __t: "Kind", extra: "x" },
  }));
}

const guard = fc.constantFrom(undefined, undefined, undefined, "hidden", "readonly", "unselected");

function leaf(kind: FieldSpec["kind"]): fc.Arbitrary<FieldSpec> {
  return guard.chain((each) => {
    const bare = { kind, guard: each } as FieldSpec;
    if (kind === "texts" || kind === "free" || kind === "map") return fc.constant(bare);
    return fc.option(values(bare), { nil: undefined, freq: 3 }).map((given) => ({
      ...bare,
      default: given,
    }));
  });
}

const LEAVES = {
  name: leaf("text"),
  rank: leaf("number"),
  flag: leaf("flag"),
  free: leaf("free"),
  map: leaf("map"),
  tags: leaf("texts"),
  note: leaf("text"),
};

type Fields = Record<string, FieldSpec>;
const leaves = fc.record(LEAVES, { requiredKeys: ["name"], noNullPrototype: true });
const owner = fc.constantFrom<FieldSpec>(
  { kind: "text" },
  { kind: "text", default: "tenant-a" },
  { kind: "text", guard: "hidden" },
  { kind: "text", guard: "readonly", default: "tenant-a" },
);
const partClass = leaves.map((fields): ClassSpec => ({ fields: fields as never }));
const copies = fc.constantFrom<Copies>("itself", "itself", "spread", "object", "beside", "text");
const owned = fc.record({ leaves, owner, scoped: fc.boolean(), copies }).map((
  { leaves: fields, owner: own, ...others },
): ClassSpec => ({ fields: { ...fields as Fields, owner: own }, ...others }));
const deepClass = fc.tuple(owned, partClass).map(([{ fields, ...others }, of]): ClassSpec => ({
  fields: { ...fields, inner: { kind: "object", of } },
  ...others,
}));
const rootClass = fc.record({
  leaves,
  owner,
  scoped: fc.boolean(),
  special: fc.constantFrom<Partial<ClassSpec>>(
    {},
    {},
    { loose: true },
    { virtual: true },
    { kinds: true },
  ),
  getter: fc.boolean(),
  parts: deepClass,
  single: deepClass,
  linked: fc.constantFrom(undefined, "readonly" as const),
  copies,
}).map((
  { leaves: fields, owner: own, special, getter, parts, single, linked, ...others },
): ClassSpec => ({
  fields: {
    ...fields as Fields,
    name: { ...fields.name as FieldSpec, getter },
    owner: own,
    parts: { kind: "objects", of: parts },
    single: { kind: "object", of: single },
    link: { kind: "reference" },
    links: { kind: "references", guard: linked },
  },
  ...others,
  loose: false,
  ...special,
}));

function literal(field: FieldSpec): fc.Arbitrary<unknown> {
  const value: fc.Arbitrary<unknown> = field.kind === "number" ? fc.nat({ max: 3 }) : text;
  return fc.oneof(
    value,
    fc.tuple(fc.constantFrom("$eq", "$ne", "$gt", "$lte"), value).map(([op, each]) => ({
      [op]: each,
    })),
    fc.array(value, { maxLength: 2 }).map(($in) => ({ $in })),
    fc.boolean().map(($exists) => ({ $exists })),
    fc.constantFrom({ $where: "1" }, { $ne: "wrong" }, { $not: { $eq: "x" } }, { $expr: 1 }),
  );
}

/** The paths of scalars, those inside of objects and lists too. */
function paths(fields: ClassSpec["fields"]): [string, FieldSpec][] {
  return Object.entries(fields).flatMap(([name, field]): [string, FieldSpec][] => {
    if (field.of) return paths(field.of.fields).map(([path, each]) => [`${name}.${path}`, each]);
    if (field.kind === "map") return [[`${name}.k`, field]];
    return ["text", "number", "texts"].includes(field.kind) ? [[name, field]] : [];
  });
}

/** Filters, of fields that clients cannot see and of none too. */
function filters({ fields }: ClassSpec): fc.Arbitrary<JudgedFilter> {
  const clauses = paths(fields).map(([path, field]) =>
    literal(field).map((each): JudgedFilter => ({ [path]: each }))
  );
  const clause = fc.oneof(
    ...clauses,
    ids(0, 3).map((_id) => ({ _id })),
    fc.constantFrom({ nobody: 1 }, { $where: "1" }, { "free.k": "x" }),
  );
  const list = fc.array(clause, { minLength: 1, maxLength: 2 });
  const many = fc.tuple(fc.constantFrom("$and", "$or", "$nor"), list);
  return fc.oneof({ weight: 2, arbitrary: clause }, many.map(([name, each]) => ({ [name]: each })));
}

const STRANGE = fc.constantFrom<[string, Value]>(
  ["_id", idOf(3)],
  ["__v", 77],
  ["__t", "Kind"],
  ["extra", "y"],
  ["label", "x"],
  ["other", "changed"],
  ["$set", { name: "x" }],
  ["constructor", { prototype: { x: 1 } }],
);

/** Bodies: any fields, wrong values among them. */
function bodies({ fields }: ClassSpec): Values {
  const pairs = Object.entries(fields).map(([name, field]): fc.Arbitrary<[string, Value]> => {
    const own = field.of
      ? field.kind === "object" ? bodies(field.of) : fc.array(elements(field.of), { maxLength: 3 })
      : name === "owner"
      ? fc.constantFrom(...TENANTS)
      : values(field);
    const given = fc.oneof(
      { weight: 12, arbitrary: own },
      { weight: 2, arbitrary: fc.constant(null) },
      wrong,
    );
    return fc.tuple(fc.constant(name), given as Values);
  });
  const pair = fc.oneof({ weight: 12, arbitrary: fc.oneof(...pairs) }, STRANGE);
  return fc.array(pair, { maxLength: 4 }).map((list) => Object.fromEntries(list));
}

/** Elements, of which some name one that is stored. */
function elements(of: ClassSpec): Values {
  return fc.tuple(bodies(of), fc.option(ids(PARTS))).map(([body, _id]) =>
    isDoc(body) && _id !== null ? { ...body, _id } : body
  );
}

function queries({ fields }: ClassSpec) {
  const name = fc.constantFrom(...Object.keys(fields), "_id", "nobody");
  const value: Record<string, fc.Arbitrary<string>> = {
    limit: fc.constantFrom("1", "2", "5", "5", "6", "x"),
    sort: fc.tuple(fc.constantFrom("", "-"), name).map((each) => each.join("")),
    select: fc.array(name, { minLength: 1, maxLength: 2 }).map((each) => each.join()),
    search: fc.constantFrom("x", "y", "secret", "é"),
    after: ids(0, 3),
    populate: fc.constantFrom("link", "links", "name"),
  };
  const rarely = Object.entries(value).map(([key, each]) =>
    [key, fc.option(each, { freq: 2, nil: undefined })] as const
  );
  return fc.record(Object.fromEntries(rarely)).map((query) =>
    Object.fromEntries(Object.entries(query).filter(([, each]) => each !== undefined)) as Record<
      string,
      string
    >
  );
}

/** Requests to a class and its parts. What makes them is made once for each of these. */
function asks({ root, target }: Pick<World, "root" | "target">): fc.Arbitrary<Ask & Via> {
  const made = [undefined, "parts", "single", "links"].map((name) => {
    const spec = name === undefined ? root : root.fields[name]?.of ?? target;
    const many = name === "single"
      ? []
      : ["all" as const, "all" as const, "all" as const, "removeAll" as const];
    return fc.record({
      operation: fc.constantFrom(
        "one",
        "one",
        "create",
        "update",
        "update",
        "update",
        "remove",
        ...many,
      ),
      tenant: fc.constantFrom(...TENANTS),
      id: ids(0, 4),
      part: fc.constant(name),
      subId: name === "links" ? ids(TARGETS, 2) : ids(PARTS),
      q: fc.option(filters(spec), { freq: 3, nil: undefined }),
      body: fc.oneof({ weight: 20, arbitrary: bodies(spec) }, fc.constantFrom<Value>([], [{}])),
      query: fc.oneof({ weight: 2, arbitrary: queries(root) }, fc.constant({})),
      match: fc.constantFrom(undefined, 0, 0, 1, "any" as const),
      hooked: fc.boolean(),
    }).map((ask) => ({
      ...ask,
      query: name === undefined && ["all", "one"].includes(ask.operation) ? ask.query : {},
      match: ["update", "remove"].includes(ask.operation) ? ask.match : undefined,
    })) as fc.Arbitrary<Ask & Via>;
  });
  const [whole, ...parts] = made as [fc.Arbitrary<Ask & Via>];
  return fc.oneof({ weight: 2, arbitrary: whole }, ...parts);
}

/** Whether a request goes to the route with hooks. */
export interface Via {
  readonly hooked: boolean;
}

/** What one run tries: an application with its data, and requests. */
export interface Trial {
  readonly world: World;
  readonly asks: readonly (Ask & Via)[];
}

/** Random trials of at most some requests. */
export function trials(most: number): fc.Arbitrary<Trial> {
  const classes = fc.record({
    root: rootClass,
    target: owned,
    listed: fc.boolean(),
    required: fc.constantFrom(false, false, false, true),
  });
  return classes.chain(({ target, ...others }) => {
    const given = { ...others, target: { ...target, copies: others.root.copies } as ClassSpec };
    const stored = (spec: ClassSpec, from: number, length: number) =>
      fc.tuple(...Array.from({ length }, (_, place) => docs(spec, { depth: 0, id: from + place })))
        .map((list) => list.map((each): Doc => ({ ...each, __v: 0 })));
    return fc.record({
      world: fc.record({
        roots: stored(given.root, 0, ROOTS),
        targets: stored(given.target, TARGETS, 4),
      }).map((data) => ({ ...given, ...data })),
      asks: fc.array(asks(given), { minLength: 1, maxLength: most, size: "max" }),
    });
  });
}
