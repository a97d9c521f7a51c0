/**
 * Matches the strings and the numbers of a JSON text, to find the numbers that JavaScript rounds. Strings are matched
 * as a whole, so that digits in a string do not match as a number.
 */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

const INTEGER = /^[+-]?\d+$/;

/**
 * The number of significant digits up to which every decimal number has a distinct number in JavaScript. A number with
 * at most this many digits is not changed by JavaScript.
 */
const EXACT_DIGITS = 15;

/**
 * The limit from which JavaScript writes integers with an exponent, such as `1e21`. No integer type of the database
 * reaches this limit, so an integer from this limit on is accepted although JavaScript may have rounded it.
 */
const LARGEST_WRITTEN = 1e21;

/**
 * The numbers of a JSON text that JavaScript rounds when it parses the text. A filter with a rounded number would
 * select other entities than the client wants.
 */
export interface RoundedNumbers {
  /**
   * The first number that becomes infinite or another integer in JavaScript, as text for the error message. A filter
   * with such a number is refused. `undefined` if the text has no such number.
   */
  readonly lost: string | undefined;
  /**
   * The parsed values of all numbers whose digits may differ from the digits in the JSON text. A filter with such a
   * number is refused for fields that store more digits than JavaScript, such as `Decimal128`.
   */
  readonly values: ReadonlySet<number>;
}

/**
 * Finds the numbers that JavaScript rounds in a valid JSON text. `JSON.parse()` would round these numbers without an
 * error.
 */
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

/**
 * Whether a text is an integer that JavaScript cannot hold exactly and would write with other digits, so that a cast
 * would change the integer.
 */
export function isLostInteger(text: string): boolean {
  if (isShort(text) || !INTEGER.test(text)) return false;
  const { isShortest, isExact } = readNumber(text);
  return !isShortest && !isExact;
}

/**
 * Whether a number of a parsed body may differ from the number in the JSON text, because the JSON parser may have
 * rounded it. Such a number is an integer beyond 2^53 with more than 15 significant digits. Numbers with few digits,
 * such as 1.5e20, and integers from 1e21 on, such as 1e300, are accepted.
 */
export function mayBeRounded(value: number): boolean {
  return isUnsafeInteger(value) && Math.abs(value) < LARGEST_WRITTEN &&
    decimalOf(String(value)).digits.length > EXACT_DIGITS;
}

/** Whether a number of a parsed body is infinite, or may differ from the number that the client has written. */
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
 * Reads a number and compares the digits of its text with JavaScript's digits, to find out whether JavaScript has
 * changed the number. `String()` writes the shortest digits that identify a number. These digits may differ from the
 * exact value of the number, so both are compared.
 */
function readNumber(token: string) {
  const value = Number(token);
  if (!Number.isFinite(value)) return { value, isShortest: false, isExact: false };
  const written = keyOf(token);
  const isShortest = written === keyOf(String(value));
  const isExact = isUnsafeInteger(value) ? written === keyOf(String(BigInt(value))) : isShortest;
  return { value, isShortest, isExact };
}

/**
 * Returns a text that is equal for all spellings of the same decimal value, such as `1.0` and `1`, so that another
 * spelling does not count as another number.
 */
function keyOf(token: string): string {
  const { sign, digits, exponent } = decimalOf(token);
  return digits === "" ? "0" : `${sign}${digits}e${exponent}`;
}

/**
 * Splits the text of a number into its sign, its digits without leading and trailing zeros, and the exponent of its
 * last digit. The result is the same for equal numbers.
 */
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
