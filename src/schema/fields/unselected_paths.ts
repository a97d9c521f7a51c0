import type { Shape } from "./shape.ts";

const known = new WeakMap<Shape, readonly string[]>();

/** Gives the paths that queries leave out unless they are asked for by name: those with `select: false`. */
export function unselectedPaths(shape: Shape): readonly string[] {
  let paths = known.get(shape);
  if (paths === undefined) known.set(shape, paths = collect(shape, { all: false }));
  return paths;
}

/** Gives all paths with `select: false`, those inside others included: a read that names them reads everything. */
export function wholePaths(shape: Shape): readonly string[] {
  let paths = whole.get(shape);
  if (paths === undefined) whole.set(shape, paths = collect(shape, { all: true }));
  return paths;
}

const whole = new WeakMap<Shape, readonly string[]>();

interface Spot {
  readonly prefix?: string;
  readonly around?: ReadonlySet<Shape>;
  /** Whether those inside others count as well. */
  readonly all: boolean;
}

function collect(shape: Shape, { prefix = "", around = new Set(), all }: Spot): string[] {
  if (around.has(shape)) return [];
  const within = new Set([...around, shape]);
  return [...shape.fields].flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const own = field.selected ? [] : [path];
    const inner = field.selected || all ? field.shape ?? field.element?.shape : undefined;
    if (inner === undefined) return own;
    return [...own, ...collect(inner, { prefix: `${path}.`, around: within, all })];
  });
}
