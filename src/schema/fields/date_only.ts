import type { SchemaType } from "mongoose";
import { namesNoDay } from "./texts.ts";

export function isDateOnly(type: SchemaType | undefined): boolean {
  return type?.instance === "Date" && (type.options as { dateOnly?: unknown }).dateOnly === true;
}

export function valueType(type: SchemaType): string {
  return isDateOnly(type) ? "DateOnly" : type.instance;
}

const DAY = /^([+-]\d{6}|\d{4})-\d{2}-\d{2}$/;

export function isDay(value: unknown): boolean {
  return typeof value === "string" && DAY.test(value) && !namesNoDay(value);
}

const MS_OF_DAY = 86_400_000;

/** In UTC. */
export function startOfDay(time: Date): Date {
  return new Date(Math.floor(time.getTime() / MS_OF_DAY) * MS_OF_DAY);
}

export function dayOf(time: string): string {
  return time.replace(/^([+-]\d{6}|\d{4})(-\d{2}-\d{2})T[\d:.]+Z$/, "$1$2");
}
