/** A mistake that users make, and what the compiler has to say about it. */
export interface Mistake {
  /** What is wrong. */
  readonly name: string;
  /** The code; it stands inside a function, below {@linkcode HEADER}. */
  readonly code: string;
  /** What stands in the first line of the compiler's message. The order of the names in a union is not ours: parts of it. */
  readonly says: string | readonly string[];
}

const HEADER = `import {
  all, arrayProp, create, type Defaulted, define, type Entity, FrameworkModel, type FrameworkRequest, type Hidden, leaveOut, one, onlyIf, prop, type ReadOnly, type Ref, removeAll, rest, StoredFile, update,
} from "@mongrove/mongrove";
import { connect, type Resource } from "@mongrove/mongrove/client";
class User extends FrameworkModel {
  @prop({ required: true }) name!: string;
}
class Address extends FrameworkModel {
  @prop({ required: true }) street!: string;
}
class Movie extends FrameworkModel {
  @prop({ required: true }) name!: string;
  @prop({ type: Number }) year?: number;
  @prop({ type: Date }) seen?: Date;
  @prop({ hidden: true }) secret?: Hidden<string>;
  @arrayProp({ items: String }) tags?: string[];
  @arrayProp({ items: User }) cast?: Ref<User>[];
  upper(): string { return this.name.toUpperCase(); }
}
class Film extends FrameworkModel {
  name!: string;
  year?: number;
  cast?: Ref<User>[];
  reviews?: Address[];
  secret?: Hidden<string>;
  readonly seen?: boolean;
  get upper(): string { return this.name.toUpperCase(); }
  lower(): string { return this.name.toLowerCase(); }
}
const FILM = {
  name: {}, year: { type: Number }, cast: { items: User }, reviews: { items: Address, embedded: true },
  secret: { hidden: true },
} as const;
class Note extends FrameworkModel { text?: string; }
const movies: Resource<Movie> = connect("https://example.org").resource<Movie>("/movies");
function forUser(_req: FrameworkRequest, user: Entity<User>): Entity<User> { return user; }
`;

