import type { GetListParams } from "react-admin";
import type { PageModel } from "../src/admin/document.ts";
import { ApiError } from "@mongrove/mongrove/client";
import { failure } from "./failure.ts";
import { parameterOf, pluralOf } from "./fields.ts";
import { listOptions } from "./list_query.ts";
import { readHeaders } from "./session.ts";

export async function readCsv(
  model: PageModel,
  { params, list }: {
    readonly params: Pick<GetListParams, "filter" | "sort">;
    readonly list: string;
  },
): Promise<Blob> {
  const { all } = model.operations;
  const { q, search, sort, trash } = listOptions(params, model);
  const limit = parameterOf(all, "limit")?.maximum;
  const first = new URLSearchParams({
    ...q && { q: JSON.stringify(q) },
    ...search && { search },
    ...sort && { sort: sort.join(",") },
    ...trash && { trash },
    ...limit && { limit: String(limit) },
  });
  const pages: string[] = [];
  for (let query: string | undefined = `?${first}`; query !== undefined;) {
    const response: Response = await fetch(list + query, {
      headers: { ...readHeaders(), accept: "text/csv" },
    });
    const text = await response.text();
    if (!response.ok) {
      throw failure(`load ${pluralOf(model).toLowerCase()}`, errorOf(response, text));
    }
    // Each page repeats the line with the names of the columns, which have no line breaks.
    pages.push(pages.length === 0 ? text : text.slice(text.indexOf("\n") + 1));
    const [, next] =
      /<[^<>?]*(\?[^<>]*)>\s*;[^<]*\brel="?next\b/.exec(response.headers.get("link") ?? "") ?? [];
    query = next;
  }
  return new Blob(pages, { type: "text/csv" });
}

function errorOf({ status }: Response, text: string): ApiError {
  try {
    return new ApiError(status, JSON.parse(text));
  } catch {
    return new ApiError(status, text);
  }
}
