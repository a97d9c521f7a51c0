import { compare, type Value } from "../../q/q_judge.ts";
import { isDoc, isSeen, isText } from "./fields.ts";
import type { Ask, ClassSpec, Doc, FieldSpec, Place } from "./world.ts";

/** The sizes of pages. */
export const PAGE = { size: 3, max: 5 };

/** The fields that each parameter may name. */
export function isBadQuery({ operation, query }: Ask, { spec, list }: Place): boolean {
  const names = (kinds: string, ...others: string[]) =>
    others.concat(
      Object.entries(spec.fields).filter(([, field]) =>
        isSeen(field) && (kinds === "" || kinds.split(" ").includes(field.kind))
      ).map(([name]) => name),
    );
  const wrong: Record<string, (value: string) => boolean> = {
    select: (value) => value.split(",").some((name) => !names("", "_id").includes(name)),
    populate: (value) => !names("reference references").includes(value),
    limit: (value) => !/^[1-9]$/.test(value) || Number(value) > PAGE.max,
    sort: (value) =>
      names("text number").length === 0 ||
      !names("text number", "_id").includes(value.replace("-", "")),
    search: () => names("text").length === 0,
    after: (value) =>
      sortOf(query).replace("-", "") !== "_id" && !list.some(({ _id }) => _id === value),
  };
  const allowed = operation === "all" ? Object.keys(wrong) : ["select", "populate"];
  return Object.entries(query).some(([name, value]) =>
    Object.hasOwn(wrong, name) && (!allowed.includes(name) || wrong[name]?.(value))
  );
}

export function sortOf({ sort = "_id" }: Ask["query"]): string {
  return sort;
}

/** A text without case and marks. */
export function bare(text: string): string {
  return text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
}

export function order(left: Doc, right: Doc, sort: string): number {
  const name = sort.replace("-", "");
  const sign = sort.startsWith("-") ? -1 : 1;
  const byId = compare(left._id as string, right._id as string);
  return sign * compare(left[name] ?? null, right[name] ?? null) || byId;
}

const OPERATORS = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$not"];

/** Whether a filter is refused. */
export function isBadFilter(filter: unknown, { fields }: ClassSpec): boolean {
  return !isDoc(filter) || Object.entries(filter).some(([key, said]) => {
    if (["$and", "$or", "$nor"].includes(key)) {
      return (said as Value[]).some((each) => isBadFilter(each, { fields }));
    }
    if (key === "_id") return false;
    const field = fieldAt(key.split("."), fields);
    return !field || isBadCondition(said, field);
  });
}

/** The field that a filter may name by a path. */
function fieldAt(
  [name = "", ...inside]: string[],
  fields: ClassSpec["fields"],
): FieldSpec | undefined {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (!field || !isSeen(field)) return undefined;
  if (inside.length === 0 || field.kind === "free" || field.kind === "map") return field;
  return field.of && fieldAt(inside, field.of.fields);
}

function isBadCondition(said: Value, field: FieldSpec): boolean {
  if (!isDoc(said)) return field.kind === "number" && isText(said);
  return Object.entries(said).some(([name, operand]) =>
    !OPERATORS.includes(name) ||
    (name === "$not" ? isBadCondition(operand, field) : field.kind === "number" && isText(operand))
  );
}
