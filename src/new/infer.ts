import { Seen } from "./seen.ts";

const SCALARS: ReadonlySet<string> = new Set([
  ...["String", "Number", "Boolean", "Date", "ObjectId", "Decimal128", "UUID", "Buffer", "BigInt"],
]);

const IDENTIFIERS: ReadonlySet<string> = new Set(["ObjectId", "String", "Number", "UUID"]);

/** A field or a type with a smaller share of the values is not declared. */
const MIN_SHARE = 0.01;

const MAX_DEPTH = 6;

/** Names of fields that no answer must contain. */
const SECRET =
  /passw|pass_?(?:phrase|code|key)|(?:^|_|user)pass$|pwd|token|secret|hash(?!_?tag)|salt(?!y|ed)|(?:api|private|access|signing)_?key|credential/i;

export interface ValueType {
  /** A type of Mongoose, `Map`, `Class`, or `Object` for any value. */
  readonly kind: string;
  /** The values of a `Map`. */
  readonly of?: ValueType;
  readonly fields?: readonly Field[];
  /** The type of the `_id` of a `Class`. */
  readonly id?: string;
}

export interface Field extends ValueType {
  readonly name: string;
  readonly isList: boolean;
  readonly required: boolean;
  readonly hidden: boolean;
  /** The collection that most identifiers of the field are in. */
  ref?: string | undefined;
  readonly identifiers: readonly unknown[];
}

export interface InferOptions {
  note(path: string, text: string): void;
  isReserved(name: string): boolean;
}

interface Place extends InferOptions {
  readonly seen: Seen;
  readonly path: string;
  readonly depth: number;
}

/** Returns `undefined` if no model can have such an `_id`. */
export function identifierOf(seen: Seen): string | undefined {
  const [kind = "", ...others] = seen.fields.get("_id")?.kinds.keys() ?? [];
  return others.length === 0 && IDENTIFIERS.has(kind) ? kind : undefined;
}

export function fieldsOf(seen: Seen, options: InferOptions): Field[] {
  return declaredFields({ ...options, seen, path: "", depth: 0 });
}

function declaredFields({ seen, ...place }: Place): Field[] {
  const objects = seen.kinds.get("Object") ?? 0;
  return seen.sortedFields.flatMap(([name, values]) => {
    if (name === "_id" || name === "__v" && place.depth === 0) return [];
    const path = place.path === "" ? name : `${place.path}.${name}`;
    const refuse = (reason: string) => {
      place.note(path, `${countsOf(values)}: not declared, ${reason}`);
      return [];
    };
    if (values.count < objects * MIN_SHARE) {
      return refuse(`in ${values.count} of ${objects} objects only`);
    }
    if (/^$|^\$|[.\0]|^…$|^_bsontype$/.test(name)) return refuse("no field can have the name");
    if (name === "__v") return refuse("classes have a member of the name");
    if (place.isReserved(name)) return refuse("Mongoose's documents have a member of the name");
    const type = typeOf({ ...place, seen: values, path, depth: place.depth + 1 });
    if (typeof type === "string") return refuse(type);
    const hidden = SECRET.test(name) || type.kind === "Object" && holdsSecret(values) ||
      type.kind === "Map" && (type.of ? namesSecret(values) : holdsSecret(values));
    if (hidden) place.note(path, "hidden, because of its name or a name in it");
    const present = values.count - (values.kinds.get("Null") ?? 0);
    const required = present === objects && !values.hasEmpty && !type.several;
    const [list = values] = values.elements;
    const identifiers = [...list.identifiers.values()];
    return [{ name, ...type, required, hidden, identifiers }];
  });
}

function namesSecret(seen: Seen): boolean {
  return [...seen.fields.keys()].some((name) => SECRET.test(name));
}

function holdsSecret(seen: Seen): boolean {
  return namesSecret(seen) || [...seen.fields.values(), ...seen.elements].some(holdsSecret);
}

interface Inferred extends ValueType {
  readonly isList: boolean;
  /** Whether values have different types, so that the field is not required. */
  readonly several: boolean;
}

