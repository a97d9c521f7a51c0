import type { Value } from "../../q/q_judge.ts";
import { ANY, differences, FITS, isDoc, isText, isWrong, missing, patched } from "./fields.ts";
import type { ClassSpec, Doc, FieldSpec, Notes } from "./world.ts";

/** An entity of which the body has said nothing yet. */
export function fresh({ fields }: ClassSpec): Doc {
  const given = Object.entries(fields).map(([name, field]) => [name, missing(field)] as const);
  const present = given.filter((pair): pair is [string, Value] => pair[1] !== undefined);
  return { _id: ANY, ...structuredClone(Object.fromEntries(present)) };
}

/** Merges a body into an entity. */
export function merge(
  entity: Doc,
  { fields, loose, kinds }: ClassSpec,
  given: { body: Value; notes: Notes },
) {
  const { body, notes } = given;
  for (const [name, value] of Object.entries(body as Doc)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      notes.unsure ||= loose === true || kinds === true;
    } else if (field.guard !== "readonly") {
      const merged = value === null
        ? cleared(entity[name], field)
        : mergeValue(entity[name], field, { body: value, notes });
      if (merged === undefined) delete entity[name];
      else entity[name] = merged;
    }
  }
}

/** What is left of a value that the body clears: a client clears nothing that it can neither see nor set. */
function cleared(value: Value | undefined, field: FieldSpec): Value | undefined {
  const { of } = field;
  if (!of || !isDoc(value)) return structuredClone(missing(field));
  return holdsGuarded(value, of) ? emptied(value, of) : undefined;
}

function holdsGuarded(stored: Doc, { fields }: ClassSpec): boolean {
  return Object.entries(fields).some(([name, field]) => {
    const value = stored[name];
    if (value === undefined) return false;
    if (field.guard !== undefined) return differences(value, missing(field)).length > 0;
    return field.of !== undefined && isDoc(value) && holdsGuarded(value, field.of);
  });
}

/** An object without what a body may clear. */
function emptied(stored: Doc, of: ClassSpec): Doc {
  const open = Object.entries(of.fields).filter(([, { guard }]) => guard === undefined);
  const left = open.map(([name, field]) =>
    [name, field.of && cleared(stored[name], field) || missing(field)] as const
  ).filter((pair): pair is [string, Value] => pair[1] !== undefined);
  return { ...structuredClone(Object.fromEntries(left)), ...guarded(stored, of) };
}

/** What an element keeps, whatever the body says. */
function guarded(stored: Doc, { fields }: ClassSpec): Doc {
  return Object.fromEntries(
    Object.entries(stored).filter(([name]) => !fields[name] || fields[name].guard !== undefined),
  );
}

/** Drops what the body of an element replaces. */
function dropReplaced(element: Doc, { spec, body }: { spec: ClassSpec; body: Doc }): void {
  for (const [name, { kind, of, guard }] of Object.entries(spec.fields)) {
    const [stored, given] = [element[name], body[name]];
    if (!isDoc(stored) || !isDoc(given) || guard === "readonly") continue;
    if (of) dropReplaced(stored, { spec: of, body: given });
    else if (kind === "free" || kind === "map") delete element[name];
  }
}

function mergeValue(
  stored: Value | undefined,
  { kind, of }: FieldSpec,
  { body, notes }: { body: Value; notes: Notes },
): Value | undefined {
  if (kind === "map" && isDoc(body) && (stored === undefined || isDoc(stored))) {
    notes.bad ||= Object.values(body).some(isDoc);
    notes.unsure ||= Object.values(body).some((each) => each !== null && !isText(each));
    return patched(stored, body);
  }
  if (!FITS[kind](body)) {
    if (isWrong(body, kind)) notes.bad = true;
    else notes.unsure = true;
    return body;
  }
  if (kind === "free") return patched(stored, body as Doc);
  if (kind === "object" && of) {
    const entity = isDoc(stored) ? stored : fresh(of);
    merge(entity, of, { body, notes });
    return entity;
  }
  if (kind !== "objects" || !of) return body;
  return (body as Doc[]).map((each, index, all) => {
    const isFirst = all.findIndex(({ _id }) => _id === each._id) === index;
    const old = isFirst && each._id !== undefined && Array.isArray(stored)
      ? stored.filter(isDoc).find(({ _id }) => _id === each._id)
      : undefined;
    const element = old ? { ...fresh(of), ...guarded(old, of) } : fresh(of);
    for (const [name, field] of Object.entries(of.fields)) {
      const inner = old?.[name];
      if (!field.of || !isDoc(inner) || field.guard !== undefined) continue;
      const left = isDoc(each[name]) ? emptied(inner, field.of) : cleared(inner, field);
      if (left !== undefined) element[name] = isDoc(left) ? { ...fresh(field.of), ...left } : left;
    }
    dropReplaced(element, { spec: of, body: each });
    merge(element, of, { body: each, notes });
    return element;
  });
}
