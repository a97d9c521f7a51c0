/** Cursors of this model show no reply, as with another driver, and return decoded documents. */
export function withoutReplies<M extends object>(model: M): M {
  return replacing(
    model,
    "collection",
    (collection: object) =>
      replacing(collection, "find", (find: (...given: unknown[]) => object) => {
        return (...given: unknown[]) =>
          replacing(find.apply(collection, given), "documents", () => undefined);
      }),
  );
}

/** Methods get the object itself, because they read its private members. */
function replacing<T extends object, V>(
  object: T,
  name: string,
  replace: (value: V) => unknown,
): T {
  return new Proxy(object, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (key === name) return replace(value as V);
      return typeof value === "function" && key !== "prototype" ? value.bind(target) : value;
    },
  });
}
