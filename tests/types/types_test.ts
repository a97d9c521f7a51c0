/**
 * What the compiler must accept of requests, models, errors and options, and what it must refuse. `deno test`
 * type-checks this file: a case that compiles although it must not is an unused `@ts-expect-error`, and that is an
 * error.
 */
import { assertEquals } from "@std/assert";
import type { HydratedDocument } from "mongoose";
import { type Entity, Framework, type FrameworkRequest, getModel, RestError } from "../../mod.ts";
import { Actor, expect, Movie, type Same } from "../support/same_type.ts";

async function requests(req: FrameworkRequest<Movie>): Promise<void> {
  const model = await req.framework.model();
  const movie = await model.findOne({ title: "x" });
  if (movie !== null) expect<Same<typeof movie.title, string>>();
  // The name of an action, too.
  expect<Same<typeof req.framework.operation, string>>();
  req.framework.filter.title = "x";
  req.framework.options = { limit: 5 };
  req.res?.setHeader("X-A", "b");
  // @ts-expect-error the operation is read-only
  req.framework.operation = "all";
  // @ts-expect-error a filter is an object
  req.framework.filter = "x";
}

async function models(): Promise<void> {
  const model = getModel(Movie);
  expect<Same<ReturnType<typeof model.byTitle>, string>>();
  const found: HydratedDocument<Movie> | null = await model.findById("x");
  expect<Same<typeof found, Entity<Movie> | null>>();
  const actor = new (getModel(Actor))({ name: "x" });
  expect<Same<ReturnType<typeof actor.act>, string>>();
  // @ts-expect-error a static that the class has not
  model.byName("x");
  // @ts-expect-error the static takes text
  model.byTitle(5);
  // @ts-expect-error no model class
  getModel(class Plain {});
  // @ts-expect-error no connection
  getModel(Movie, "mongodb://127.0.0.1");
}

function errors(): void {
  new RestError(401, { code: "UNAUTHENTICATED" }, {
    headers: { "WWW-Authenticate": "x" },
    cause: 1,
  });
  new RestError(403, "Not yours");
  // @ts-expect-error a status is a number
  new RestError("401", "x");
  // @ts-expect-error a body or a message
  new RestError(401, 5);
  // @ts-expect-error a body or a message
  new RestError(401);
}

function options(): void {
  Framework.initialize({
    models: [Movie],
    limits: { timeMS: 5, query: { maxDepth: 2 } },

    onError: (req) => req,
  });
  // @ts-expect-error no model
  Framework.initialize({ models: [class Plain {}] });
  // @ts-expect-error an option that there is not
  Framework.initialize({ model: [Movie] });
}

Deno.test("the types of the package hold: every case above compiles, or fails to, as it says", () => {
  assertEquals([requests, models, errors, options].length, 4);
});
