/**
 * Says what a reader may see and what a write may change, after the documentation alone: shares no code with the library.
 */
import { selects, type Value } from "../../q/q_judge.ts";
import { ANY, FITS, isDoc, isId, isSeen, isText, missing } from "./fields.ts";
import { fresh, merge } from "./merge.ts";
import { bare, isBadFilter, isBadQuery, order, PAGE, sortOf } from "./parameters.ts";
import type {
  Ask,
  Chosen,
  ClassSpec,
  Copies,
  Doc,
  FieldSpec,
  Notes,
  Place,
  Verdict,
  World,
} from "./world.ts";

const SUCCESS = { all: 200, one: 200, create: 201, update: 200, remove: 204, removeAll: 204 };

/** What a reader sees of an entity. */
export function show(
  doc: Doc,
  { fields, loose, virtual, kinds, copies = "itself" }: ClassSpec,
): Doc {
  const others = Object.keys(doc).filter((name) =>
    !Object.hasOwn(fields, name) && (loose || name === "_id" || name === "__v")
  );
  const shown: Doc = Object.fromEntries(others.map((name) => [name, doc[name] as Value]));
  if (virtual) shown.label = copies === "itself" ? "label" : ANY;
  if (copies === "beside" || copies === "text") shown.beside = ANY;
  if (kinds) Object.assign(shown, { __t: ANY, extra: ANY });
  for (const [name, field] of Object.entries(fields)) {
    const value = get(showValue(doc[name], field), { field, copies });
    if (isSeen(field) && value !== undefined) shown[name] = value;
  }
  return shown;
}

function showValue(value: Value | undefined, field: FieldSpec): Value | undefined {
  if (value === undefined) return missing(field);
  if (value === null) return null;
  if (!FITS[field.kind](value)) return ANY;
  if (field.kind === "object" && field.of) return show(value as Doc, field.of);
  const { of } = field;
  return field.kind === "objects" && of ? (value as Doc[]).map((each) => show(each, of)) : value;
}

/** What a getter makes of a value; hooks may give what is stored instead. */
function get(
  value: Value | undefined,
  { field, copies }: { field: FieldSpec; copies: Copies },
): Value | undefined {
  if (!field.getter || !isText(value) || value === ANY) return value;
  return copies === "itself" ? value.toUpperCase() : ANY;
}

/** Whether all of what is stored fits its fields. */
function isSound(doc: Doc, { fields }: ClassSpec): boolean {
  return Object.entries(fields).every(([name, { kind, of }]) => {
    const value = doc[name];
    if (value === undefined) return true;
    if (value === null || !FITS[kind](value)) return false;
    return !of || [value].flat().every((each) => isSound(each as Doc, of));
  });
}

function placeOf({ root, target, roots, targets }: World, { tenant, part, id }: Ask): Place {
  const within = (spec: ClassSpec, docs: Doc[]) =>
    docs.filter(({ owner }) => !spec.scoped || owner === tenant);
  const list = within(root, roots);
  if (part === undefined) return { spec: root, list };
  const parent = list.find(({ _id }) => _id === id);
  const { kind, of } = root.fields[part] as FieldSpec;
  const value = parent?.[part];
  const held = kind === "object" && !isDoc(value) ? [] : [value ?? []].flat();
  const linked = () => within(target, targets).filter(({ _id }) => held.includes(_id as string));
  return { spec: of ?? target, list: of ? within(of, held.filter(isDoc)) : linked(), parent, kind };
}

/** Judges a request. */
export function judge(before: World, ask: Ask): Verdict {
  const { operation, part, q = {} } = ask;
  const after = operation === "all" || operation === "one" ? before : copyOf(before);
  const at = placeOf(after, ask);
  const notes = { bad: false, unsure: false };
  const isListed = part === undefined && after.listed;
  if (part !== undefined && !at.parent) return refused(after, 404, 400);
  if (operation !== "create" && isBadFilter(q, at.spec)) return refused(after, 400, 404);
  const chosen = at.list.filter((each) => operation === "create" || selects(q, each));
  const id = part === undefined ? ask.id : ask.subId;
  const needsOne = ["one", "update", "remove"].includes(operation);
  const isIt = ({ _id }: Doc) => needsOne && (at.kind === "object" || _id === id);
  const entity = chosen.find(isIt);
  if (isListed && (operation === "all" || operation === "one")) {
    if (isBadQuery(ask, at)) return refused(after, 400, needsOne && !entity ? 404 : 400);
  } else if (operation === "removeAll" && Object.keys(ask.query).length > 0) {
    return refused(after, 400);
  }
  if (needsOne && !entity) return refused(after, 404, 400);
  if (operation === "all" || operation === "one") return read(after, ask, { at, chosen, entity });
  notes.unsure = (part !== undefined || operation === "update") &&
    [at.parent ?? [], entity ?? chosen].flat().some((each, index) =>
      !isSound(each, index === 0 && at.parent ? after.root : at.spec)
    );
  const status = write(after, ask, { at, chosen, entity, notes });
  const open = notes.unsure ? [400, 403, 409, SUCCESS[operation]] : status === 400 ? [409] : [];
  const shown = (stored: World) => {
    const { list, kind } = placeOf(stored, ask);
    const now = kind === "object" || operation === "create"
      ? list.at(-1)
      : list.find(({ _id }) => _id === entity?._id);
    return now && show(now, at.spec);
  };
  return { ...refused(after, status, ...open), unsure: notes.unsure, shown };
}

