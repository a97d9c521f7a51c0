import { assertEquals } from "./equals.ts";

type Loose = Record<PropertyKey, unknown>;
type Seen = Map<unknown, unknown>;

export function assertObjectMatch(
  // An index signature of `unknown` would refuse interfaces.
  // deno-lint-ignore no-explicit-any
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void {
  assertEquals(
    pickObject(actual, expected, new Map()),
    pickObject(expected, expected, new Map()),
    msg,
  );
}

/** Keeps only the parts of `value` that `shape` has. Classes become plain objects. */
function pick(value: unknown, shape: unknown, seen: Seen): unknown {
  if (value instanceof RegExp || value instanceof Date) return value;
  if (!isObject(value) || !isObject(shape)) return value;
  if (Array.isArray(value) && Array.isArray(shape)) {
    return pickArray(value, shape, seen);
  }
  if (value instanceof Map && shape instanceof Map) {
    return new Map(
      [...value].filter(([key]) => shape.has(key)).map(([key, item]) => {
        const other = shape.get(key);
        const both = isObject(item) && isObject(other);
        return [key, both ? pickObject(item, other, seen) : item];
      }),
    );
  }
  if (value instanceof Set && shape instanceof Set) {
    return value.intersection(shape);
  }
  return pickObject(value, shape, seen);
}

function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null;
}

function pickObject(value: Loose, shape: Loose, seen: Seen): Loose {
  if (!isObject(value)) {
    throw new TypeError(
      `Cannot assertObjectMatch ${value === null ? null : `type ${typeof value}`}`,
    );
  }
  if (seen.get(value) === shape) return value;
  seen.set(value, shape);
  const picked: Loose = {};
  const keys = Reflect.ownKeys(value);
  const shapeKeys = Reflect.ownKeys(shape);
  const shared = keys.filter((key) => shapeKeys.includes(key));
  // Without anything in common, all of it is shown, so that the comparison fails.
  const isStranger = keys.length && shapeKeys.length && !shared.length;
  for (const key of isStranger ? keys : shared) {
    Object.defineProperty(picked, key, {
      value: isStranger ? value[key] : pick(value[key], shape[key], seen),
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
  return picked;
}

function pickArray(
  value: unknown[],
  shape: unknown[],
  seen: Seen,
): unknown[] {
  if (seen.get(value) === shape) return value;
  seen.set(value, shape);
  return value.slice(0, shape.length)
    .map((item, i) => pick(item, shape[i], seen));
}
