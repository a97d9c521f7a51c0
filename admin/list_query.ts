import type { GetListParams } from "react-admin";
import type { PageModel, PageRoute } from "../src/admin/document.ts";
import { instantOf } from "./body.ts";
import { type Named, nameField, parameterOf } from "./fields.ts";
import type { Options } from "./page_context.ts";

/** These filters of a list are no paths of its entities. */
export const SEARCH = "$search";
export const TRASH = "$trash";
/** In a selection of references, the names contain this text. */
export const NAME_PART = "$name";
const IDS = "$ids";

export type Comparison = "is" | "has" | "from" | "to";

/** A dot in the name of an input stands for an object, so the name of a filter has none. */
export function filterName(path: string, comparison: Comparison): string {
  return `${path.replaceAll(".", "/")}:${comparison}`;
}

const CONDITIONS: Readonly<Record<Comparison, (value: unknown) => unknown>> = {
  is: (value) => value,
  has: (value) => ({ $regex: escaped(String(value)), $options: "i" }),
  from: (value) => ({ $gte: boundOf(value) }),
  to: (value) => ({ $lte: boundOf(value) }),
};

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

function boundOf(value: unknown): unknown {
  return typeof value === "number" ? value : instantOf(value);
}

type Filter = Readonly<Record<string, unknown>>;

export function filterOf(filter: Filter, named: Named | undefined): object | undefined {
  const conditions = Object.entries(filter).flatMap(([name, value]) => {
    if (value === null || value === undefined) return [];
    if (typeof value === "string" && value.trim() === "") return [];
    if (name === IDS) return [{ _id: { $in: value } }];
    if (name === NAME_PART && named !== undefined && canMatchName(named)) {
      return [{ [nameField(named)]: CONDITIONS.has(value) }];
    }
    const [path = "", comparison] = name.split(":");
    const condition = CONDITIONS[comparison as Comparison];
    return condition ? [{ [path.replaceAll("/", ".")]: condition(value) }] : [];
  });
  return conditions.length > 1 ? { $and: conditions } : conditions[0];
}

export function canMatchName(named: Named): boolean {
  return named.operations.all?.filter?.some(({ path, operators }) =>
    path === nameField(named) && operators.includes("$regex")
  ) ?? false;
}

export function canChoose(route: PageRoute | undefined): boolean {
  return route?.filter?.some(({ path, operators }) =>
    path === "_id" && operators.includes("$in")
  ) ?? false;
}

export function listOptions(
  { filter = {}, sort, pagination }: Pick<GetListParams, "filter" | "sort" | "pagination">,
  named: Named,
): Options {
  const list = named.operations.all;
  const q = filterOf(filter, named);
  const search = String(filter[SEARCH] ?? (canSearch(named) && filter[NAME_PART] || "")).trim();
  const populate = populated(list);
  const sorts = sort !== undefined && parameterOf(list, "sort")?.fields?.includes(sort.field);
  const { page, perPage } = pagination ?? { page: 1, perPage: 25 };
  return {
    ...q && { q },
    ...search && { search },
    ...filter[TRASH] && parameterOf(list, "trash") && { trash: "only" as const },
    ...sorts && { sort: [sort.order === "DESC" ? `-${sort.field}` : sort.field] },
    ...parameterOf(list, "limit") && {
      skip: (page - 1) * perPage,
      limit: Math.min(perPage, parameterOf(list, "limit")?.maximum ?? perPage),
    },
    ...list?.preferences.includes("count=exact") && { count: true },
    ...populate.length > 0 && { populate },
  };
}

export function canSearch({ operations: { all } }: Named): boolean {
  return parameterOf(all, "search") !== undefined;
}

/** The references whose entities the list can show by itself. */
function populated(list: PageRoute | undefined): readonly string[] {
  return parameterOf(list, "populate")?.fields?.filter((name) => !name.includes(".")) ?? [];
}

export function chosen(
  ids: readonly unknown[],
): { readonly q: object; readonly maxAffected: number } {
  const q = filterOf({ [IDS]: ids.map(String) }, undefined) ?? {};
  return { q, maxAffected: ids.length };
}

export function pageSizes(
  { operations: { all } }: Pick<PageModel, "operations">,
): readonly number[] {
  const maximum = parameterOf(all, "limit")?.maximum ?? 100;
  const sizes = [10, 25, 50, 100].filter((size) => size <= maximum);
  return sizes.length === 0 ? [maximum] : sizes;
}
