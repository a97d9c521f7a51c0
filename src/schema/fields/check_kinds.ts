import type { FieldShape, Shape } from "./shape.ts";
import { isSecret, shapeWithin } from "./visibility.ts";

const GUARDS = ["hidden", "readonly", "select", "apart"] as const;

/** Routes use the base model, so a field that only its discriminator hides would be shown. */
export function checkKind(
  base: Shape,
  { kind, names }: { readonly kind: Shape; readonly names: string },
): void {
  const differs = findDifference({ base, kind }, { prefix: "", visited: new Set() });
  if (differs === undefined) return;
  const { path, option } = differs;
  throw new TypeError(
    `Cannot use ${names}: the kind and the base differ in ${option} of "${path}". ` +
      `Declare "${path}" alike in both, or in the kind alone under another name`,
  );
}

interface Difference {
  readonly path: string;
  readonly option: string;
}

interface KindsContext {
  readonly prefix: string;
  readonly visited: Set<Shape>;
}

interface Compared<T> {
  readonly base: T;
  readonly kind: T;
}

function findDifference(
  { base, kind }: Compared<Shape>,
  { prefix, visited }: KindsContext,
): Difference | undefined {
  if (base === kind || visited.has(kind)) return undefined;
  visited.add(kind);
  const isOpen = base.schema?.get("strict") === false;
  for (const [name, field] of kind.fields) {
    const path = `${prefix}${name}`;
    const own = base.fields.get(name);
    const differs = own === undefined
      ? isOpen && isGuarded(field)
        ? { path, option: 'guards ("strict: false" admits it)' }
        : undefined
      : fieldDifference({ base: own, kind: field }, { path, visited });
    if (differs !== undefined) return differs;
  }
  return undefined;
}

function fieldDifference(
  { base, kind }: Compared<FieldShape>,
  { path, visited }: { readonly path: string; readonly visited: Set<Shape> },
): Difference | undefined {
  const option = GUARDS.find((name) => guardOf(base, name) !== guardOf(kind, name));
  if (option !== undefined) return { path, option: `"${option}"` };
  const [outer, inner] = [shapeWithin(base), shapeWithin(kind)];
  if (outer !== undefined && inner !== undefined) {
    return findDifference({ base: outer, kind: inner }, { prefix: `${path}.`, visited });
  }
  const guarded = [outer, inner].some((shape) => shape?.secretive || shape?.guarded);
  return guarded ? { path, option: '"type"' } : undefined;
}

function guardOf({ type, hidden }: FieldShape, name: (typeof GUARDS)[number]): unknown {
  const given: unknown = type === undefined && name === "hidden" ? hidden : type?.options[name];
  if (name === "select") return given === false;
  return given ?? false;
}

function isGuarded(field: FieldShape): boolean {
  return isSecret(field) || field.readonly || shapeWithin(field)?.guarded === true;
}
