import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import mongoose, { Schema } from "mongoose";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  getModel,
  type ModelClass,
  prop,
  rest,
} from "../../mod.ts";

/** Starts an application with a model, expects a `TypeError`, and checks what its message names. */
function assertRefused(target: ModelClass, ...parts: string[]): void {
  const error = assertThrows(() => Framework.initialize({ models: [target] }), TypeError);
  assert(error.message.startsWith("Cannot "), error.message);
  for (const part of parts) assertStringIncludes(error.message, part);
}

/** Declares a field past the compiler, as JavaScript would. */
function declare(name: string, options?: object, array = false): ModelClass {
  const decorator = (array ? arrayProp : prop) as (options?: object) => CallableFunction;
  const decorate = (value: undefined, { metadata }: ClassFieldDecoratorContext): void =>
    decorator(options)(value, { kind: "field", name, metadata });
  @rest({ route: "/declared", methods: [all()] })
  class Declared extends FrameworkModel {
    @decorate
    field?: unknown;
  }
  return Declared;
}

/** `@prop()` past the compiler, for members that are no fields. */
function loose(value: unknown, context: DecoratorContext): void {
  (prop() as CallableFunction)(value, context);
}

class Part extends FrameworkModel {}

const RESERVED = [
  ...["save", "get", "set", "errors", "isNew", "validate", "toJSON", "toObject", "populate"],
  ...["collection", "schema", "init", "emit", "on", "constructor", "toString", "hasOwnProperty"],
  ...["$where", "$locals", "__proto__", "_doc", "a.b", "removeListener", "modifiedPaths", "db"],
];

for (const name of RESERVED) {
  Deno.test(`initialize() refuses the field "${name}", a member of Mongoose's documents`, () => {
    for (const array of [false, true]) {
      const target = declare(name, array ? { items: String } : {}, array);
      assertRefused(target, `"Declared"`, `"${name}"`, "member of Mongoose's documents");
    }
  });
}

for (const name of ["init", "db", "schema", "collection", "$session"]) {
  Deno.test(`initialize() refuses the method and the getter "${name}", without which documents fail`, () => {
    for (const member of [{ value: () => "mine" }, { get: () => "mine" }]) {
      @rest({ route: "/declared", methods: [all()] })
      class Declared extends FrameworkModel {}
      Object.defineProperty(Declared.prototype, name, member);
      assertRefused(Declared, `"Declared"`, `member "${name}"`, "member of Mongoose's documents");
    }
  });
}

Deno.test("initialize() takes fields whose names only look reserved", () => {
  for (
    const name of ["type", "id", "length", "name", "prototype_", "hidden", "ref", "items", "of"]
  ) {
    const { schema } = getModel(declare(name));
    assertEquals(schema.path(name).instance, "String");
  }
});

const TYPES: Record<string, unknown> = {
  "a class that is no model": class Plain {},
  "a symbol": Symbol,
  "a name": "Number",
  "an object": { a: String },
  "a list": [String],
  "a schema": new Schema({}),
  "a thunk of a class that is no model": () => class Plain {},
  "the constructor of arrays": Array,
  "the base class": FrameworkModel,
};

for (const [what, type] of Object.entries(TYPES)) {
  Deno.test(`prop() and arrayProp() refuse ${what} as a type at start-up`, () => {
    const parts = [`"Declared"`, `property "cast"`, "unknown type"];
    assertRefused(declare("cast", { type }), ...parts);
    assertRefused(declare("cast", { items: type }, true), ...parts);
  });
}

Deno.test("prop() refuses a default that tells no type", () => {
  assertRefused(declare("cast", { default: [] }), `"Declared"`, `"cast"`, "unknown type");
  assertRefused(declare("cast", { default: {} }), `"Declared"`, `"cast"`, "unknown type");
});

Deno.test("prop() refuses a map of an unknown type, and a reference to no model", () => {
  assertRefused(declare("cast", { type: Map, of: Symbol }), `"Declared"`, `"cast"`, "map");
  for (const ref of [class Plain {}, () => class Plain {}, 5, null]) {
    assertRefused(declare("cast", { ref }), `"Declared"`, `"cast"`, "not a model class");
  }
});

Deno.test("arrayProp() refuses an array without items, and the embedding of scalars", () => {
  assertRefused(declare("cast", {}, true), `"Declared"`, `"cast"`, `without "items"`);
  assertRefused(declare("cast", undefined, true), `"Declared"`, `"cast"`, `without "items"`);
  const scalars = { items: String, embedded: true };
  assertRefused(declare("cast", scalars, true), `"Declared"`, `"cast"`, "not a model class");
});

