import mongoose from "mongoose";
import type { Model } from "mongoose";
import type { JsonObject } from "../../../schema/fields/json.ts";
import { fieldDefault } from "../../../schema/fields/field_default.ts";
import type { FieldDefault } from "../../../schema/fields/field_default.ts";
import type { Shape } from "../../../schema/fields/shape.ts";
import { flatFields } from "./flat_fields.ts";
import { timeStamps } from "./time_stamps.ts";

/** A field that a body may leave out, and what stands there then. */
interface MadeField extends FieldDefault {
  readonly name: string;
}

/** Makes new entities of bodies as Mongoose would store them. */
export class EntityMaker {
  readonly #model: Model<unknown>;
  readonly #shape: Shape;
  readonly #fields: readonly MadeField[];

  constructor(model: Model<unknown>, shape: Shape) {
    this.#model = model;
    this.#shape = shape;
    this.#fields = [...shape.fields].filter(([name]) => name !== "_id")
      .map(([name, field]) => ({ name, ...fieldDefault(field) }));
  }

  /** Makes an entity, defaults included; `undefined` where the body is not flat. */
  make(body: JsonObject): Record<string, unknown> | undefined {
    const values = flatFields(body, this.#shape);
    if (values === undefined) return undefined;
    // As documents have them: what has a default comes first.
    const entity: Record<string, unknown> = { _id: new mongoose.Types.ObjectId() };
    for (const { name, make } of this.#fields) {
      const value = make?.();
      if (value !== undefined) entity[name] = value;
    }
    return {
      ...entity,
      ...values,
      ...timeStamps(this.#model, "createdAt", "updatedAt"),
      [this.#model.schema.get("versionKey") as string]: 0,
    };
  }
}
