import mongoose from "mongoose";

const { Decimal128, Double, Int32, Long, ObjectId } = mongoose.mongo;

/** What is stored, as the driver shows it without making numbers of it. */
export type Stored = Record<string, unknown>;

/** What is asked of groups. */
export interface Asked {
  /** The fields to group by. */
  readonly by: readonly string[];
  /** The fields to sum up. */
  readonly sum: readonly string[];
  /** The fields to average. */
  readonly avg: readonly string[];
}

const UNITS: Readonly<Record<string, number>> = { year: 4, at: 7, day: 10 };

const DECIMALS = new Set(["price"]);

/** Computes groups in the process, by nothing that the framework or the database has. */
export function groupsOf(docs: readonly Stored[], { by, sum, avg }: Asked): Stored[] {
  const groups = new Map<string, { keys: unknown[]; docs: Stored[] }>();
  for (const doc of docs) {
    const keys = by.map((name) => keyOf(doc[name], UNITS[name]));
    if (keys.includes(MISFIT)) continue;
    const name = JSON.stringify(keys.map((key) => [typeof key, key]));
    const group = groups.get(name) ?? { keys, docs: [] };
    groups.set(name, group);
    group.docs.push(doc);
  }
  return [...groups.values()].map(({ keys, docs }) => ({
    ...Object.fromEntries(by.map((name, index) => [name, keys[index]])),
    count: docs.length,
    ...sum.length > 0 && { sum: totals(sum, (name) => sumOf(docs, name)) },
    ...avg.length > 0 && { avg: totals(avg, (name) => averageOf(docs, name)) },
  }));
}

function totals(names: readonly string[], total: (name: string) => unknown): Stored {
  return Object.fromEntries(names.map((name) => [name, total(name)]));
}

const MISFIT = Symbol("a list or an object");

function keyOf(value: unknown, unit: number | undefined): unknown {
  if (unit !== undefined) {
    if (Array.isArray(value) || isPlain(value)) return MISFIT;
    if (!(value instanceof Date)) return null;
    const year = value.getUTCFullYear();
    if (!(year >= 1 && year <= 9999)) return null;
    const two = (part: number) => String(part).padStart(2, "0");
    const day = [two(value.getUTCMonth() + 1), two(value.getUTCDate())];
    return [String(year).padStart(4, "0"), ...day].join("-").slice(0, unit);
  }
  if (value === undefined || value === null) return null;
  if (value instanceof Date) return value.toJSON();
  if (value instanceof ObjectId) return value.toHexString();
  if (isNumber(value)) return Number.isNaN(Number(String(value))) ? null : Number(String(value));
  if (typeof value === "object") return MISFIT;
  return value;
}

function isPlain(value: unknown): boolean {
  return value !== null && typeof value === "object" &&
    Object.getPrototypeOf(value) === Object.prototype;
}

function isNumber(value: unknown): value is object {
  return value instanceof Double || value instanceof Int32 || value instanceof Long ||
    value instanceof Decimal128;
}

/** A decimal number: digits, and how many of them are behind the point. */
interface Exact {
  readonly digits: bigint;
  readonly scale: number;
}

function exact(text: string): Exact {
  const [, sign = "", whole = "0", fraction = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:E([+-]?\d+))?$/i.exec(text) ?? [];
  const scale = fraction.length - Number(power);
  const digits = BigInt(`${whole}${fraction}`) * (sign === "-" ? -1n : 1n);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

function add(one: Exact, other: Exact): Exact {
  const scale = Math.max(one.scale, other.scale);
  const at = ({ digits, scale: own }: Exact) => digits * 10n ** BigInt(scale - own);
  return { digits: at(one) + at(other), scale };
}

function numbersIn(docs: readonly Stored[], name: string): string[] {
  return docs.map((doc) => doc[name]).filter(isNumber).map(String);
}

/** The exact sum, as JSON shows the field; `NaN` in it makes it `null`. */
function sumOf(docs: readonly Stored[], name: string): unknown {
  const numbers = numbersIn(docs, name);
  if (numbers.includes("NaN")) return DECIMALS.has(name) ? "NaN" : null;
  const sum = shown(numbers.map(exact).reduce(add, exact("0")), name);
  const isLarge = name === "cents" && sumOfIntegers(numbers) > 2n ** 53n;
  return isLarge ? String(sumOfIntegers(numbers)) : sum;
}

function sumOfIntegers(numbers: readonly string[]): bigint {
  return numbers.map(BigInt).reduce((sum, each) => sum + each, 0n);
}

function averageOf(docs: readonly Stored[], name: string): unknown {
  const numbers = numbersIn(docs, name);
  if (numbers.length === 0) return null;
  if (numbers.includes("NaN")) return DECIMALS.has(name) ? "NaN" : null;
  const { digits, scale } = numbers.map(exact).reduce(add);
  // Thirty digits more than are compared.
  return shown(
    { digits: digits * 10n ** 30n / BigInt(numbers.length), scale: scale + 30 },
    name,
  );
}

function shown({ digits, scale }: Exact, name: string): unknown {
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, "0");
  const point = text.length - scale;
  const decimal = `${digits < 0n ? "-" : ""}${text.slice(0, point)}.${text.slice(point)}0`;
  if (DECIMALS.has(name)) return decimal;
  return Number(decimal);
}

/** Whether two values of JSON are the same: numbers up to rounding, decimals by their value. */
export function isSame(one: unknown, other: unknown): boolean {
  if (typeof one === "object" && one !== null && typeof other === "object" && other !== null) {
    const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
    return keys.every((key) => isSame((one as Stored)[key], (other as Stored)[key]));
  }
  if (typeof one === "number" && typeof other === "number") {
    return Math.abs(one - other) <= 1e-12 * Math.max(1, Math.abs(one), Math.abs(other));
  }
  const isDecimal = (text: unknown): text is string =>
    typeof text === "string" && /^-?\d+(\.\d+)?(E[+-]?\d+)?$/i.test(text);
  if (one === other || !isDecimal(one) || !isDecimal(other)) return one === other;
  const difference = add(exact(one), { ...exact(other), digits: -exact(other).digits });
  const size = (value: Exact) => (value.digits < 0n ? -value.digits : value.digits);
  // Decimal128 has 34 digits: an average is rounded there.
  return size(difference) * 10n ** 28n <= size(exact(one)) * 10n ** BigInt(difference.scale);
}
