/** Dates, bytes and values of the driver cannot be frozen, so callers must pass copies. */
export function freezeDeeply<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map) {
    for (const each of value.values()) freezeDeeply(each);
    return lockMap(value);
  }
  const isOpen = value instanceof Date || value instanceof RegExp || ArrayBuffer.isView(value) ||
    "_bsontype" in value;
  if (isOpen) return value;
  for (const key of Object.getOwnPropertyNames(value)) freezeDeeply(Reflect.get(value, key));
  return Object.freeze(value);
}

/** `Object.freeze()` does not prevent changes of a Map. */
function lockMap<T extends object>(map: T): T {
  for (const name of ["set", "delete", "clear"]) {
    Object.defineProperty(map, name, {
      value: () => {
        throw new TypeError(`Cannot change a field that a test gets: "${name}" of its Map`);
      },
    });
  }
  return Object.freeze(map);
}
