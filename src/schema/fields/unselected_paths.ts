import type { Shape } from "./shape.ts";

const known = new WeakMap<Shape, readonly string[]>();

/** Gives the paths that queries leave out unless they are asked for by name: those with `select: false`. */
export function unselectedPaths(shape: Shape): readonly string[] {
  let paths = known.get(shape);
  if (paths === undefined) known.set(shape, paths = collect(shape, "", new Set()));
  return paths;
}

/** Gives all paths with `select: false`, those inside others included: a read that names them reads everything. */
export function wholePaths(shape: Shape): readonly string[] {
  let paths = whole.get(shape);
  if (paths === undefined) whole.set(shape, paths = collect(shape, "", new Set(), true));
  return paths;
}

const whole = new WeakMap<Shape, readonly string[]>();

function collect(
  shape: Shape,
  prefix: string,
  around: ReadonlySet<Shape>,
  all = false,
): string[] {
  if (around.has(shape)) return [];
  const within = new Set([...around, shape]);
  return [...shape.fields].flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const own = field.selected ? [] : [path];
    const inner = field.selected || all ? field.shape ?? field.element?.shape : undefined;
    return inner === undefined ? own : [...own, ...collect(inner, `${path}.`, within, all)];
  });
}
