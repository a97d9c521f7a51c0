import type { JsonWriter } from "./json_writer.ts";

const DAY = 86_400_000;

/** The greatest distance from 1970 that a date has in ISO form. */
export const TIME_RANGE = 8_640_000_000_000_000;

/** The times of the years 1 to 9999, whose ISO form has four digits for the year. */
const FIRST = -62_135_596_800_000;
const LAST = 253_402_300_799_999;

/** Writes a time as an ISO date; one out of range is `null`. */
export function writeDate(out: JsonWriter, time: number): void {
  if (time >= FIRST && time <= LAST) return writeUsualDate(out, time);
  out.ascii(Math.abs(time) <= TIME_RANGE ? `"${new Date(time).toISOString()}"` : "null");
}

function writeUsualDate(out: JsonWriter, time: number): void {
  const days = Math.floor(time / DAY);
  const rest = time - days * DAY;
  const seconds = (rest / 1000) | 0;
  const minutes = (seconds / 60) | 0;
  const hours = (minutes / 60) | 0;
  out.byte(0x22);
  writeDay(out, days);
  out.byte(0x54);
  pair(out, hours);
  out.byte(0x3a);
  pair(out, minutes - hours * 60);
  out.byte(0x3a);
  pair(out, seconds - minutes * 60);
  out.byte(0x2e);
  const milliseconds = rest - seconds * 1000;
  out.byte(0x30 + ((milliseconds / 100) | 0));
  pair(out, milliseconds % 100);
  out.byte(0x5a);
  out.byte(0x22);
}

/** Day and month from the days since 1970, in years that begin on the first of March: leap days come last then. */
function writeDay(out: JsonWriter, days: number): void {
  const shifted = days + 719_468;
  const era = (shifted / 146_097) | 0;
  const dayOfEra = shifted - era * 146_097;
  const leaps = ((dayOfEra / 1460) | 0) - ((dayOfEra / 36_524) | 0) + ((dayOfEra / 146_096) | 0);
  const yearOfEra = ((dayOfEra - leaps) / 365) | 0;
  const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0));
  const monthFromMarch = ((5 * dayOfYear + 2) / 153) | 0;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  pair(out, (year / 100) | 0);
  pair(out, year % 100);
  out.byte(0x2d);
  pair(out, month);
  out.byte(0x2d);
  pair(out, dayOfYear - (((153 * monthFromMarch + 2) / 5) | 0) + 1);
}

function pair(out: JsonWriter, value: number): void {
  out.byte(0x30 + ((value / 10) | 0));
  out.byte(0x30 + value % 10);
}
