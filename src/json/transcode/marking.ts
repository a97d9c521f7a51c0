import type { Mark } from "../populate.ts";
import { ROOM } from "./plan.ts";
import type { FieldPlan, ValuePlan } from "./plan.ts";
import type { FieldWriter, Transcoder } from "./transcoder.ts";

const TEXT = 0x02;
const ARRAY = 0x04;

/** Leaves out what some references of entities hold, and marks their places. */
export class Marking implements FieldWriter {
  readonly marks: Mark[] = [];
  readonly #names: ReadonlySet<string>;

  constructor(names: ReadonlySet<string>) {
    this.#names = names;
  }

  /** Marks the place of the current value, if it is one of those references. */
  take(transcoder: Transcoder, field: FieldPlan): boolean {
    if (!this.#names.has(field.property)) return false;
    const { source, out } = transcoder;
    const { items } = field;
    const held = source.type === ARRAY && items !== undefined
      ? takeAll(transcoder, items)
      : takeValue(transcoder, field);
    this.marks.push({ at: out.length, name: field.property, held });
    return true;
  }

  /** Marks the place of a whole entity, instead of those in it that are marked already. */
  replace(at: number, entity: unknown): void {
    while ((this.marks.at(-1)?.at ?? 0) > at) this.marks.pop();
    this.marks.push({ at, entity });
  }
}

function takeAll(transcoder: Transcoder, items: ValuePlan): string[] {
  const { source } = transcoder;
  const held: string[] = [];
  for (const end = source.open(); source.next(end);) {
    source.skipName();
    held.push(takeValue(transcoder, items));
  }
  return held;
}

/** Gives the JSON text of the current value. */
function takeValue(transcoder: Transcoder, plan: ValuePlan): string {
  const { out, source: { type } } = transcoder;
  const start = out.length;
  out.reserve(ROOM);
  transcoder.value(plan);
  const text = out.bytes.toString(type === TEXT ? "utf8" : "latin1", start, out.length);
  out.length = start;
  return text;
}
