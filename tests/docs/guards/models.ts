import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  type Restricted,
  StoredFile,
  update,
  updateAll,
} from "../../../mod.ts";

/** What ran since the last request was sent: the guard, hooks and `see`. */
export const ran: string[] = [];

/** Notes a function that lets everybody pass. */
export function passes(name: string) {
  return () => {
    ran.push(name);
    return true;
  };
}

const keeps = (name: string) => <E extends object>(_req: unknown, entity: E): E => {
  ran.push(name);
  return entity;
};

const changing = (owner: string) => ({
  preFetch: passes(`${owner} preFetch`),
  postFetch: keeps(`${owner} postFetch`),
  preSave: keeps(`${owner} preSave`),
});

const reading = (owner: string) => ({
  preFetch: passes(`${owner} preFetch`),
  postFetch: keeps(`${owner} postFetch`),
  preSend: keeps(`${owner} preSend`),
});

const writing = (owner: string) => ({ ...changing(owner), ...reading(owner) });

/** A scope that selects nothing for the callers who name its owner in `x-outside`. */
const scopeOf = (owner: string) => ({ headers }: FrameworkRequest) =>
  headers["x-outside"] === owner ? { title: "another" } : {};

const isCustomer = ({ headers }: FrameworkRequest) => headers["x-role"] === "customer";

class Titled extends FrameworkModel {
  @prop()
  title?: string;

  @prop({ default: "hush", hidden: isCustomer })
  secret?: Restricted<string>;

  @prop({ readonly: isCustomer })
  state?: string;
}

class Owned extends Titled {
  @prop({ readonly: true })
  readonly company?: string;
}

class Note extends Titled {
  @rest({
    methods: [
      one({ preFetch: passes("note.file.one preFetch") }),
      replace({ preFetch: passes("note.file.replace preFetch") }),
      remove({ preFetch: passes("note.file.remove preFetch") }),
    ],
  })
  @prop({ type: StoredFile, maxBytes: 1000, hidden: isCustomer })
  file?: Restricted<StoredFile>;
}

@rest({
  route: "/tags",
  tenant: "company",
  scope: scopeOf("tag"),
  methods: [
    all({ ...reading("Tag.all"), page: false }),
    one(reading("Tag.one")),
    create(writing("Tag.create")),
    update(writing("Tag.update")),
    remove(changing("Tag.remove")),
  ],
})
export class Tag extends Owned {}

const close = action("close", {
  on: "one",
  preFetch: passes("close preFetch"),
  postFetch: (req, task: Entity<Task>) => keeps("close postFetch")(req, task),
  run: async (_req: FrameworkRequest, task: Entity<Task>) => {
    task.state = "set";
    return await task.save();
  },
});

class Titles extends FrameworkModel {
  @arrayProp({ items: String })
  titles!: string[];
}

const titles = action("titles", {
  on: "all",
  answer: Titles,
  method: "GET",
  preFetch: passes("titles preFetch"),
  run: async (_req: FrameworkRequest, { model, filter }) => ({
    titles: (await model.distinct("title", filter)).map(String),
  }),
});

@rest({
  route: "/tasks",
  tenant: "company",
  history: true,
  trash: { see: passes("see") },
  scope: scopeOf("task"),
  methods: [
    all({ ...reading("all"), page: { max: 10 }, live: true }),
    one(reading("one")),
    create({
      ...writing("create"),
      many: 10,
      formats: ["ndjson"],
      idempotency: { keep: "1h", caller: ({ headers }) => `${headers["x-user"]}` },
    }),
    update(writing("update")),
    updateAll({ ...changing("updateAll"), fields: ["title", "state"] }),
    replace(writing("replace")),
    remove(changing("remove")),
    removeAll(changing("removeAll")),
    close,
    titles,
  ],
})
export class Task extends Owned {
  @rest({
    scope: scopeOf("note"),
    methods: [
      all({ ...reading("notes.all"), page: false }),
      one(reading("notes.one")),
      create(writing("notes.create")),
      update(writing("notes.update")),
      remove(changing("notes.remove")),
      removeAll(changing("notes.removeAll")),
    ],
  })
  @arrayProp({ items: Note, embedded: true, apart: true })
  notes?: Note[];

  @rest({
    methods: [
      all({ ...reading("tags.all"), page: false }),
      one(reading("tags.one")),
      create(writing("tags.create")),
      update(writing("tags.update")),
      remove(changing("tags.remove")),
      removeAll(changing("tags.removeAll")),
    ],
  })
  @arrayProp({ items: Tag })
  tags?: Ref<Tag>[];

  @rest({
    methods: [
      one({ preFetch: passes("file.one preFetch") }),
      replace({ preFetch: passes("file.replace preFetch") }),
      remove({ preFetch: passes("file.remove preFetch") }),
    ],
  })
  @prop({ type: StoredFile, maxBytes: 1000, hidden: isCustomer })
  file?: Restricted<StoredFile>;
}

@rest({
  route: "/steps",
  tenant: "company",
  scope: scopeOf("step"),
  methods: [
    one({ ...reading("Step.one"), populate: { task: true } }),
    create(writing("Step.create")),
    remove(changing("Step.remove")),
  ],
  trash: true,
})
export class Step extends Owned {
  @prop({ ref: Task, onDelete: "cascade", unguarded: true })
  task?: Ref<Task>;
}

@rest({
  route: "/plans",
  tenant: "company",
  scope: scopeOf("plan"),
  trash: { see: passes("see"), restore: passes("restore") },
  methods: [update(writing("Plan.update")), remove(changing("Plan.remove"))],
})
export class Plan extends Owned {}
