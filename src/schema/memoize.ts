export function memoize<K extends object, V extends NonNullable<unknown>>(
  compute: (key: K) => V,
): (key: K) => V {
  const results = new WeakMap<K, V>();
  return (key) => {
    let result = results.get(key);
    if (result === undefined) results.set(key, result = compute(key));
    return result;
  };
}
