import type { Shape } from "./shape.ts";

/** Gives the paths that queries leave out unless they are asked for by name: those with `select: false`. */
export function unselectedPaths(
  shape: Shape,
  prefix = "",
  seen: ReadonlySet<Shape> = new Set(),
): string[] {
  if (seen.has(shape)) return [];
  const within = new Set([...seen, shape]);
  return [...shape.fields].flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    if (!field.selected) return [path];
    const inner = field.shape ?? field.element?.shape;
    return inner === undefined ? [] : unselectedPaths(inner, `${path}.`, within);
  });
}
