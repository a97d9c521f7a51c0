import type { BsonReader } from "../bytes/bson_reader.ts";
import type { JsonWriter } from "../bytes/json_writer.ts";
import type { Mark } from "../populate/marked_json.ts";
import type { Held } from "../populate/targets.ts";
import type { FieldPlan, Plan, ValuePlan } from "./plan.ts";
import { Transcoder } from "./transcoder.ts";

const ARRAY = 0x04;

export interface MarkingOptions {
  /** The names of the references of which only their places are marked. */
  readonly names: ReadonlySet<string>;
  readonly marks: Mark[];
}

/** Leaves out what some references of an entity hold, and marks their places. */
export class MarkingTranscoder extends Transcoder {
  readonly #names: ReadonlySet<string>;
  readonly #marks: Mark[];
  /** How many objects are around the current value. */
  #depth = 0;

  constructor(source: BsonReader, out: JsonWriter, { names, marks }: MarkingOptions) {
    super(source, out);
    this.#names = names;
    this.#marks = marks;
  }

  override document(plan?: Plan): void {
    this.#depth++;
    try {
      super.document(plan);
    } finally {
      this.#depth--;
    }
  }

  override value(plan: ValuePlan | undefined): void {
    const name = this.#depth === 1 ? (plan as Partial<FieldPlan> | undefined)?.property : undefined;
    if (plan === undefined || name === undefined || !this.#names.has(name)) {
      return super.value(plan);
    }
    const held = this.source.type === ARRAY && plan.items !== undefined
      ? this.#taken(plan.items)
      : this.#take(plan);
    this.#marks.push({ at: this.out.length, name, held });
  }

  #taken(items: ValuePlan): Held {
    const { source } = this;
    const held: string[] = [];
    for (const end = source.open(); source.next(end);) {
      source.skipName();
      held.push(this.#take(items));
    }
    return held;
  }

  /** Gives the JSON text of the current value. */
  #take(plan: ValuePlan): string {
    const { out } = this;
    const start = out.length;
    out.reserve(64);
    super.value(plan);
    const text = out.bytes.toString("utf8", start, out.length);
    out.length = start;
    return text;
  }
}
