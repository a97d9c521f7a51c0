import type { PageModel } from "../src/admin/document.ts";

/** Returns the name of the resource with the entities of a part, such as `tickets/6a5f…/comments`. */
export function partResource(
  { name }: Pick<PageModel, "name">,
  id: string,
  property: string,
): string {
  // An identifier may contain a slash, after which the name would lead to another entity or to the model itself.
  return [name, encodeURIComponent(id), property].join("/");
}

/** Reads the name of a resource. The identifier is encoded as in a path. */
export function readResource(name: string): { model: string; id: string; property: string } {
  const [model = "", id = "", property = ""] = name.split("/");
  return { model, id, property };
}
