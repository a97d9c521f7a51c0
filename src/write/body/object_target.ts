import { isJsonObject } from "../../schema/fields/json.ts";
import type { FieldShape } from "../../schema/fields/shape.ts";
import { isAlwaysRequired } from "../../schema/mongoose/schemas/field_rules.ts";
import { MergeTarget } from "./merge_target.ts";
import type { MergeStep } from "./merge_target.ts";

type Values = Record<string, unknown>;

/** A value of an object that is no document. Objects on the way of a change are copied. */
export class ObjectTarget extends MergeTarget {
  protected readonly holder: Values;
  readonly #key: string;

  constructor({ holder, key }: { holder: Values; key: string }, step: MergeStep) {
    super(step);
    this.holder = holder;
    this.#key = key;
  }

  protected override read(): unknown {
    // A client's key may be called like something that every object has.
    return Object.hasOwn(this.holder, this.#key) ? this.holder[this.#key] : undefined;
  }

  protected override write(value: unknown): void {
    if (value === undefined) delete this.holder[this.#key];
    else this.holder[this.#key] = value;
  }

  protected override open(isEntry: boolean): (name: string) => MergeTarget {
    const current = this.read() as object;
    const holder: Values = Object.assign(Object.create(Object.getPrototypeOf(current)), current);
    this.write(holder);
    const { cast } = this.step;
    return (key) =>
      new ObjectTarget({ holder, key }, { ...this.step, cast: cast.at(key), isEntry });
  }

  protected override elements(list: readonly unknown[]): (index: number) => MergeTarget {
    this.write(list);
    const holder = list as unknown as Values;
    const { cast } = this.step;
    return (index) =>
      new ObjectTarget({ holder, key: `${index}` }, { cast: cast.at(index), whole: true });
  }

  protected override keys(): readonly string[] | undefined {
    const current = this.read();
    return isJsonObject(current) ? Object.keys(current) : undefined;
  }

  protected override cleared(field: FieldShape): unknown {
    // Validation would give a missing value its default, and let it pass.
    return isAlwaysRequired(field.type) ? null : super.cleared(field);
  }
}