Deno.test("prop() and arrayProp() refuse a class that is not there yet, and name the way out", () => {
  for (
    const [options, array] of [
      [{ type: undefined }],
      [{ ref: undefined }],
      [{ type: Map, of: undefined }],
      [{ items: undefined }, true],
    ] as const
  ) {
    const parts = [`"Declared"`, `"cast"`, "which is undefined", "circular import", "() => Model"];
    assertRefused(declare("cast", options, array), ...parts);
  }
});

Deno.test("prop() and arrayProp() refuse a function that gives no class, and name the circular import", () => {
  const nothing = () => undefined;
  for (
    const [options, array] of [[{ type: nothing }], [{ ref: nothing }], [
      { items: nothing },
      true,
    ]] as const
  ) {
    const parts = [`"Declared"`, `"cast"`, "returns undefined", "circular import"];
    assertRefused(declare("cast", options, array), ...parts);
  }
});

Deno.test("prop() and arrayProp() refuse exists on what is no reference", () => {
  class Inner extends FrameworkModel {}
  const fields: [options: object, array?: boolean][] = [
    [{}],
    [{ type: mongoose.Types.ObjectId }],
    [{ type: Inner }],
    [{ type: Object, ref: Inner }],
    [{ type: Map, ref: Inner }],
    [{ type: Map, of: Inner, ref: Inner }],
    [{ type: Map, of: Object, ref: Inner }],
    [{ items: String }, true],
    [{ items: Inner, embedded: true }, true],
  ];
  for (const [options, array] of fields) {
    const parts = [`"Declared"`, `"cast"`, `"exists" and is not a reference`];
    assertRefused(declare("cast", { ...options, exists: true }, array), ...parts);
    getModel(declare("cast", { ...options, exists: false }, array), mongoose.createConnection());
  }
});

const { Double, Int32 } = Schema.Types;

/** Types with rules that Mongoose ignores for their values. */
const IGNORED: readonly (readonly [type: unknown, rules: object])[] = [
  [Date, { enum: [new Date(0)], minLength: 1 }],
  [BigInt, { enum: [1n], min: 0 }],
  [Int32, { enum: [1], min: 0 }],
  [Double, { enum: [1], max: 9 }],
  [Boolean, { enum: [true], trim: true }],
  [mongoose.Types.UUID, { enum: ["x"], lowercase: true }],
  [Number, { minLength: 1, match: /1/ }],
  [String, { min: 1 }],
  [Object, { enum: ["x"] }],
  [Part, { enum: ["x"] }],
];

Deno.test("prop() and arrayProp() refuse rules that Mongoose ignores for the type of the values", () => {
  for (const [type, rules] of IGNORED) {
    for (const [rule, value] of Object.entries(rules)) {
      const parts = [`"Declared"`, `"field"`, `"${rule}"`];
      const list = { items: type, embedded: type === Part, [rule]: value };
      assertRefused(declare("field", { type, [rule]: value }), ...parts);
      assertRefused(declare("field", list, true), ...parts);
      assertRefused(declare("field", { type: Map, of: type, [rule]: value }), ...parts);
    }
  }
  assertRefused(declare("field", { ref: Part, enum: ["x"] }), `"enum"`);
});

Deno.test("prop() says which type a field without one lacks for its limits", () => {
  const cures = [[{ min: 1 }, "Number"], [{ max: new Date(0) }, "Date"]] as const;
  for (const [rules, type] of cures) {
    assertRefused(declare("field", rules), `it is a String: add "type: ${type}"`);
  }
  assertRefused(declare("field", { default: "x", min: 1 }), `use "validate"`);
  assertRefused(declare("field", { type: String, min: 1 }), `use "validate"`);
});

/** Fields whose default breaks one of their rules. */
const REFUSED_DEFAULTS: readonly (readonly [rule: string, options: object, array?: true])[] = [
  ["enum", { enum: ["draft", "sent"], default: "new" }],
  ["enum", { type: Number, enum: { Low: 1, High: 2 }, default: 3 }],
  ["enum", { enum: { values: ["a"], message: "no" }, default: "b" }],
  ["min", { default: 0, min: 1 }],
  ["max", { type: Number, default: "10", max: [9, "too much"] }],
  ["min", { type: Date, default: new Date(0), min: new Date(1) }],
  ["max", { type: Date, dateOnly: true, default: "2030-01-02", max: "2030-01-01" }],
  ["minLength", { default: "a", minLength: 2 }],
  ["minlength", { default: "a", minlength: 2 }],
  ["maxLength", { default: "abc", maxLength: [2, "too long"] }],
  ["match", { default: "a b", match: /^\w+$/ }],
  ["enum", { enum: ["A"], lowercase: true, default: "A" }],
  ["enum", { items: String, enum: ["a"], default: ["a", "b"] }, true],
  ["min", { items: Number, min: 1, default: [0] }, true],
  ["type", { type: Number, default: "many" }],
  ["type", { items: Number, default: ["many"] }, true],
];

