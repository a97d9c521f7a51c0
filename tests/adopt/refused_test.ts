import { assertThrows } from "@std/assert";
import mongoose, { type Schema } from "mongoose";
import { all, create, Framework, one, removeAll, update, updateAll } from "../../mod.ts";
import { adopt } from "../../src/adopt/mod.ts";
import { test } from "../harness/testing.ts";

const { Schema: S } = mongoose;

/** A type that no type of Mongoose is the base of. */
class Celsius extends mongoose.SchemaType {
  constructor(path: string, options: object) {
    super(path, options, "Celsius");
  }
  override cast(value: unknown) {
    return { degrees: value };
  }
}

Object.assign(S.Types, { Celsius });

interface Case {
  readonly schema?: () => Schema;
  readonly change?: (model: mongoose.Model<unknown>) => void;
  readonly options?: object;
  readonly rest?: object;
}

const nameOnly = () => new S({ name: String }) as Schema;
const withMethod = (name: string) => () => nameOnly().method(name, () => ({})) as Schema;
const recursive = () => {
  const schema = nameOnly();
  schema.add({ children: [schema] });
  return schema;
};
const finding = () => {
  const schema = new S({ name: String, list: [{ text: String }] });
  return schema.pre("find", () => {}) as Schema;
};
const methods = [all({ page: { max: 9 } }), one(), create(), update()];