function copyOf(world: World): World {
  const [roots, targets] = structuredClone([world.roots, world.targets] as const);
  return { ...world, roots, targets };
}

function refused(after: World, ...statuses: number[]): Verdict {
  return { statuses, after, unsure: false, total: 0, selected: [], shown: () => undefined };
}

function read(world: World, ask: Ask, { at, chosen, entity }: Chosen): Verdict {
  const isListed = ask.part === undefined && world.listed;
  const query: Ask["query"] = isListed ? ask.query : {};
  const { limit = PAGE.size, after, search = "", select, populate } = query;
  const fields = Object.entries(at.spec.fields);
  const texts = fields.filter(([, field]) => field.kind === "text" && isSeen(field));
  const found = chosen.filter((doc) =>
    search === "" ||
    texts.some(([name]) => isText(doc[name]) && bare(doc[name]).includes(bare(search)))
  ).toSorted((left, right) => order(left, right, sortOf(query)));
  const last = world.roots.find(({ _id }) => _id === after) ?? { _id: after ?? "" };
  const rest = after === undefined
    ? found
    : found.filter((each) => order(each, last, sortOf(query)) > 0);
  const render = (doc: Doc) => {
    const shown = show(doc, at.spec);
    if (populate !== undefined && shown[populate] !== undefined) {
      shown[populate] = populated(shown[populate], world, ask);
    }
    const names = ["_id", ...select?.split(",") ?? Object.keys(shown)];
    return Object.fromEntries(Object.entries(shown).filter(([name]) => names.includes(name)));
  };
  const page = at.kind === "objects" || !isListed ? chosen : rest.slice(0, Number(limit));
  const shown = () => entity && ask.operation === "one" ? render(entity) : page.map(render);
  return { ...refused(world, 200), total: found.length, selected: chosen, shown };
}

function populated(value: Value, { target, targets }: World, { tenant }: Ask): Value {
  if (Array.isArray(value)) {
    return value.map((each) => populated(each, { target, targets } as World, { tenant } as Ask))
      .filter((each) => each !== null);
  }
  if (!isId(value)) return value === null ? null : ANY;
  const found = targets.find(({ _id }) => _id === value);
  return found && (!target.scoped || found.owner === tenant) ? show(found, target) : null;
}

/** Does a write; gives its status. */
function write(world: World, ask: Ask, { at, chosen, entity, notes }: Chosen & { notes: Notes }) {
  const { operation, part, match, body, tenant } = ask;
  if ((operation === "create" || operation === "update") && !isDoc(body)) return 400;
  const versioned = part !== undefined && at.kind !== "references" ? at.parent : entity;
  if (entity && match === undefined && world.required && part === undefined) return 428;
  if (entity && typeof match === "number" && match !== versioned?.__v) return 412;
  if (operation === "create" || operation === "update") {
    const isTaken = operation === "create" && at.kind === "object" &&
      isDoc(at.parent?.[part ?? ""]);
    const made = entity ?? fresh(at.spec);
    merge(made, at.spec, { body, notes });
    if (notes.bad) return 400;
    if (at.spec.scoped && made.owner !== tenant) return 403;
    if (isTaken) return 409;
    place(world, at, { part, made, isNew: !entity });
    return SUCCESS[operation];
  }
  const gone = operation === "remove" ? [entity] : chosen;
  const isLeft = (each: Value) =>
    !gone.includes(each as Doc) && !gone.some((doc) => doc?._id === each);
  if (at.parent && part !== undefined && gone.length > 0) {
    if (at.kind === "object") delete at.parent[part];
    else at.parent[part] = (at.parent[part] as Value[]).filter(isLeft);
    raise(at.parent);
  }
  for (const list of [world.roots, world.targets]) {
    list.splice(0, list.length, ...list.filter(isLeft) as Doc[]);
  }
  return SUCCESS[operation];
}

/** Puts what a create or an update has made where it belongs. */
function place(
  world: World,
  { parent, kind }: Place,
  { part, made, isNew }: { part: string | undefined; made: Doc; isNew: boolean },
) {
  const isStored = parent === undefined || kind === "references";
  if (isStored && isNew) {
    (parent ? world.targets : world.roots).push(Object.assign(made, { __v: 0 }));
  } else raise(isStored ? made : parent);
  if (!parent || part === undefined || !isNew) return;
  if (kind === "references") raise(parent);
  parent[part] = kind === "object"
    ? made
    : [...[parent[part] ?? []].flat(), kind === "references" ? ANY : made];
}

function raise(doc: Doc) {
  doc.__v = Number(doc.__v) + 1;
}
