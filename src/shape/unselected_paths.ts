import type { Shape } from "./shape.ts";

const known = new WeakMap<Shape, readonly string[]>();

/** Gives the paths that queries leave out unless they are asked for by name: those with `select: false`. */
export function unselectedPaths(shape: Shape): readonly string[] {
  let paths = known.get(shape);
  if (paths === undefined) known.set(shape, paths = collect(shape, "", new Set()));
  return paths;
}

function collect(shape: Shape, prefix: string, around: ReadonlySet<Shape>): string[] {
  if (around.has(shape)) return [];
  const within = new Set([...around, shape]);
  return [...shape.fields].flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    if (!field.selected) return [path];
    const inner = field.shape ?? field.element?.shape;
    return inner === undefined ? [] : collect(inner, `${path}.`, within);
  });
}
