import type { FieldShape, Shape } from "./shape.ts";

/** Tells whether a field is a secret, or holds one: what is hidden or not selected. */
export function isSecret({ hidden, selected, shape, element }: FieldShape): boolean {
  return hidden || !selected || shape?.secretive === true ||
    (element !== undefined && isSecret(element));
}

/** Gives what keeps clients from seeing a field, if anything. */
export function whyUnseen(field: FieldShape | undefined): string | undefined {
  if (field === undefined) return "is no field";
  if (field.hidden) return "is hidden";
  return field.selected ? undefined : "is not selected";
}

/** Tells whether a path leads to a secret or through one, positions in arrays and keys of Maps aside. */
export function isHiddenPath(path: string, shape: Shape): boolean {
  let current: Shape | undefined = shape;
  let known = false;
  let isKey = false;
  for (const segment of path.split(".")) {
    if (isKey) {
      isKey = false;
      continue;
    }
    const field: FieldShape | undefined = current?.fields.get(segment);
    if (field === undefined) continue;
    if (field.hidden || !field.selected) return true;
    current = field.shape ?? field.element?.shape;
    known = true;
    // A client names the keys of a map: one may be called like a field.
    isKey = field.kind === "map";
  }
  return known && current?.secretive === true;
}

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
