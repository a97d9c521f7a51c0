// What Mongoose makes itself, told by its source text: not every version of it marks its own.
import mongoose from "mongoose";
import type { SchemaType } from "mongoose";

/** Middleware of a schema, by operation. */
type Middleware = ReadonlyMap<string, readonly { readonly fn: object }[]>;

/** What a type has that its declarations do not tell. */
interface TypeInside extends SchemaType {
  readonly defaultValue?: unknown;
}

let texts: ReadonlySet<string> | undefined;

/** Tells whether Mongoose has made a function itself: middleware, a validator, the default of an array. */
export function isBuiltIn(fn: object): boolean {
  texts ??= new Set(bareFunctions().map(String));
  return texts.has(String(fn));
}

/** The functions of a schema that has nothing of a user's. */
function bareFunctions(): unknown[] {
  const bare = new mongoose.Mongoose();
  const schema = new bare.Schema({
    text: { type: String, required: true, enum: ["a"], match: /a/, minlength: 1, maxlength: 1 },
    number: { type: Number, enum: [1], min: 1, max: 1 },
    date: { type: Date, min: new Date(0), max: new Date(0) },
    list: { type: [String] },
    objects: { type: [new bare.Schema({})] },
  }, { timestamps: true });
  bare.model("Bare", schema);
  const { hooks } =
    (schema as unknown as { s: { hooks: Record<"_pres" | "_posts", Middleware> } }).s;
  const middleware = [hooks._pres, hooks._posts].flatMap((kind) => [...kind.values()].flat());
  const types = Object.values(schema.paths) as TypeInside[];
  return [
    ...middleware.map(({ fn }) => fn),
    ...types.flatMap(({ validators }) => validators.map(({ validator }) => validator)),
    ...types.map(({ defaultValue }) => defaultValue).filter((each) => typeof each === "function"),
  ];
}