Deno.test("prop() and arrayProp() refuse a default that a rule of the field refuses", () => {
  for (const [rule, options, array] of REFUSED_DEFAULTS) {
    const problem = `property "field" has a "default" that its "${rule}" refuses`;
    assertRefused(declare("field", options, array), `"Declared"`, problem);
  }
});

Deno.test("prop() takes a default that its rules accept, or that only a document can tell", () => {
  const taken = [
    { enum: ["a", null], default: null },
    { enum: ["a"], default: "A", lowercase: true },
    { enum: ["a"], default: () => "b" },
    { enum: ["a"], default: "b", set: () => "a" },
    { type: Date, default: new Date(0), min: () => new Date(1) },
    { type: Date, default: Date.now, max: new Date(0) },
    { type: Date, dateOnly: true, default: "2030-01-01", min: "2030-01-01T12:00Z" },
    { default: "", match: /x/ },
  ];
  for (const options of taken) getModel(declare("field", options));
});

/** Types with rules that Mongoose checks, or that are not set. */
const CHECKED: readonly (readonly [type: unknown, rules: object])[] = [
  [Number, { min: 0, enum: [1] }],
  [Date, { min: 0 }],
  [String, { trim: true, minlength: 1, match: /a/ }],
  [Boolean, { trim: false, enum: undefined }],
];

Deno.test("prop() and arrayProp() take rules that Mongoose checks", () => {
  for (const [type, rules] of CHECKED) {
    getModel(declare("field", { type, ...rules }));
    getModel(declare("field", { items: type, ...rules }, true));
  }
});

Deno.test("prop() refuses a #private, a static and a symbol field at start-up", () => {
  @rest({ route: "/p", methods: [all()] })
  class Private extends FrameworkModel {
    @prop()
    #secret?: string;
    static read(model: Private) {
      return model.#secret;
    }
  }
  @rest({ route: "/s", methods: [all()] })
  class Static extends FrameworkModel {
    @loose
    static count?: string;
  }
  const key = Symbol("key");
  @rest({ route: "/k", methods: [all()] })
  class Keyed extends FrameworkModel {
    @prop()
    [key]?: string;
  }
  assertRefused(Private, `"Private"`, `"#secret"`, "#private");
  assertRefused(Static, `"Static"`, `"count"`, "static");
  assertRefused(Keyed, `"Keyed"`, "symbol");
});

Deno.test("prop() refuses an accessor, a getter and a method at start-up", () => {
  @rest({ route: "/a", methods: [all()] })
  class Accessor extends FrameworkModel {
    @loose
    accessor name = "";
  }
  @rest({ route: "/g", methods: [all()] })
  class Getter extends FrameworkModel {
    @loose
    get name() {
      return "";
    }
  }
  @rest({ route: "/m", methods: [all()] })
  class Method extends FrameworkModel {
    @loose
    name() {}
  }
  assertRefused(Accessor, `"Accessor"`, `"name"`, "accessor");
  assertRefused(Getter, `"Getter"`, `"name"`, "getter");
  assertRefused(Method, `"Method"`, `"name"`, "method");
});

Deno.test("initialize() refuses members that work on a #private one", () => {
  @rest({ route: "/m", methods: [all()] })
  class Method extends FrameworkModel {
    #count = 0;
    next() {
      return this.#count++;
    }
  }
  @rest({ route: "/g", methods: [all()] })
  class Getter extends FrameworkModel {
    #count = 0;
    get next() {
      return this.#count;
    }
  }
  @rest({ route: "/c", methods: [all()] })
  class Child extends Getter {}
  @rest({ route: "/a", methods: [all()] })
  class Accessor extends FrameworkModel {
    accessor next = 0;
  }
  for (const target of [Method, Getter, Child, Accessor]) {
    assertRefused(target, `"${target.name}"`, `"next"`, "#private");
  }
});

Deno.test("initialize() names the class and the property of an embedded model that is wrong", () => {
  class Inner extends FrameworkModel {
    @prop()
    save?: string;
  }
  @rest({ route: "/o", methods: [all()] })
  class Outer extends FrameworkModel {
    @prop({ type: () => Inner })
    inner?: Inner;
  }
  @rest({ route: "/h", methods: [all()] })
  class Heir extends Inner {}
  assertRefused(Outer, `"Inner"`, `"save"`);
  assertRefused(Heir, `"Heir"`, `"save"`);
  assertRefused(Outer, `"Inner"`, `"save"`);
});

