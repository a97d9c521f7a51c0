/** A mistake that users make, and what the compiler has to say about it. */
export interface Mistake {
  /** What is wrong. */
  readonly name: string;
  /** The code; it stands inside a function, below {@linkcode HEADER}. */
  readonly code: string;
  /** What stands in the first line of the compiler's message. */
  readonly says: string;
}

const HEADER = `import {
  all, arrayProp, create, type Entity, FrameworkModel, type FrameworkRequest, one, prop, type Ref, removeAll, rest, update,
} from "@mongrove/mongrove";
class User extends FrameworkModel {
  @prop({ required: true }) name!: string;
}
class Address extends FrameworkModel {
  @prop({ required: true }) street!: string;
}
function forUser(_req: FrameworkRequest, user: Entity<User>): Entity<User> { return user; }
`;

/** The mistakes. */
export const MISTAKES: readonly Mistake[] = [
  {
    name: "a schema for another type than the field's",
    code: `type Count = { readonly "~standard": {
  readonly version: 1; readonly vendor: string; readonly validate: (value: unknown) => { issues?: undefined };
  readonly types?: { readonly input: number; readonly output: number };
} };
const count = {} as Count;
class Note extends FrameworkModel { @prop({ validate: count }) text?: string; }`,
    says: "validate is a schema for a number, the field is a string",
  },
  {
    name: "a hook for another model",
    code: `@rest({ route: "/notes", methods: [all(), one({ postFetch: forUser })] })
class Note extends FrameworkModel { @prop() text?: string; }`,
    says: `"this postFetch expects another model", Note>`,
  },
  {
    name: "a hook for another model on a property",
    code: `class Note extends FrameworkModel {
  @rest({ methods: [all({ preSend: forUser })] })
  @arrayProp({ items: Address, embedded: true }) addresses?: Address[];
}`,
    says: `"this preSend expects another model", Address>`,
  },
  {
    name: "operations of another model",
    code: `@rest({ route: "/notes", methods: [all<User>({ preSend: (_req, user) => user })] })
class Note extends FrameworkModel { @prop() text?: string; }`,
    says: `"a called operation, such as all(), with hooks of this model", Note>`,
  },
  {
    name: "a preFetch without return",
    code:
      `@rest({ route: "/notes", methods: [all({ preFetch: (req) => { req.framework.filter.a = 1; } })] })
class Note extends FrameworkModel { @prop() text?: string; }`,
    says: `"preFetch returns nothing: return true to let the request pass", Note>`,
  },
  {
    name: "an asynchronous preFetch without return",
    code: `async function check(_req: FrameworkRequest) {}
@rest({ route: "/notes", methods: [all({ preFetch: check })] })
class Note extends FrameworkModel { @prop() text?: string; }`,
    says: `"preFetch returns nothing: return true to let the request pass", Note>`,
  },
  {
    name: "a postFetch without return",
    code:
      `@rest({ route: "/notes", methods: [one({ postFetch: (_req, note) => { note.text = ""; } })] })
class Note extends FrameworkModel { @prop() text?: string; }`,
    says: `"postFetch returns nothing: return the entity, another object or null", Note>`,
  },
  {
    name: "a postFetch that does not always return",
    code:
      `@rest({ route: "/notes", methods: [one({ postFetch: (_req, note) => { if (note.text) return note; } })] })
class Note extends FrameworkModel { @prop() text?: string; }`,
    says: `"postFetch may return nothing: return the entity, another object or null", Note>`,
  },
  {
    name: "a preSave without return",
    code:
      `@rest({ route: "/notes", methods: [create({ preSave: (_req, note) => { note.text = ""; } })] })
class Note extends FrameworkModel { @prop() text?: string; }`,
    says: `"preSave returns nothing: return the entity, another object or null", Note>`,
  },
  {
    name: "a preSave without return where the model is named",
    code: `const saves = create<User>({ preSave: (_req, user) => { user.name = ""; } });`,
    says: `"preSave expects this model: return the entity, another object or null", User>`,
  },
  {
    name: "a hook that returns text",
    code:
      `@rest({ route: "/notes", methods: [all({ preSend: (_req, note) => String(note.text) })] })
class Note extends FrameworkModel { @prop() text?: string; }`,
    says: `the entity, another object or null`,
  },
  {
    name: "a hook of another name",
    code:
      `@rest({ route: "/notes", methods: [all({ postFech: (_req: FrameworkRequest, note: object) => note })] })
class Note extends FrameworkModel { @prop() text?: string; }`,
    says: `all() never runs postFech, it runs preFetch, fetch, postFetch and preSend`,
  },
  {
    name: "a hook that the operation never runs",
    code: `@rest({ route: "/notes", methods: [all({ preSave: forUser })] })
class Note extends User {}`,
    says: `all() never runs preSave, it runs preFetch, fetch, postFetch and preSend`,
  },
  {
    name: "a hook that a removal never runs",
    code: `@rest({ route: "/notes", methods: [removeAll({ preSend: (_req, note) => note })] })
class Note extends FrameworkModel { @prop() text?: string; }`,
    says: `'preSend' does not exist in type 'DocumentHooks<"removeAll", Note`,
  },
  {
    name: "a hook that the operation never runs where the model is named",
    code: `const lists = all<User>({ preFetch: () => true, preSave: forUser });`,
    says: `'preSave' does not exist in type`,
  },
  {
    name: "a model that is not named",
    code: `const lists = all({ preSend: (_req, note) => ({ text: note.text }) });`,
    says: `UnnamedModel<"name the model, as in all<Movie>({ })">`,
  },
  {
    name: "a class without a route",
    code: `@rest({ methods: [all()] })
class Note extends FrameworkModel { @prop() text?: string; }`,
    says: `'"@rest of a class needs a route, such as \\"/movies\\""'`,
  },
  {
    name: "a class that is no model",
    code: `@rest({ route: "/notes", methods: [all()] })
class Note { text?: string; }`,
    says: `"@rest belongs to a class that extends FrameworkModel"`,
  },
  {
    name: "no operations",
    code: `@rest({ route: "/notes", methods: [] })
class Note extends FrameworkModel { @prop() text?: string; }`,
    says: `"methods is empty: list operations, such as all()"`,
  },
  {
    name: "an operation that is not called",
    code: `@rest({ route: "/notes", methods: [all] })
class Note extends FrameworkModel { @prop() text?: string; }`,
    says: `"a called operation, such as all(), with hooks of this model", Note>`,
  },
  {
    name: "a wrong option of @rest",
    code: `@rest({ route: "/notes", methods: [all()], schemaOption: {} })
class Note extends FrameworkModel { @prop() text?: string; }`,
    says: `'schemaOption' does not exist in type 'RestOfClass<`,
  },
  {
    name: "a scope that returns nothing",
    code: `@rest({ route: "/notes", methods: [all()], scope: (req) => { ({ owner: req.ip }); } })
class Note extends FrameworkModel { @prop() text?: string; }`,
    says: `Returns<"scope returns a filter", QueryObject>`,
  },
  {
    name: "a wrong option of @prop",
    code: `class Note extends FrameworkModel { @prop({ requierd: true }) text!: string; }`,
    says: `"@prop has no option requierd"`,
  },
  {
    name: "a wrong option of @arrayProp",
    code:
      `class Note extends FrameworkModel { @arrayProp({ items: String, requierd: true }) tags!: string[]; }`,
    says: `"@arrayProp has no option requierd"`,
  },
  {
    name: "a type that does not fit the field",
    code: `class Note extends FrameworkModel { @prop({ type: Number }) text!: string; }`,
    says: `"type says a number, the field is a string"`,
  },
  {
    name: "a type that is missing",
    code: `class Note extends FrameworkModel { @prop() year!: number; }`,
    says: `"@prop is a string unless type says otherwise, the field is a number"`,
  },
  {
    name: "a type that is missing beside options",
    code: `class Note extends FrameworkModel { @prop({ required: true }) made!: Date; }`,
    says: `"@prop is a string unless type says otherwise, the field is a Date"`,
  },
  {
    name: "items that do not fit the field",
    code: `class Note extends FrameworkModel { @arrayProp({ items: String }) tags!: number[]; }`,
    says: `"items says a string, an element is a number"`,
  },
  {
    name: "items that are missing",
    code: `class Note extends FrameworkModel { @arrayProp({ required: true }) tags!: string[]; }`,
    says: `"@arrayProp needs items: a model class, () => Model or a type such as String"`,
  },
  {
    name: "items of a model in place of its identifiers",
    code: `class Note extends FrameworkModel { @arrayProp({ items: User }) users!: User[]; }`,
    says: `"items makes references, the field is a model: declare it as Ref or string"`,
  },
  {
    name: "a reference to another model",
    code: `class Note extends FrameworkModel { @prop({ ref: () => Address }) owner?: Ref<User>; }`,
    says: `"ref is of another model than the field's Ref"`,
  },
  {
    name: "references to another model",
    code:
      `class Note extends FrameworkModel { @arrayProp({ items: Address }) owners?: Ref<User>[]; }`,
    says: `"items is of another model than the field's Ref"`,
  },
  {
    name: "exists on a field that is no reference",
    code: `class Note extends FrameworkModel { @prop({ exists: true }) owner?: string; }`,
    says: `"exists belongs to a reference: say its model with ref"`,
  },
  {
    name: "exists on a list of values",
    code:
      `class Note extends FrameworkModel { @arrayProp({ items: String, exists: true }) tags?: string[]; }`,
    says: `"exists belongs to references: items of a model"`,
  },
  {
    name: "exists on what is embedded",
    code:
      `class Note extends FrameworkModel { @arrayProp({ items: Address, embedded: true, exists: true }) all?: Address[]; }`,
    says: `"exists belongs to references, the items are embedded"`,
  },
  {
    name: "a Map of another type",
    code:
      `class Note extends FrameworkModel { @prop({ type: Map, of: Number }) names?: Map<string, string>; }`,
    says: `"of says a number, what the Map holds is a string"`,
  },
  {
    name: "a default outside of the values of enum",
    code:
      `class Note extends FrameworkModel { @prop({ enum: ["a", "b"], default: "c" }) kind?: string; }`,
    says: `"default is not in enum"`,
  },
  {
    name: "an enum that the field may not hold",
    code: `class Note extends FrameworkModel { @prop({ enum: ["a", "c"] }) kind?: "a" | "b"; }`,
    says: `"enum holds what the field may not: it is a string"`,
  },
  {
    name: "a field of a class that is no model",
    code: `class Note { @prop() text?: string; }`,
    says: `"@prop belongs to a class that extends FrameworkModel"`,
  },
];

/** All mistakes as one module, and the line at which each one starts. */
export function writeMistakes(specifier: string): { text: string; starts: readonly number[] } {
  let text = HEADER.replace("@mongrove/mongrove", specifier);
  const starts = MISTAKES.map(({ code }, index) => {
    text += `export function mistake${index}() {\n`;
    const start = text.split("\n").length;
    text += `${code}\n}\n`;
    return start;
  });
  return { text, starts };
}

/** A message of a compiler: where it points, and its first line. */
export interface CompilerMessage {
  /** The line. */
  readonly line: number;
  /** The column. */
  readonly column: number;
  /** The first line of the message. */
  readonly text: string;
}

/** Gives the first message about each mistake. */
export function firstMessages(
  messages: readonly CompilerMessage[],
  starts: readonly number[],
): (string | undefined)[] {
  const sorted = messages.toSorted((a, b) => a.line - b.line || a.column - b.column);
  return starts.map((start, index) =>
    sorted.find(({ line }) => line >= start && line < (starts[index + 1] ?? Infinity))?.text
  );
}
