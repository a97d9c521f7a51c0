import type { SchemaType } from "mongoose";
import { namesNoDay } from "./texts.ts";

/** Whether a type has the option `dateOnly`, so that its values are days without a time. */
export function isDateOnly(type: SchemaType | undefined): boolean {
  return type?.instance === "Date" && (type.options as { dateOnly?: unknown }).dateOnly === true;
}

/** Returns the name of Mongoose's type, or `DateOnly` for days without a time. */
export function valueType(type: SchemaType): string {
  return isDateOnly(type) ? "DateOnly" : type.instance;
}

const DAY = /^([+-]\d{6}|\d{4})-\d{2}-\d{2}$/;

/** Whether a JSON value is a day that exists, such as `1980-05-04`. */
export function isDay(value: unknown): boolean {
  return typeof value === "string" && DAY.test(value) && !namesNoDay(value);
}

const MS_OF_DAY = 86_400_000;

/** Returns the midnight in UTC with which the day of a time begins. */
export function startOfDay(time: Date): Date {
  return new Date(Math.floor(time.getTime() / MS_OF_DAY) * MS_OF_DAY);
}

/** Returns the day of a time in the JSON form of dates, in UTC. Any other text is unchanged. */
export function dayOf(time: string): string {
  return time.replace(/^([+-]\d{6}|\d{4})(-\d{2}-\d{2})T[\d:.]+Z$/, "$1$2");
}
