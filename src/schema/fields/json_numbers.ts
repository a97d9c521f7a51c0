/** Strings, which are passed over, and numbers of a JSON text. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

const INTEGER = /^[+-]?\d+$/;

/** Every decimal number of so many digits has a number of its own in JavaScript. */
const EXACT_DIGITS = 15;

/** From here on JavaScript writes integers with an exponent, and no integer type of the database reaches as far. */
const LARGEST_WRITTEN = 1e21;

/** The numbers of a JSON text that JavaScript does not hold as they are written. */
export interface RoundedNumbers {
  /** The first number that is infinite in JavaScript, or an integer that is another one. */
  readonly lost: string | undefined;
  /** The values of all numbers that may have other digits in JavaScript. */
  readonly values: ReadonlySet<number>;
}

/** Finds the numbers in a valid JSON text that JavaScript rounds. */
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

/** Whether a text is an integer that JavaScript neither holds exactly nor writes with these digits. */
export function isLostInteger(text: string): boolean {
  if (isShort(text) || !INTEGER.test(text)) return false;
  const { isShortest, isExact } = readNumber(text);
  return !isShortest && !isExact;
}

/**
 * Whether a number of a parsed body may be another one than the client has written: its integers beyond 2^53 have no digits
 * to spare. Numbers of few digits, such as 1.5e20, and those with an exponent, such as 1e300, count as written.
 */
export function mayBeRounded(value: number): boolean {
  return isUnsafeInteger(value) && Math.abs(value) < LARGEST_WRITTEN &&
    decimalOf(String(value)).digits.length > EXACT_DIGITS;
}

export function isUnsafeInteger(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

function isShort(token: string): boolean {
  return token.length <= EXACT_DIGITS && !/e/i.test(token);
}

/** Reads a number. JavaScript writes the shortest digits that lead back to it, which may differ from its exact value. */
function readNumber(token: string) {
  const value = Number(token);
  if (!Number.isFinite(value)) return { value, isShortest: false, isExact: false };
  const written = keyOf(token);
  const isShortest = written === keyOf(String(value));
  const isExact = isUnsafeInteger(value) ? written === keyOf(String(BigInt(value))) : isShortest;
  return { value, isShortest, isExact };
}

/** Writes the decimal value of a number in one form for all its spellings. */
function keyOf(token: string): string {
  const { sign, digits, exponent } = decimalOf(token);
  return digits === "" ? "0" : `${sign}${digits}e${exponent}`;
}

/** Splits a number into its digits, without zeros around them, and the exponent of the last digit. */
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
