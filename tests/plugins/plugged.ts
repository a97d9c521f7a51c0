import {
  action,
  all,
  arrayProp,
  create,
  FrameworkModel,
  one,
  prop,
  type ReadOnly,
  type Ref,
  remove,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import type { Plugin, PluginCall } from "../../src/plugin/mod.ts";

/** A person of a task. */
@rest({
  route: "/people",
  methods: [all({ page: { max: 10 }, live: true }), one(), create()],
})
export class Assignee extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

/** A note on a task. */
export class Note extends FrameworkModel {
  @prop({ required: true })
  text!: string;
}

/** A task with parts, actions, a history and a trash. */
@rest({
  route: "/tasks",
  methods: [
    all({
      page: { max: 10 },
      populate: { person: {} },
      filter: ["name", "person", "person.name"],
    }),
    one(),
    create({ many: 5, atomic: false, formats: ["ndjson"] }),
    update(),
    remove(),
    removeAll({ filter: ["name"] }),
    action("close", { on: "one", run: (_req, task) => task }),
  ],
  history: true,
  trash: { see: () => true },
})
export class Task extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ ref: () => Assignee })
  person?: Ref<Assignee>;
  @prop({ readonly: true })
  readonly via?: ReadOnly<string>;
  @rest({ methods: [all({ page: false }), one(), create()] })
  @arrayProp({ items: Note, embedded: true })
  notes!: Note[];
}

/** A plugin that keeps each call of `around`. */
export function watching(): { readonly plugin: Plugin; readonly calls: PluginCall[] } {
  const calls: PluginCall[] = [];
  const plugin: Plugin = {
    name: "watching",
    async around(call, next) {
      calls.push(call);
      await next();
    },
  };
  return { plugin, calls };
}