Deno.test("initialize() names the class and the property of a referred model that is wrong", () => {
  class Far extends FrameworkModel {
    @arrayProp({ items: undefined as unknown as StringConstructor })
    list?: string[];
  }
  @rest({ route: "/n", methods: [all()] })
  class Near extends FrameworkModel {
    @prop({ ref: () => Far })
    far?: string;
  }
  assertRefused(Near, `"Far"`, `"list"`);
});

Deno.test("initialize() names the class whose options Mongoose refuses", () => {
  assertRefused(declare("cast", { validate: "x" }), `"Declared"`, "validator");
  assertRefused(declare("cast", { type: Schema.Types.Subdocument }), `"Declared"`, `cast`);
  @rest({ route: "/c", methods: [all()] })
  class Configured extends FrameworkModel {
    static override configure(): void {
      throw new Error("Not today");
    }
  }
  assertRefused(Configured, `"Configured"`, "Not today");
});

Deno.test("initialize() refuses a class that does not extend FrameworkModel", () => {
  const decorate = rest({ route: "/s", methods: [all()] }) as CallableFunction;
  const loosely = (target: unknown, context: DecoratorContext): void => decorate(target, context);
  @loosely
  class Stranger {}
  assertRefused(Stranger as unknown as ModelClass, `"Stranger"`, "FrameworkModel");
});

Deno.test("rest() twice on a class refuses schemaOptions that differ", () => {
  @rest({ route: "/a", methods: [all()], schemaOptions: { timestamps: true } })
  @rest({ route: "/b", methods: [all()], schemaOptions: { timestamps: false } })
  class Torn extends FrameworkModel {}
  @rest({ route: "/c", methods: [all()], schemaOptions: { timestamps: true } })
  @rest({ route: "/d", methods: [all()], schemaOptions: { timestamps: true } })
  @rest({ route: "/e", methods: [all()] })
  class Whole extends FrameworkModel {}
  assertRefused(Torn, `"Torn"`, "schemaOptions");
  Framework.initialize({ models: [Whole] });
  assert(getModel(Whole).schema.path("createdAt"));
});

Deno.test("initialize() refuses two classes of one name in one collection, and names both", () => {
  const models = ["/ones", "/twos"].map((route) => {
    @rest({ route, methods: [all()] })
    class Same extends FrameworkModel {}
    return Same;
  });
  const start = () => Framework.initialize({ models });
  const { message } = assertThrows(start, TypeError);
  assertEquals(message.match(/"Same"/g)?.length, 2);
  assertStringIncludes(message, `"sames"`);
});

Deno.test("initialize() refuses a class without a name, unless its collection is named", () => {
  const make = (schemaOptions: object) => {
    const [target] = [class extends FrameworkModel {}];
    const context = { kind: "class", metadata: {}, addInitializer() {} };
    rest({ route: "/n", methods: [create()], schemaOptions })(
      target as never,
      context as unknown as ClassDecoratorContext<never>,
    );
    Object.defineProperty(target, Symbol.metadata, { value: context.metadata });
    return target as ModelClass;
  };
  assertRefused(make({}), "without a name", "schemaOptions.collection");
  Framework.initialize({ models: [make({ collection: "nameless" })] });
});

// Compilers

/** The ways in which compilers call decorators that are not standard ones, or not whole. */
const LEGACY: Record<string, unknown[]> = {
  "a legacy property": [{}, "name"],
  "a legacy property with a descriptor": [{}, "name", undefined],
  "a legacy property by babel": [{}, "name", { initializer: null, writable: true }],
  "a legacy symbol": [{}, Symbol("name")],
  "a legacy class": [class {}],
  "a context without metadata": [undefined, { kind: "field", name: "name", addInitializer() {} }],
  "a context with undefined metadata": [undefined, { kind: "field", metadata: undefined }],
  "a context with null metadata": [undefined, { kind: "field", metadata: null }],
  "a call with nothing": [],
  "a null context": [undefined, null],
};

for (const [what, args] of Object.entries(LEGACY)) {
  Deno.test(`prop(), arrayProp() and rest() name the fix when they are called as ${what}`, () => {
    const decorators: Record<string, unknown> = {
      prop: prop(),
      arrayProp: arrayProp({ items: String }),
      rest: rest({ route: "/legacy", methods: [all()] }),
    };
    for (const [name, decorator] of Object.entries(decorators)) {
      const call = () => (decorator as CallableFunction)(...args);
      const { message } = assertThrows(call, TypeError);
      assertStringIncludes(message, `Cannot apply @${name}`);
      for (const fix of ["tsconfig", "experimentalDecorators", "swc", "2022-03", "esbuild"]) {
        assertStringIncludes(message, fix);
      }
    }
  });
}
