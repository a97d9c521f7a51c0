/**
 * Returns the name of the resource of parts, such as `tickets/6a5f…/comments`, or the path of their routes. The entity
 * may be a part itself.
 */
export function partResource(resource: string, id: string, property: string): string {
  // An identifier may contain a slash, after which the name would lead to another entity or to the model itself.
  return [resource, encodeURIComponent(id), property].join("/");
}

/** `below` is the path from the model to the parts. */
export function readResource(
  name: string,
): { readonly model: string; readonly below: string; readonly properties: readonly string[] } {
  const [model = "", ...steps] = name.split("/");
  const properties = steps.filter((_, index) => index % 2 === 1);
  return { model, below: name.slice(model.length), properties };
}