/** Returns the type of a field, or the reason why it has none. */
function typeOf(place: Place): Inferred | string {
  const { seen } = place;
  const kinds = new Map(seen.sortedKinds);
  kinds.delete("Null");
  const numbers = kinds.get("Number");
  if (numbers !== undefined && kinds.has("BigInt") && !seen.hasFraction) {
    kinds.set("BigInt", numbers + (kinds.get("BigInt") ?? 0));
    kinds.delete("Number");
  }
  const [[kind, count] = ["", 0], ...others] = [...kinds].sort(([, a], [, b]) => b - a);
  if (kind === "") return "no value tells its type";
  const several = others.length > 0;
  const rest = others.reduce((sum, [, each]) => sum + each, 0);
  const type = rest < (count + rest) * MIN_SHARE
    ? typeOfKind(kind, place)
    : listOrValue(kinds, place) ?? ANY;
  if (several && typeof type !== "string") {
    place.note(place.path, `${countsOf(seen)}: declared as ${typeText(type)}`);
  }
  return typeof type === "string" ? type : { ...type, several };
}

const ANY = { kind: "Object", isList: false } as const;

type Typed = Omit<Inferred, "several">;

/** Mongoose casts a single value to a list, so both together are declared as a list. */
function listOrValue(kinds: ReadonlyMap<string, number>, place: Place) {
  const [elements] = place.path.endsWith("[]") ? [] : place.seen.elements;
  const [other = "", ...more] = [...kinds.keys()].filter((kind) => kind !== "Array");
  const isOne = elements && more.length === 0 && SCALARS.has(other) &&
    [...elements.kinds.keys()].every((kind) => kind === other || kind === "Null");
  return isOne ? typeOfKind("Array", place) : undefined;
}

function typeOfKind(kind: string, place: Place): Typed | string {
  if (kind === "Array") return listOf(place);
  if (kind === "Object") return { ...objectType(place), isList: false };
  return SCALARS.has(kind) ? { kind, isList: false } : `the type ${kind} cannot be declared`;
}

function listOf(place: Place): Typed {
  const [elements = new Seen()] = place.seen.elements;
  if (elements.count === 0) {
    place.note(place.path, "all lists are empty: declared as a list of any values");
    return { kind: "Object", isList: true };
  }
  const type = typeOf({ ...place, seen: elements, path: `${place.path}[]` });
  const isKnown = typeof type !== "string" && !type.isList && type.kind !== "Map";
  return isKnown ? { ...type, isList: true } : { kind: "Object", isList: true };
}

function objectType(place: Place): ValueType {
  const { seen } = place;
  if (seen.fields.size === 0 || place.depth > MAX_DEPTH) return { kind: "Object" };
  if (namesVary(seen)) return mapOf(place);
  const fields = declaredFields(place);
  if (fields.length === 0) return { kind: "Object" };
  const id = seen.fields.has("_id") ? identifierOf(seen) : undefined;
  if (id === undefined && seen.fields.has("_id")) {
    place.note(`${place.path}._id`, `${countsOf(seen.fields.get("_id"))}: not declared`);
  }
  return { kind: "Class", fields, ...id !== undefined && { id } };
}

const DATA = /^(\d[\d.:/-]*|[\da-f]{24}|[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|.+@.+)$/i;

/** Whether the names of fields are data, such as dates, so that the type is a Map. */
function namesVary({ fields, kinds }: Seen): boolean {
  const names = [...fields.keys()];
  const values = [...fields.values()];
  if (names.every((name) => DATA.test(name)) || names.length > 200) return true;
  const present = values.reduce((sum, { count }) => sum + count, 0);
  const share = present / (names.length * (kinds.get("Object") ?? 1));
  // Many values with equal fields belong to a Map, such as translations by language.
  const forms = new Set(values.map((each) => [...each.fields.keys()].sort().join("\0")));
  return names.length > 10 && (share < 0.2 || forms.size === 1 && !forms.has(""));
}

function mapOf({ seen, ...place }: Place): ValueType {
  if ([...seen.fields.keys()].some((name) => /^\$|\.|^…$/.test(name))) return { kind: "Object" };
  const values = new Seen();
  for (const each of seen.fields.values()) values.merge(each);
  const type = typeOf({ ...place, seen: values, path: `${place.path}.*` });
  const isKnown = typeof type !== "string" && !type.isList &&
    !["Map", "Object"].includes(type.kind);
  return isKnown ? { kind: "Map", of: type } : { kind: "Map" };
}

function countsOf(seen: Seen | undefined): string {
  return (seen?.sortedKinds ?? []).map(([kind, count]) => `${count} ${kind}`).join(", ");
}

export function typeText(type: ValueType & { readonly isList?: boolean }): string {
  const { kind, of, isList } = type;
  const word = {
    Object: "any values",
    Class: "objects",
    Map: `Map of ${of ? typeText(of) : "any values"}`,
  }[kind] ?? kind;
  return isList ? `list of ${word}` : word;
}
