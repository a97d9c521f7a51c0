import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { shownBy } from "../projection.ts";
import type { Projection } from "../projection.ts";
import type { Filter } from "../filters.ts";
import { markCompiled } from "../filters.ts";
import type { Order } from "./read_rules.ts";

/** Completes an order: entities that are equal in all else are ordered by `_id`, which no two share. */
export function totalOrder<D>(order: Readonly<Record<string, D>>): Readonly<Record<string, D | 1>> {
  const keys = Object.keys(order);
  const last = keys.indexOf("_id");
  if (last === -1) return { ...order, _id: 1 };
  return Object.fromEntries(Object.entries(order).slice(0, last + 1));
}

/** Whether each entity has one value for each path of an order, so that a page can continue behind an entity. */
export function isOrderOfValues(
  order: Readonly<Record<string, unknown>>,
  shape: Shape,
): order is Order {
  return Object.entries(order).every(([path, direction]) =>
    (direction === 1 || direction === -1) && !mayEnterList(path, shape)
  );
}

/** Whether a path may lead through an array, whose elements have a value each. Seeking knows arrays at the end of one. */
function mayEnterList(path: string, shape: Shape): boolean {
  return fieldsOn(path, shape).slice(0, -1).some((field) =>
    field?.kind !== "object" && field?.kind !== "map"
  );
}

function fieldsOn(path: string, { fields }: Shape): (FieldShape | undefined)[] {
  const [name = "", ...names] = path.split(".");
  const found = [fields.get(name)];
  for (const inner of names) {
    const field = found.at(-1);
    found.push(field?.kind === "map" ? field.element : field?.shape?.fields.get(inner));
  }
  return found;
}

/** Whether a read shows all that an order compares. */
export function isShownOrder(
  order: Order,
  { shape, projection }: { readonly shape: Shape; readonly projection: Projection },
): boolean {
  const shows = shownBy(projection, shape);
  return Object.keys(order).every((path) => {
    const names = path.split(".");
    return fieldsOn(path, shape).every((field, index) =>
      field !== undefined && !field.hidden && shows(names.slice(0, index + 1).join("."), field)
    );
  });
}

/**
 * Gives the condition of entities that the database can sort. It refuses to sort a list if one of its entities has lists at
 * two paths: others may have stored them where single values are declared.
 */
export function sortable(order: Readonly<Record<string, unknown>>, shape: Shape): Filter {
  const paths = Object.keys(order).filter((path) => path !== "_id");
  const pairs = paths.flatMap((path, index) =>
    paths.slice(index + 1).map((other) => [path, other])
  );
  const unsortable = pairs
    .filter((pair) => !pair.every((path) => mayHoldList(path, shape)))
    .map(([one = "", other = ""]) => ({
      $and: [holdsList(one, other), holdsList(other, one)],
    }));
  return unsortable.length === 0 ? {} : { $nor: unsortable };
}

function mayHoldList(path: string, shape: Shape): boolean {
  return fieldsOn(path, shape).some((field) =>
    field?.kind !== "scalar" && field?.kind !== "object" && field?.kind !== "map"
  );
}

/** The condition of a list at a path or above it, where it does not hold the values of the other path too. */
function holdsList(path: string, other: string): Filter {
  const names = path.split(".");
  const above = names.map((_, index) => names.slice(0, index + 1).join("."));
  const own = above.filter((each) => !other.startsWith(`${each}.`));
  return { $or: own.map((each) => ({ [each]: markCompiled({ $type: ["array"] }) })) };
}