/** The mistakes. */
export const MISTAKES: readonly Mistake[] = [
  {
    name: "a hook that lists a misspelled field",
    code: `all<Movie>({ postFetch: onlyIf(["yeer"], () => true) });`,
    says: [`Type '"yeer"' is not assignable to type`, `"year"`],
  },
  {
    name: "a filter with a misspelled field of a referred class",
    code: `all<Movie>({ filter: ["cast.nme"] });`,
    says: [`Type '"cast.nme"' is not assignable to type`, `Did you mean '"cast.name"'?`],
  },
  {
    name: "a filter of a class with a misspelled field of a referred class",
    code: `@rest({ route: "/notes", methods: [all({ filter: ["by.nme"] })] })
class Note extends FrameworkModel { @prop({ ref: User }) by?: Ref<User>; }`,
    says: [`Type '"by.nme"' is not assignable to type`, `Did you mean '"by.name"'?`],
  },
  {
    name: "a query with a misspelled field of a referred class",
    code: `movies.all({ q: { "cast.nme": "Ann" } });`,
    says: `'"cast.nme"' does not exist in type 'Query<Movie>'`,
  },
  {
    name: "a hook of a class that lists a method",
    code: `@rest({ route: "/notes", methods: [all({ postFetch: onlyIf(["trim"], () => true) })] })
class Note extends FrameworkModel { @prop() text?: string; trim(): string { return ""; } }`,
    says: [`Type '"trim"' is not assignable to type`, `"text"`],
  },
  {
    name: "a test that reads a field that its list does not name",
    code:
      `onlyIf(["name"], (_req: FrameworkRequest, { year }: Pick<Movie, "name" | "year">) => year === 1);`,
    says: `"the test gets year, which the list does not name"`,
  },
  {
    name: "a hook that leaves a required field out",
    code: `all<Movie>({ filter: [], preSend: leaveOut(["name"], ["year"], () => true) });`,
    says: `"leaveOut takes optional fields, name is required"`,
  },
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
    says: `"a called operation, such as all(), with hooks and fields of this model", Note>`,
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
    says: `removeAll() never runs preSend, it runs preFetch, fetch, postFetch, preSave and persist`,
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
    says: `"@rest of a class needs a route, such as \\"/movies\\""`,
  },
  {
    name: "a misspelled route",
    code: `@rest({ rout: "/notes", methods: [all()] })
class Note extends FrameworkModel { @prop() text?: string; }`,
    says: [`'rout' does not exist in type 'RestOfClass<`, `Did you mean to write 'route'?`],
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
    says: `"a called operation, such as all(), with hooks and fields of this model", Note>`,
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
    name: "a scope with a field that the class does not have, inside $or",
    code: `@rest({ route: "/notes", methods: [all()], scope: () => ({ $or: [{ ownr: "a" }] }) })
class Note extends FrameworkModel { @prop() owner?: string; }`,
    says: `"the class has no ownr"`,
  },
  {
    name: "a scope with a field that an embedded class does not have, inside $elemMatch",
    code:
      `@rest({ route: "/clubs", methods: [all()], scope: () => ({ sites: { $elemMatch: { $nor: [{ stret: "a" }] } } }) })
class Club extends FrameworkModel { @arrayProp({ items: Address, embedded: true }) sites?: Address[]; }`,
    says: `"the class has no sites.stret"`,
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
    name: "a list without @arrayProp",
    code: `class Note extends FrameworkModel { @prop() tags?: string[]; }`,
    says: `"@prop is one value, the field is a list: use @arrayProp"`,
  },
  {
    name: "a list as a type",
    code: `class Note extends FrameworkModel { @prop({ type: [String] }) tags?: string[]; }`,
    says: `"the field is a list: use @arrayProp"`,
  },
  {
    name: "a type by its name",
    code: `class Note extends FrameworkModel { @prop({ type: "number" }) count?: number; }`,
    says: `"type is neither a class such as Number nor a model class"`,
  },
  {
    name: "a reference without ref",
    code: `class Note extends FrameworkModel { @prop() owner?: Ref<User>; }`,
    says: `"the field is an identifier: say its model with ref"`,
  },
  {
    name: "a reference whose model is its type",
    code: `class Note extends FrameworkModel { @prop({ type: User }) owner?: Ref<User>; }`,
    says: `"the field is an identifier: say its model with ref"`,
  },
  {
    name: "a ref on an embedded model",
    code: `class Note extends FrameworkModel { @prop({ ref: User }) owner?: User; }`,
    says: `the field is a model: declare it as Ref or string, or embed it with type"`,
  },
  {
    name: "embedded identifiers",
    code: `class Note extends FrameworkModel {
  @arrayProp({ items: User, embedded: true }) owners?: Ref<User>[];
}`,
    says: `"embedded stores models, an element is an identifier"`,
  },
  {
    name: "a minimum of a string",
    code: `class Note extends FrameworkModel { @prop({ min: 3 }) text?: string; }`,
    says: `"min belongs to numbers and dates, the value is a string"`,
  },
  {
    name: "a function in the place of a bound",
    code:
      `class Note extends FrameworkModel { @prop({ type: Number, max: () => 5 }) count?: number; }`,
    says: "Type '() => number' is not assignable to type 'Bound<number>",
  },
  {
    name: "a length of a number",
    code:
      `class Note extends FrameworkModel { @prop({ type: Number, maxLength: 3 }) count?: number; }`,
    says: `"maxLength belongs to strings, the value is a number"`,
  },
  {
    name: "a length of a list of numbers",
    code:
      `class Note extends FrameworkModel { @arrayProp({ items: Number, maxLength: 3 }) counts?: number[]; }`,
    says: `"maxLength belongs to strings, the value is a number"`,
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
    says:
      `"items makes references, the elements are models: declare them as Ref or string, or add embedded: true"`,
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
  {
    name: "a sort by a field that the class does not have",
    code: `@rest({ route: "/films", methods: [all({ sort: ["nme"] })] })
class Film extends Movie {}`,
    says: [
      `Type '"nme"' is not assignable to type '`,
      `"_id"`,
      `"name"`,
      `"year"`,
      `Did you mean '"name"'?`,
    ],
  },
  {
    name: "a sort by a list",
    code: `@rest({ route: "/films", methods: [all({ sort: ["name", "tags"] })] })
class Film extends Movie {}`,
    says: `"sort takes no lists and no objects, tags is a list"`,
  },
  {
    name: "a sort by a list beside an inline hook",
    code:
      `@rest({ route: "/films", methods: [all({ sort: ["tags"], preSend: (_req, film) => film })] })
class Film extends Movie {}`,
    says: [`'"tags"' is not assignable to type '`, `"_id"`, `"name"`, `"year"`],
  },
  {
    name: "a sort where the model is named",
    code: `const lists = all<Movie>({ sort: ["nme"] });`,
    says: [
      `'"nme"' is not assignable to type '`,
      `"_id"`,
      `"name"`,
      `"year"`,
      `Did you mean '"name"'?`,
    ],
  },
  {
    name: "a sort of another model in a variable",
    code: `const list = all({ sort: ["nme"] });
@rest({ route: "/films", methods: [list] })
class Film extends Movie {}`,
    says: `"a called operation, such as all(), with hooks and fields of this model", Film>`,
  },
  {
    name: "a sort by a field that the class of a property does not have",
    code: `class Club extends FrameworkModel {
  @rest({ methods: [all({ sort: ["nam"] })] })
  @arrayProp({ items: User }) members?: Ref<User>[];
}`,
    says: [`'"nam"' is not assignable to type '`, `"_id"`, `"name"`, `Did you mean '"name"'?`],
  },
  {
    name: "a sort of one entity",
    code: `@rest({ route: "/films", methods: [one({ sort: ["name"] })] })
class Film extends Movie {}`,
    says: `"one() has no sort, only all() has"`,
  },
  {
    name: "a page of a create",
    code: `@rest({ route: "/films", methods: [create({ page: { max: 5 } })] })
class Film extends Movie {}`,
    says: `"create() has no page, only all() has"`,
  },
  {
    name: "a select of an update",
    code: `@rest({ route: "/films", methods: [update({ select: ["name"] })] })
class Film extends Movie {}`,
    says: `"update() has no select, only all() and one() have"`,
  },
  {
    name: "a select of a hidden field",
    code: `@rest({ route: "/films", methods: [all({ select: ["secret"] })] })
class Film extends Movie {}`,
    says: `"secret is hidden"`,
  },
  {
    name: "a select of a method",
    code: `@rest({ route: "/films", methods: [one({ select: ["upper"] })] })
class Film extends Movie {}`,
    says: `"select takes fields, upper is a method"`,
  },
  {
    name: "a search in a number",
    code: `@rest({ route: "/films", methods: [all({ search: ["name", "year"] })] })
class Film extends Movie {}`,
    says: `"search takes fields that are strings, year is a number"`,
  },
  {
    name: "a populate that is a list, as clients write it",
    code: `@rest({ route: "/films", methods: [all({ populate: ["cast"] })] })
class Film extends Movie {}`,
    says: `"populate is an object, such as { director: true }"`,
  },
  {
    name: "a populate of a field that the class does not have",
    code: `@rest({ route: "/films", methods: [all({ populate: { cats: true } })] })
class Film extends Movie {}`,
    says: `"populate takes references, the class has no cats"`,
  },
  {
    name: "a populate of what is no reference",
    code: `@rest({ route: "/films", methods: [all({ populate: { tags: true, upper: true } })] })
class Film extends Movie {}`,
    says: `"populate takes fields, upper is a method"`,
  },
  {
    name: "a populate with a field that its model does not have",
    code: `@rest({ route: "/films", methods: [all({ populate: { cast: { select: ["nam"] } } })] })
class Film extends Movie {}`,
    says: [
      `'"nam"' is not assignable to type '`,
      `"__v"`,
      `"_id"`,
      `"name"`,
      `Did you mean '"name"'?`,
    ],
  },
  {
    name: "a wrong option of populate",
    code: `@rest({ route: "/films", methods: [all({ populate: { cast: { allways: true } } })] })
class Film extends Movie {}`,
    says: `"populate has no option allways"`,
  },
  {
    name: "a wrong option of page",
    code: `@rest({ route: "/films", methods: [all({ page: { max: 5, sise: 2 } })] })
class Film extends Movie {}`,
    says: `"page has no option sise"`,
  },
  {
    name: "a misspelled option beside one of an object",
    code: `@rest({ route: "/films", methods: [all({ pge: { max: 5 }, page: { max: 5 } })] })
class Film extends Movie {}`,
    says: `"all() has no option pge"`,
  },
  {
    name: "a misspelled option of names",
    code: `@rest({ route: "/films", methods: [all({ slect: ["name"] })] })
class Film extends Movie {}`,
    says: `"all() has no option slect"`,
  },
  {
    name: "a filter of a create",
    code: `@rest({ route: "/films", methods: [create({ filter: ["name"] })] })
class Film extends Movie {}`,
    says: `"create() has no filter"`,
  },
  {
    name: "a filter of a create where the model is named",
    code: `const creates = create<Movie>({ filter: ["name"] });`,
    says: `'filter' does not exist in type`,
  },
  {
    name: "a page without max",
    code: `@rest({ route: "/films", methods: [all({ page: { size: 5 } })] })
class Film extends Movie {}`,
    says: `'false | PageOptions | undefined'`,
  },
  {
    name: "a Hidden field that is not hidden",
    code: `class Note extends FrameworkModel { @prop() text?: Hidden<string>; }`,
    says: `"the field is Hidden: add hidden: true"`,
  },
  {
    name: "a ReadOnly field that is not readonly",
    code: `class Note extends FrameworkModel { @prop({ type: Date }) at?: ReadOnly<Date>; }`,
    says: `"the field is ReadOnly: add readonly: true"`,
  },
  {
    name: "a property with the keyword readonly that clients could set",
    code: `class Note extends FrameworkModel { @prop({ type: Number }) readonly total!: number; }`,
    says: `"the property is readonly: add readonly: true"`,
  },
  {
    name: "an entry for a property with the keyword readonly that clients could set",
    code: `class Note extends FrameworkModel { readonly total!: number; }
define(Note, { fields: { total: { type: Number } } });`,
    says: `"total: the property is readonly: add readonly: true"`,
  },
  {
    name: "a file without a maximum size",
    code: `class Note extends FrameworkModel { @prop({ type: StoredFile }) scan?: StoredFile; }`,
    says: `"the field is a file: add maxBytes, the maximum number of bytes"`,
  },
  {
    name: "a filter of the client with a field that the class does not have",
    code: `movies.all({ q: { name: "a", yeer: 1970 } });`,
    says: `'yeer' does not exist in type 'Query<Movie>'`,
  },
  {
    name: "a filter of the client by a hidden field",
    code: `movies.all({ q: { secret: "a" } });`,
    says: `'secret' does not exist in type 'Query<Movie>'`,
  },
  {
    name: "a filter of the client with an operator for another type",
    code: `movies.all({ q: { year: { $regex: "x" } } });`,
    says: `'$regex' does not exist in type`,
  },
  {
    name: "a filter of the client with a value of another type",
    code: `movies.all({ q: { year: { $gte: "1970" } } });`,
    says: `Type 'string' is not assignable to type 'number'`,
  },
  {
    name: "a select of the client",
    code: `movies.all({ select: ["nme"] });`,
    says: [`'"nme"' is not assignable to type 'FieldName<Movie>'`, `Did you mean '"name"'?`],
  },
  {
    name: "a sort of the client by a list",
    code: `movies.all({ sort: ["tags"] });`,
    says: [`'"tags"' is not assignable to type 'SortName<Movie>'`],
  },
  {
    name: "a revive of the client that is no date",
    code: `movies.all({ revive: ["year"] });`,
    says: `'"year"' is not assignable to type`,
  },
  {
    name: "a populate of the client that is no reference",
    code: `movies.all({ populate: ["tgs"] });`,
    says: `'"tgs"' is not assignable to type`,
  },
  {
    name: "an option that the client does not have",
    code: `movies.all({ limt: 5 });`,
    says: [`'limt' does not exist in type 'ListOptions<`, `Did you mean to write 'limit'?`],
  },
  {
    name: "a body of the client with a field that no body sets",
    code: `movies.create({ name: "a", _id: "b" });`,
    says: `'_id' does not exist in type 'NewOf<Movie>'`,
  },
  {
    name: "a body of the client without a required field",
    code: `movies.create({ year: 1970 });`,
    says:
      `Argument of type '{ year: number; }' is not assignable to parameter of type 'NewOf<Movie>'`,
  },
  {
    name: "a change of the client of a hidden field",
    code: `movies.update("a", { secret: "b" });`,
    says: `'secret' does not exist in type 'PatchOf<Movie>'`,
  },
  {
    name: "a Defaulted field without a default",
    code: `class Note extends FrameworkModel { @prop() text!: Defaulted<string>; }`,
    says: `"the field is Defaulted: add default"`,
  },
  {
    name: "a body of the client with a value of another type",
    code: `movies.update("a", { year: "1970" });`,
    says: `Type 'string' is not assignable to type 'number'`,
  },
  {
    name: "a removal of the client without a filter",
    code: `movies.removeAll();`,
    says: `Expected 1 arguments, but got 0`,
  },
  {
    name: "a field of an answer that is not selected",
    code: `movies.one("a", { select: ["name"] }).then((movie) => movie.year);`,
    says: `Property 'year' does not exist on type`,
  },
  {
    name: "an entry that is missing",
    code:
      `define(Film, { fields: { name: {}, cast: { items: User }, reviews: { items: Address, embedded: true }, secret: { hidden: true } } });`,
    says: [
      `Property 'year' is missing in type`,
      `"each property of the class needs an entry in fields, such as {} for a string"`,
    ],
  },
  {
    name: "an entry for no property",
    code: `define(Note, { fields: { text: {}, txt: {} } });`,
    says: `"the class has no property txt"`,
  },
  {
    name: "an entry for a method",
    code: `define(Film, { fields: { ...FILM, lower: {} } });`,
    says: `"lower is a method and has no entry"`,
  },
  {
    name: "an entry of another type",
    code: `define(Film, { fields: { ...FILM, year: { type: String } } });`,
    says: `"year: type says a string, the field is a number"`,
  },
  {
    name: "an entry without the type of its property",
    code: `define(Film, { fields: { ...FILM, year: { min: 1888 } } });`,
    says: `"year: an entry is a string unless type says otherwise, the field is a number"`,
  },
  {
    name: "an entry of a list without items",
    code: `define(Film, { fields: { ...FILM, cast: {} } });`,
    says: `"cast: an entry is one value, the field is a list: use items"`,
  },
  {
    name: "an entry of a list with a type",
    code: `define(Film, { fields: { ...FILM, cast: { type: String } } });`,
    says: `"cast: the field is a list: use items"`,
  },
  {
    name: "an entry with items for one value",
    code: `define(Note, { fields: { text: { items: String } } });`,
    says: `"text: an entry with items is a list, the field is a string"`,
  },
  {
    name: "an entry with items of another model",
    code: `define(Film, { fields: { ...FILM, cast: { items: Address } } });`,
    says: `"cast: items is of another model than the field's Ref"`,
  },
  {
    name: "an entry with items that are not embedded",
    code: `define(Film, { fields: { ...FILM, reviews: { items: Address } } });`,
    says:
      `"reviews: items makes references, the elements are models: declare them as Ref or string, or add embedded: true"`,
  },
  {
    name: "an entry that is not hidden",
    code: `define(Film, { fields: { ...FILM, secret: {} } });`,
    says: `"secret: the field is Hidden: add hidden: true"`,
  },
  {
    name: "a misspelled option of an entry",
    code: `define(Note, { fields: { text: { requird: true } } });`,
    says: `"text: an entry has no option requird"`,
  },
  {
    name: "an option of single values in an entry with items",
    code: `define(Film, { fields: { ...FILM, cast: { items: User, ref: User } } });`,
    says: `"cast: an entry with items has no option ref"`,
  },
  {
    name: "a limit of numbers in an entry of a string",
    code: `define(Note, { fields: { text: { min: 5 } } });`,
    says: `"text: min belongs to numbers and dates, the value is a string"`,
  },
  {
    name: "a wrong option beside a function in an entry",
    code:
      `define(Note, { fields: { text: { default: 5, validate: (text) => text.length > 1 } } });`,
    says: `"text: default is what the field may not hold: it is a string"`,
  },
  {
    name: "a define() of a class that is no model",
    code: `define(class { text?: string; }, { fields: { text: {} } });`,
    says: `"define() takes a class that extends FrameworkModel"`,
  },
  {
    name: "a define() with an option that there is not",
    code: `define(Note, { fields: { text: {} }, rests: [] });`,
    says: `"define() has no option rests"`,
  },
  {
    name: "a define() of another base",
    code: `class Sub extends Note { more?: string; }
define(Sub, { extends: Address, fields: { text: {}, more: {} } });`,
    says: `"extends names another class than the base of the class"`,
  },
  {
    name: "a define() whose base is not named",
    code: `class Sub extends Note { more?: string; }
define(Sub, { fields: { more: {} } });`,
    says: [`Property 'text' is missing in type`, `"each property of the class needs an entry`],
  },
  {
    name: "a route of define() without its path",
    code: `define(Note, { fields: { text: {} }, rest: { methods: [all()] } });`,
    says: [
      `Property 'route' is missing in type`,
      `"rest of a class needs a route, such as \\"/movies\\", and methods"`,
    ],
  },
  {
    name: "a misspelled option of a route of define()",
    code:
      `define(Note, { fields: { text: {} }, rest: { route: "/notes", methods: [all()], rout: "/n" } });`,
    says: `"rest has no option rout"`,
  },
  {
    name: "a route of define() without operations",
    code: `define(Note, { fields: { text: {} }, rest: { route: "/notes", methods: [] } });`,
    says: `"methods is empty: list operations, such as all()"`,
  },
  {
    name: "a list of no routes",
    code: `define(Note, { fields: { text: {} }, rest: [] });`,
    says: `"rest is empty: leave it out, or list a route"`,
  },
  {
    name: "a hook of define() for another model",
    code:
      `define(Note, { fields: { text: {} }, rest: { route: "/notes", methods: [all(), one({ postFetch: forUser })] } });`,
    says: `"this postFetch expects another model", Note>`,
  },
  {
    name: "a hook of define() without return",
    code:
      `define(Note, { fields: { text: {} }, rest: { route: "/notes", methods: [one({ postFetch: (_req, note) => { note.text = ""; } })] } });`,
    says: `"postFetch returns nothing: return the entity, another object or null", Note>`,
  },
  {
    name: "a scope of define() with a field that the class does not have",
    code:
      `define(Note, { fields: { text: {} }, rest: { route: "/notes", methods: [all()], scope: () => ({ txt: "a" }) } });`,
    says: `"the class has no txt"`,
  },
  {
    name: "a sort of define() by a field that the class does not have",
    code:
      `define(Note, { fields: { text: {} }, rest: { route: "/notes", methods: [all({ sort: ["txt"] })] } });`,
    says: [`'"txt"' is not assignable to type '`, `Did you mean '"text"'?`],
  },
  {
    name: "operations of another model in define()",
    code:
      `define(Note, { fields: { text: {} }, rest: { route: "/notes", methods: [all<User>({ preSend: (_req, user) => user })] } });`,
    says: `"a called operation, such as all(), with hooks and fields of this model", Note>`,
  },
  {
    name: "a hook of a property of define() for another model",
    code:
      `define(Film, { fields: { ...FILM, reviews: { items: Address, embedded: true, rest: { methods: [all({ preSend: forUser })] } } } });`,
    says: `"this preSend expects another model", Address>`,
  },
  {
    name: "an option of a class in the route of a property",
    code:
      `define(Film, { fields: { ...FILM, cast: { items: User, rest: { methods: [all()], main: true } } } });`,
    says: `"rest has no option main"`,
  },
];

/** All mistakes as one module, and the line at which each one starts. */
export function writeMistakes(specifier: string): { text: string; starts: readonly number[] } {
  const client = specifier.endsWith("/mod.ts")
    ? new URL("src/client/mod.ts", specifier).href
    : `${specifier}/client`;
  let text = HEADER.replace('"@mongrove/mongrove"', `"${specifier}"`)
    .replace("@mongrove/mongrove/client", client);
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