/** By the message of the start. */
const CASES: Readonly<Record<string, Case>> = {
  'a method or plugin replaces "save" of the document': { schema: withMethod("save") },
  'a method or plugin replaces "toObject" of the document': { schema: withMethod("toObject") },
  'a static or plugin replaces "find" of the model': {
    schema: () => nameOnly().static("find", () => undefined) as Schema,
  },
  'a static or plugin replaces "findOne" of the model': {
    change: (model) => Object.assign(model, { findOne: () => undefined }),
  },
  'a static or plugin replaces "exists" of the model': {
    change: (model) => Object.assign(model, { exists: () => undefined }),
  },
  'property "model" has the name of a member of Mongoose\'s documents': {
    schema: () => new S({ model: String }) as Schema,
  },
  '"heat" has the custom type "Celsius", whose JSON form is not known': {
    schema: () => new S({ heat: Celsius as never }) as Schema,
  },
  '"heats" has the custom type "Celsius", whose JSON form is not known': {
    schema: () => new S({ heats: [Celsius as never] }) as Schema,
  },
  "it has discriminators, whose fields no route would know": {
    change: (model) => void model.discriminator(`${model.modelName}Kind`, nameOnly()),
  },
  '"list" has discriminators, whose fields no route would know': {
    schema: () => {
      const schema = new S({ list: [{ text: String }] }) as Schema;
      (schema.path("list") as never as mongoose.Schema.Types.DocumentArray)
        .discriminator("AdoptListKind", nameOnly());
      return schema;
    },
  },
  'its schema has "strict: false", which shows and takes undeclared fields': {
    schema: () => nameOnly().set("strict", false) as Schema,
  },
  '"inner" has "strict: false", which shows and takes undeclared fields': {
    schema: () => new S({ inner: nameOnly().set("strict", false) }) as Schema,
  },
  'its schema has "encryptionType", which requests would skip': {
    schema: () => new S({ name: String }, { encryptionType: "csfle" }) as Schema,
  },
  '"children" holds itself, which has no end': { schema: recursive },
  '"grid" holds lists of lists of objects': {
    schema: () => new S({ grid: [[nameOnly()]] as never }) as Schema,
  },
  'its "_id" is of the type Date': { schema: () => new S({ _id: Date }) as Schema },
  '"shown" names "nam", which is no path of the schema': { options: { shown: ["nam"] } },
  '"writable" names "id", which is no path of the schema': { options: { writable: ["id"] } },
  '"shown" names "constructor", which is no path of the schema': {
    options: { shown: ["constructor"] },
  },
  '"virtuals" names "toString", which is no virtual of the schema': {
    options: { virtuals: ["toString"] },
  },
  '"writable" names "made", which Mongoose sets': {
    schema: () => new S({ name: String }, { timestamps: { createdAt: "made" } }) as Schema,
    options: { writable: ["name", "made"] },
  },
  '"writable" names "__v", which Mongoose sets': { options: { writable: ["__v"] } },
  '"writable" names "_id", which Mongoose sets': { options: { writable: ["_id"] } },
  '"virtuals" names "label", which is no virtual of the schema': {
    options: { virtuals: ["label"] },
  },
  'the virtual "label" is not in the JSON of the model: set toJSON: { virtuals: true }': {
    schema: () => {
      const schema = nameOnly();
      schema.virtual("label").get(() => "label");
      return schema;
    },
    options: { virtuals: ["label"] },
  },
  'the virtual "others" is populated by Mongoose and cannot be shown: adopt its model too': {
    schema: () => {
      const schema = nameOnly().set("toJSON", { virtuals: true }) as Schema;
      schema.virtual("others", { ref: "X", localField: "_id", foreignField: "x" });
      return schema;
    },
    options: { virtuals: ["others"] },
  },
  "its JSON fails for a probe document: no": {
    schema: () =>
      nameOnly().set("toJSON", {
        transform: () => {
          throw new Error("no");
        },
      }) as Schema,
  },
  'create() would always fail: "code" is required, has no default, and is not in "writable"': {
    schema: () => new S({ name: String, code: { type: String, required: true } }) as Schema,
    options: { writable: ["name"] },
  },
  'create() would always fail: "_id" is required, has no default, and is not in "writable"': {
    schema: () => new S({ _id: String, name: String }) as Schema,
    options: { writable: ["name"] },
  },
  '"parts" names "list", whose routes skip its middleware of find(): add middleware of aggregate()':
    {
      schema: finding,
      options: { parts: { list: { methods: [all({ page: { max: 9 } })] } } },
    },
  '"parts" names "list", which is not in "shown"': {
    schema: () => new S({ name: String, list: [{ text: String }] }) as Schema,
    options: { shown: ["name"], parts: { list: { methods: [all({ page: { max: 9 } })] } } },
  },
  'all() cannot have "groups": the model has middleware of find(), and none of aggregate()': {
    schema: finding,
    rest: { methods: [all({ page: { max: 9 }, groups: { by: ["name"], count: true } } as never)] },
  },
  'all() cannot have "distinct": the model has middleware of find(), and none of aggregate()': {
    schema: finding,
    rest: { methods: [all({ page: { max: 9 }, distinct: ["name"] } as never)] },
  },
  "its middleware of updateMany() would not bind updateAll()": {
    schema: () => nameOnly().pre("updateMany", () => {}) as Schema,
    rest: { methods: [...methods, updateAll({ max: 5, fields: ["name"] } as never)] },
  },
  "its middleware of deleteMany() would not bind removeAll()": {
    schema: () => nameOnly().pre("deleteMany", () => {}) as Schema,
    rest: { methods: [...methods, removeAll({ max: 5 })] },
  },
  'the schema lacks the path "deletedAt" of the type Date, which "trash" needs': {
    rest: { trash: true },
  },
  'the schema lacks the path "org", which "tenant" names': { rest: { tenant: "org" } },
  '"history" needs versions, and "versionKey" is off': {
    schema: () => nameOnly().set("versionKey", false) as Schema,
    rest: { history: true },
  },
  'has "friend" in "populate", which refers to a model that is not adopted': {
    schema: () => new S({ friend: { type: S.Types.ObjectId, ref: "AdoptNobody" } }) as Schema,
    rest: { methods: [all({ page: { max: 9 }, populate: { friend: true } } as never)] },
  },
};

let made = 0;

function start({ schema = nameOnly, change, options, rest }: Case): void {
  const model = mongoose.model<unknown>(`AdoptRefused${made++}`, schema());
  change?.(model);
  const route = `/adopt-refused-${made}`;
  const given = { shown: "all", writable: "all", rest: { route, methods, ...rest }, ...options };
  const target = adopt(model, given as never);
  Framework.initialize({ models: [target], tenant: () => "a", tidy: false });
}

for (const [message, each] of Object.entries(CASES)) {
  test(`the start refuses an adopted model: ${message}`, () => {
    assertThrows(() => start(each), TypeError, message);
  });
}
