/** Whole strings match too, so that their digits do not count as numbers. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

const INTEGER = /^[+-]?\d+$/;

/** JavaScript changes no number with at most this many significant digits. */
const EXACT_DIGITS = 15;

/**
 * Larger integers count as exact: JavaScript writes them with an exponent, and MongoDB can store them only as doubles.
 */
const LARGEST_WRITTEN = 1e21;

/** A filter with a rounded number would select other entities. */
export interface RoundedNumbers {
  /** The first number that becomes infinite or another integer in JavaScript. */
  readonly lost: string | undefined;
  /** The numbers that JavaScript may have rounded. A field that stores more digits refuses them in a condition. */
  readonly values: ReadonlySet<number>;
}

export function findRounded(text: string): RoundedNumbers {
  const values = new Set<number>();
  let lost: string | undefined;
  for (const [token] of text.matchAll(TOKENS)) {
    if (token.startsWith('"') || isShort(token)) continue;
    const { value, isShortest, isExact } = readNumber(token);
    if (!isShortest || !isExact) values.add(value);
    if (!Number.isFinite(value) || isLostInteger(token)) lost ??= token;
  }
  return { lost, values };
}

export function isLostInteger(text: string): boolean {
  if (isShort(text) || !INTEGER.test(text)) return false;
  const { isShortest, isExact } = readNumber(text);
  return !isShortest && !isExact;
}

export function mayBeRounded(value: number): boolean {
  return isUnsafeInteger(value) && Math.abs(value) < LARGEST_WRITTEN &&
    decimalOf(String(value)).digits.length > EXACT_DIGITS;
}

export function isInexact(value: number): boolean {
  return !Number.isFinite(value) || mayBeRounded(value);
}

export function isUnsafeInteger(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

function isShort(token: string): boolean {
  return token.length <= EXACT_DIGITS && !/e/i.test(token);
}

/**
 * A large number may be written in two exact forms: the shortest digits that identify it (`String()`), and all its
 * digits (`BigInt`).
 */
function readNumber(token: string) {
  const value = Number(token);
  if (!Number.isFinite(value)) return { value, isShortest: false, isExact: false };
  const written = keyOf(token);
  const isShortest = written === keyOf(String(value));
  const isExact = isUnsafeInteger(value) ? written === keyOf(String(BigInt(value))) : isShortest;
  return { value, isShortest, isExact };
}

function keyOf(token: string): string {
  const { sign, digits, exponent } = decimalOf(token);
  return digits === "" ? "0" : `${sign}${digits}e${exponent}`;
}

function decimalOf(token: string) {
  const [, sign = "", whole = "", fraction = "", power = "0"] =
    /^([+-]?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(token) ?? [];
  const all = whole + fraction;
  let start = 0;
  while (all[start] === "0") start++;
  let end = all.length;
  while (end > start && all[end - 1] === "0") end--;
  const exponent = Number(power) - fraction.length + all.length - end;
  return { sign: sign === "-" ? "-" : "", digits: all.slice(start, end), exponent };
}
