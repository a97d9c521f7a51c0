/** An application that exports hooks, operations and resources of the client, whose types TypeScript infers. */
export const INFERRED = `import {
  action, all, and, arrayProp, asFilter, create, define, type Defaulted, type Entity, FrameworkModel, type FrameworkRequest, getModel, type Hidden,
  leaveOut, one, onlyIf, or, prop, type ReadOnly, type Ref, remove, removeAll, replace, rest, type Restricted, StoredFile, update, updateAll, Framework,
} from "@mongrove/mongrove";
import { connect } from "@mongrove/mongrove/client";
import { collectionOptions } from "@mongrove/mongrove/tanstack";

class Address extends FrameworkModel {
  @prop({ required: true })
  city!: string;
}
export class Count extends FrameworkModel {
  @prop({ type: Number, required: true })
  count!: number;
}
export const isStaff = (req: FrameworkRequest) => req.headers["x-role"] === "staff";
export const keepOwn = (req: FrameworkRequest, todo: Entity<Todo>) => todo.owner === req.headers["x-user"] ? todo : null;
export const shown = onlyIf(["shown", "owner"], (req: FrameworkRequest, todo: Pick<Todo, "shown" | "owner">) => todo.shown || todo.owner === req.headers["x-user"]);
export const whole = onlyIf((_req: FrameworkRequest, todo: Todo) => todo.shown);
export const hideOwner = leaveOut(["owner"], ["shown"], (_req: FrameworkRequest, todo: Pick<Todo, "shown">) => !todo.shown);
export const both = and(keepOwn, shown);
export const either = or(isStaff, isStaff);
export const quiet = asFilter(keepOwn);
export const list = all<Todo>({ page: { max: 10 }, sort: ["text"], filter: ["text"], postFetch: shown, live: true, groups: { by: ["text"], count: true } });
export const single = one<Todo>({ preSend: keepOwn });
export const make = create<Todo>({ many: 5, idempotency: { keep: "1h", caller: () => "" } });
export const change = update<Todo>({ preSave: (_req, todo) => todo });
export const changeAll = updateAll<Todo>({ fields: ["text"], max: 5 });
export const put = replace<Todo>();
export const gone = remove<Todo>({ preFetch: isStaff });
export const goneAll = removeAll<Todo>({ max: 5 });
export const plain = all();
export const close = action("close", { on: "one", body: Count, run: async (_req, todo: Entity<Todo>, { count }) => { todo.text += count; return await todo.save(); } });
export const reopen = action<Todo>("reopen", { on: "one", run: async (_req, todo) => await todo.save() });
export const total = action("total", { on: "all", method: "GET", answer: Count, run: async (_req, { model, filter }) => ({ count: await model.countDocuments(filter) }) });
export const methods = [list, single, make, change, put, gone, goneAll, close, reopen, total];

@rest({ route: "/todos", methods: [list, single, make, change, changeAll, put, gone, goneAll, close, reopen, total] })
export class Todo extends FrameworkModel {
  @prop({ required: true })
  text!: string;
  @prop({ default: false })
  shown!: Defaulted<boolean>;
  @prop()
  owner?: string;
  @prop({ hidden: true })
  secret?: Hidden<string>;
  @prop({ hidden: isStaff })
  note?: Restricted<string>;
  @prop({ readonly: true })
  by?: ReadOnly<string>;
  @prop({ ref: () => Todo })
  parent?: Ref<Todo>;
  @prop({ type: Date })
  due?: Date;
  @prop({ type: StoredFile, maxBytes: 5 })
  scan?: StoredFile;
  @prop({ type: Address })
  address?: Address;
  @rest({ methods: [all(), one(), create()] })
  @arrayProp({ items: Address, embedded: true, apart: true })
  addresses?: Address[];
}
class Defined extends FrameworkModel { name!: string }
export const defined = define(Defined, { fields: { name: {} } });
export const Todos = getModel(Todo);
export const router = Framework.initialize({ models: [Todo] });
export const described = Framework.describe({ models: [Todo] });
export const errors = Framework.errors();
export const health = () => Framework.health();
export const selected = (req: FrameworkRequest) => Framework.queryFor(req, Todo);

export const api = connect("https://example.org");
export const todos = api.resource<Todo>("/todos");
export const rows = collectionOptions(todos, { live: true, query: { sort: ["text"] } });
export const addresses = todos.part("addresses", "x");
export const page = todos.all({ q: { text: "a" }, sort: ["text"], select: ["text"] });
export const populated = todos.all({ populate: ["parent"], revive: ["due"] });
export const parents = todos.one("x", { select: ["text", "parent"], populate: { parent: ["text"] } });
export const parentOf = async (id: string) => (await todos.one(id, { populate: ["parent"] })).parent;
export const addressOf = async (id: string) => (await todos.one(id)).address;
export const scanOf = async (id: string) => (await todos.one(id)).scan;
export const each = todos.each({ revive: ["due"] });
export const revived = todos.update("x", { text: "b" }, { revive: ["due"] });
export const scan = todos.file("scan", "x");
export const address = todos.part("address", "x");
export const history = todos.history("x");
export const changed = todos.updateAll({ text: "b" }, { q: {} });
export const written = todos.create({ text: "a" }, { minimal: true });
export const many = todos.createMany([{ text: "a" }], { atomic: false });
export const patched = todos.update("x", { text: "b" });
export const removed = todos.remove("x");
export const removedAll = todos.removeAll({ q: {} });
export const called = todos.action<typeof close>("close", "x", { count: 1 });
export const reopened = todos.action<typeof reopen>("reopen", "x");
export const lists = todos.live({ q: { text: "a" } });
export const grouped = todos.groups({ by: ["text"] });
export const batched = api.batch((batch) => [batch.resource<Todo>("/todos").create({ text: "a" })]);
`;

/** The same with the annotations that \`isolatedDeclarations\` needs. */
export const ANNOTATED = `import {
  all, create, type Entity, type EntityHook, Framework, FrameworkModel, type FrameworkRequest, type FrameworkRouter, type HooksOf, type LeanHooksOf, type Method, onlyIf, type PreFetch, prop, rest,
} from "@mongrove/mongrove";
import { type Api, connect, type Resource } from "@mongrove/mongrove/client";

export const isStaff: PreFetch<FrameworkRequest> = (req) => req.headers["x-role"] === "staff";
export const keepOwn: EntityHook<Note> = (req, note) => note.owner === req.headers["x-user"] ? note : null;
export const shown: EntityHook<Pick<Note, "owner">> = onlyIf(["owner"], (req: FrameworkRequest, note: Pick<Note, "owner">) => note.owner === req.headers["x-user"]);
export const list: Method<HooksOf<Note> | LeanHooksOf<Note>, Note> = all<Note>({ postFetch: keepOwn });
export const make: Method<HooksOf<Note>, Note> = create<Note>({ preFetch: isStaff });

@rest({ route: "/notes", methods: [list, make] })
export class Note extends FrameworkModel {
  @prop()
  owner?: string;
}
export const router: FrameworkRouter = Framework.initialize({ models: [Note] });
export const api: Api = connect("https://example.org");
export const notes: Resource<Note> = api.resource<Note>("/notes");
`;
