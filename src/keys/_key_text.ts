import { Buffer } from "node:buffer";
import { createHash, createHmac, randomBytes, randomInt } from "node:crypto";

const FORM = /^(mgv_[a-z0-9]{8}_[\w-]{43})([0-9A-Za-z]{6})$/;

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

export interface NewKey {
  readonly text: string;
  /** The beginning of a key, by which people tell keys apart. */
  readonly prefix: string;
}

export function makeKey(): NewKey {
  const prefix = Array.from({ length: 8 }, () => randomInt(36).toString(36)).join("");
  const text = `mgv_${prefix}_${randomBytes(32).toString("base64url")}`;
  return { text: text + checksum(text), prefix };
}

/** Secret scanners recognise keys of this form. The checksum refuses a mistyped key without a query. */
export function isWellFormed(text: string): boolean {
  const [, checked = "", sum] = FORM.exec(text) ?? [];
  return sum !== undefined && checksum(checked) === sum;
}

export function hashesOf(text: string, peppers: readonly string[]): Buffer[] {
  return peppers.length === 0
    ? [createHash("sha256").update(text).digest()]
    : peppers.map((pepper) => createHmac("sha256", pepper).update(text).digest());
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let at = 0; at < 6; at++) {
    digits = `${DIGITS[rest % 62]}${digits}`;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

function crc32(text: string): number {
  let sum = -1;
  for (const byte of Buffer.from(text)) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum >>> 1 ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}
