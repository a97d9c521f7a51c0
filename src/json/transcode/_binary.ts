import type { Buffer } from "node:buffer";
import { readInt32 } from "./_scan.ts";
import type { JsonWriter } from "./json_writer.ts";
import type { ValuePlan } from "./plan.ts";
import { UnknownTypeError } from "./unknown_type_error.ts";

/** Writes bytes: base64, or the text of a UUID; gives the position after them. */
export function writeBinary(
  out: JsonWriter,
  source: Buffer,
  at: number,
  plan: ValuePlan | undefined,
): number {
  const size = readInt32(source, at);
  const subtype = source[at + 4];
  const start = at + 5;
  const uuid = subtype === 4 && size === 16;
  if (plan?.bytes === "uuid" && !uuid) throw new UnknownTypeError("Cannot write bytes as a UUID");
  out.byte(0x22);
  if (uuid && plan?.bytes !== "base64") {
    for (const [from, to] of UUID_PARTS) {
      if (from > 0) out.byte(0x2d);
      out.hex(source, start + from, start + to);
    }
  } else {
    // Subtype 2 repeats its length inside.
    out.ascii(source.toString("base64", subtype === 2 ? start + 4 : start, start + size));
  }
  out.reserve(1);
  out.byte(0x22);
  return start + size;
}

const UUID_PARTS = [[0, 4], [4, 6], [6, 8], [8, 10], [10, 16]] as const;
