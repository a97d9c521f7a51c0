/** Gives random values that depend on a seed alone. */
export function randomFrom(seed: number) {
  let state = seed >>> 0;
  /** A number from 0 to 1, by mulberry32. */
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (below: number) => Math.floor(next() * below);
  return {
    whole,
    pick: <T>(values: readonly T[]): T => values[whole(values.length)] as T,
    maybe: (value: () => object): object => next() < 0.8 ? value() : {},
    bytes: (length: number) => Array.from({ length }, () => whole(256)),
  };
}
