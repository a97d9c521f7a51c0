/** Models of Mongrove with the fields of items, or with others. @module */
import { define, FrameworkModel, type Method, type ModelClass } from "../../mod.ts";

export const ITEM = {
  title: { required: true },
  text: { required: true },
  author: {},
  stars: { type: Number },
  price: { type: Number },
  published: { type: Boolean },
  created: { type: Date },
  tags: { items: String },
};

/** Operations of any model. Their hooks are checked where the operations are called. */
export type Methods = readonly Method<Record<never, never>>[];

/** The collection and the fields of a model, and the options of its class. */
type Declared = { collection?: string; fields?: object } & Record<string, unknown>;

/** Returns a model on a route. It is named after the route, as models of one collection need different names. */
export function on(route: string, methods: Methods, declared: Declared = {}): ModelClass {
  const { collection = route, fields = ITEM, ...options } = declared;
  class OnRoute extends FrameworkModel {}
  Object.defineProperty(OnRoute, "name", { value: route });
  const rest = { route: `/${route}`, methods, schemaOptions: { collection }, ...options };
  // The class has no properties for the compiler to compare the fields with
  define(OnRoute, { fields, rest } as never);
  return OnRoute;
}
