import type { Problems } from "../../errors/bad_data.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { rememberShape } from "../../schema/fields/shape_of_instance.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { isAlwaysRequired } from "../../schema/mongoose/fields/field_rules.ts";
import { BodyCast } from "./cast_body.ts";
import type { NamedReference } from "./cast_body.ts";
import { DocumentTarget } from "./document_target.ts";
import { MergeTarget } from "./merge_target.ts";
import type { MergeStep } from "./merge_target.ts";

export interface Merged {
  readonly entity: object;
  /** The values of the body that cannot be cast. */
  readonly problems?: Problems;
  /** The references of the body that have to be checked. */
  readonly references: readonly NamedReference[];
}

/**
 * Merges a body into an entity: a document of Mongoose, or an object of another database.
 *
 * @returns The document, or a copy of the object, and the values that cannot be cast, if there are any.
 */
export function mergeBody(
  entity: object,
  { body, shape }: { readonly body: JsonObject; readonly shape: Shape },
): Merged {
  const cast = new BodyCast();
  const holder = { entity };
  const target = isDocument(entity)
    ? new DocumentTarget({ doc: entity, path: "" }, { cast, root: entity })
    : new ObjectTarget({ holder, key: "entity" }, { cast });
  target.mergeFields(body, shape);
  return {
    entity: isDocument(entity) ? entity : rememberShape(holder.entity, shape),
    references: [...cast.references.values()],
    ...cast.hasProblems && { problems: cast.problems },
  };
}

type Values = Record<string, unknown>;

/** A value of an object that is no document. Objects on the way of a change are copied. */
class ObjectTarget extends MergeTarget {
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
