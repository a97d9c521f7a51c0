import { all, create, type Entity, FrameworkModel } from "@mongrove/mongrove";
import { type FrameworkRequest, prop, type ReadOnly, rest } from "@mongrove/mongrove";

function setOwner({ user }: FrameworkRequest, todo: Entity<Todo>) {
  todo.owner = user?.name ?? "";
  return todo;
}

@rest({
  route: "/todos",
  scope: ({ user }) => ({ owner: user?.name }),
  methods: [all({ page: { max: 10 } }), create({ preSave: setOwner })],
})
export class Todo extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @prop({ readonly: true })
  owner?: ReadOnly<string>;
}
