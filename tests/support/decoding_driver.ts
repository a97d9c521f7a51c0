/** A model whose cursors show no reply, as those of another driver might: it gives decoded documents. */
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

/** The same object, but for one member. Methods get the object itself: they read what is private to it. */
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
