import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  one,
  prop,
  type Ref,
  remove,
  replace,
  rest,
  update,
} from "../../../mod.ts";
import type { Client } from "../../support/client.ts";

/** A request of a batch, as clients send it. */
export interface Sent {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

export interface BatchBody {
  readonly responses: readonly {
    readonly id: string;
    readonly status: number;
    readonly headers: Record<string, string>;
    readonly body?: Record<string, unknown>;
  }[];
  /** What a refused batch answers. */
  readonly code: string;
  readonly message: string;
  readonly failed: string;
}

/** Sends a batch. */
export function sendBatch(
  app: Pick<Client, "post">,
  requests: readonly unknown[],
  headers: Record<string, string> = {},
) {
  return app.post<BatchBody>("/batch", { requests }, { headers });
}

/** Gives requests the identifiers `r0`, `r1`, … from rows of method, path and body. */
export function rows(...all: readonly (readonly [string, string, unknown?])[]): Sent[] {
  return all.map(([method, path, body], index) => ({
    id: `r${index}`,
    method,
    path,
    ...body !== undefined && { body },
  }));
}

const METHODS = [
  all({ page: { max: 50 }, count: true, sort: ["name"] }),
  one(),
  create({ many: 10 }),
  update(),
  replace(),
  remove(),
];

@rest({ route: "/authors", methods: METHODS })
export class Author extends FrameworkModel {
  @prop({ required: true, unique: true })
  name!: string;
  @prop({ type: Number })
  books?: number;
}

export class Page extends FrameworkModel {
  @prop({ required: true })
  text!: string;
}

@rest({
  route: "/books",
  methods: [
    all({ page: { max: 50 }, count: true, populate: { author: true }, sort: ["title"] }),
    one(),
    create(),
    update(),
    remove(),
  ],
})
export class Book extends FrameworkModel {
  @prop({ required: true })
  title!: string;
  @prop({ ref: () => Author, exists: true })
  author?: Ref<Author>;
  @rest({ route: "/pages", methods: [one(), create(), update(), remove()] })
  @arrayProp({ items: Page, embedded: true })
  pages?: Page[];
}
