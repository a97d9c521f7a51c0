/** The pairs compared further up: a cycle equals a cycle. */
type Pairs = Map<object, object>;

/** Two instances of these classes are equal if they are written alike. */
const WRITTEN: ReadonlySet<unknown> = new Set([
  RegExp.prototype,
  URL.prototype,
  URLSearchParams.prototype,
  Intl.Locale.prototype,
]);

/**
 * Prototypes count, and so does a key with `undefined`. `0` equals `-0`, `NaN` equals itself, sets and maps have no
 * order.
 */
export function equal(a: unknown, b: unknown): boolean {
  return compare(a, b, new Map());
}

function compare(a: unknown, b: unknown, pairs: Pairs): boolean {
  if (a === b || Object.is(a, b)) return true;
  if (!isObject(a) || !isObject(b)) return false;
  if (a instanceof Date && b instanceof Date) {
    return Object.is(a.getTime(), b.getTime());
  }
  if (kindOf(a) !== kindOf(b)) return false;
  return compareBytes(a, b) ?? compareWeak(a, b, pairs) ??
    compareParts(a, b, pairs);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** An object without a prototype counts as a plain one. */
function kindOf(value: object): unknown {
  return Object.getPrototypeOf(value) ?? Object.prototype;
}

function compareBytes(a: object, b: object): boolean | undefined {
  const [left, right] = [elementsOf(a), elementsOf(b)];
  if (!left || !right) return undefined;
  return left.length === right.length &&
    left.every((item, i) => item === right[i] || Object.is(item, right[i]));
}

function elementsOf(value: object): unknown[] | undefined {
  if (ArrayBuffer.isView(value)) {
    return value instanceof DataView ? undefined : Array.from(
      value as unknown as ArrayLike<unknown>,
    );
  }
  const isBuffer = value instanceof ArrayBuffer ||
    value instanceof SharedArrayBuffer;
  return isBuffer ? Array.from(new Uint8Array(value)) : undefined;
}

function compareWeak(a: object, b: object, pairs: Pairs): boolean | undefined {
  if (a instanceof WeakMap || a instanceof WeakSet) {
    const name = a instanceof WeakMap ? "WeakMap" : "WeakSet";
    throw new TypeError(`Cannot compare ${name} instances`);
  }
  return a instanceof WeakRef && b instanceof WeakRef
    ? compare(a.deref(), b.deref(), pairs)
    : undefined;
}

function compareParts(a: object, b: object, pairs: Pairs): boolean {
  if (pairs.get(a) === b) return true;
  if (Object.keys(a).length !== Object.keys(b).length) return false;
  pairs.set(a, b);
  if (isCollection(a) && isCollection(b)) {
    return compareCollections(a, b, pairs);
  }
  const prototype = Object.getPrototypeOf(a);
  if (WRITTEN.has(prototype) || isTemporal(a)) return String(a) === String(b);
  const keys = isPlain(prototype)
    ? Reflect.ownKeys({ ...a, ...b })
    : [...deepKeys(a), ...deepKeys(b)];
  return keys.every((key) =>
    (key in a) === (key in b) &&
    compare(Reflect.get(a, key), Reflect.get(b, key), pairs)
  );
}

type Collection = Set<unknown> | Map<unknown, unknown>;

function isCollection(value: object): value is Collection {
  return value instanceof Set || value instanceof Map;
}

function compareCollections(
  a: Collection,
  b: Collection,
  pairs: Pairs,
): boolean {
  if (a.size !== b.size) return false;
  const others = [...b.entries()];
  return [...a.entries()].every(([key, value]) =>
    others.some(([otherKey, otherValue]) =>
      compare(key, otherKey, pairs) && compare(value, otherValue, pairs)
    )
  );
}

function isTemporal(value: object): boolean {
  const tag: unknown = Reflect.get(value, Symbol.toStringTag);
  return typeof tag === "string" && tag.startsWith("Temporal.");
}

function isPlain(prototype: unknown): boolean {
  return prototype === null || prototype === Object.prototype ||
    prototype === Array.prototype;
}

/** Hidden and inherited ones too. */
function deepKeys(value: object): Set<string | symbol> {
  const keys = new Set<string | symbol>();
  for (
    let level: object | null = value;
    level && level !== Object.prototype && level !== Array.prototype;
    level = Object.getPrototypeOf(level)
  ) {
    Reflect.ownKeys(level).forEach((key) => keys.add(key));
  }
  return keys;
}
