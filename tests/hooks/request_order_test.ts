import { assertEquals } from "@std/assert";
import {
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  one,
  prop,
  remove,
  replace,
  rest,
  RestError,
  type Restricted,
  update,
} from "../../mod.ts";
import type { Plugin } from "../../src/plugin/mod.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, mount, type Mounted, NOBODY } from "../support/support.ts";

/** Throws an error with the name of a stage, if the header `x-fails` has it. */
function stage(name: string, { headers }: { readonly headers: FrameworkRequest["headers"] }): void {
  const fails = String(headers["x-fails"]).split(",");
  if (fails.includes(name)) throw new RestError(400, { code: name, message: name });
}

const HOOKS = {
  preFetch: (req: FrameworkRequest) => {
    stage("preFetch", req);
    return true;
  },
  postFetch: <T>(req: FrameworkRequest, entity: T) => {
    stage("postFetch", req);
    return entity;
  },
  preSave: <T>(req: FrameworkRequest, entity: T) => {
    stage("preSave", req);
    return entity;
  },
};

class Step extends FrameworkModel {
  @prop({ type: Number })
  size?: number;
}

@rest({
  route: "/stages",
  tenant: "org",
  scope: (req) => {
    stage("scope", req);
    return {};
  },
  methods: [one(), create(), update(HOOKS), replace(HOOKS), remove(HOOKS)],
})
class Stage extends FrameworkModel {
  @prop()
  org?: string;
  @prop({ type: Number })
  size?: number;
  @prop({
    hidden: (req) => {
      stage("rights", req);
      return false;
    },
  })
  note?: Restricted<string>;
  @rest({ methods: [one(), create(), update(HOOKS), remove(HOOKS)] })
  @arrayProp({ items: Step, embedded: true })
  steps?: Step[];
}

const plugin: Plugin = {
  name: "stages",
  admit: (req) => void stage("admit", req),
  around: async ({ req }, next) => {
    stage("around", req);
    await next();
  },
};

const OPTIONS = {
  plugins: [plugin],
  guard: (req: FrameworkRequest) => {
    stage("guard", req);
    return true;
  },
  actor: (req: FrameworkRequest) => {
    stage("actor", req);
    return "a";
  },
  tenant: (req: FrameworkRequest) => {
    stage("tenant", req);
    return "o";
  },
};

/** The names of hooks and other functions are their codes. */
const STAGES = [
  ["admit", "admit"],
  ["guard", "guard"],
  ["preFetch", "preFetch"],
  ["actor", "actor"],
  ["tenant", "tenant"],
  ["rights", "rights"],
  ["around", "around"],
  ["a parameter", "BAD_FORMAT"],
  ["no object as body", "BAD_FORMAT"],
  ["scope", "scope"],
  ["no entity", "NOT_FOUND"],
  ["postFetch", "postFetch"],
  ["If-Match", "PRECONDITION_FAILED"],
  ["a value of the body", "BAD_DATA"],
  ["preSave", "preSave"],
] as const;

/** Sends a write in which the stages from one on fail, and returns the code of the error. */
async function firstOf(app: Mounted, { method, path, from }: {
  readonly method: string;
  readonly path: string;
  readonly from: number;
}): Promise<string> {
  const failing = STAGES.slice(from).map(([name]) => name as string);
  const fails = (name: string) => failing.includes(name);
  const body = fails("no object as body") ? [] : { size: fails("a value of the body") ? "x" : 1 };
  const place = fails("no entity") ? path.replace(/[0-9a-f]{24}$/, NOBODY) : path;
  const answer = await app.send<ErrorBody>(
    method,
    `${place}${fails("a parameter") ? "?unknown=1" : ""}`,
    {
      ...method !== "DELETE" && { body },
      headers: { "x-fails": failing.join(), ...fails("If-Match") && { "if-match": '"9"' } },
    },
  );
  return answer.body.code;
}

test("a request is refused in one order of stages", async () => {
  await using app = await mount([Stage], {
    ...OPTIONS,
    strict: { guards: false, bodies: false },
  });
  const { _id } = await app.created("/stages", {});
  const path = `/stages/${_id}`;
  const step = `${path}/steps/${(await app.created(`${path}/steps`, {}))._id}`;
  for (
    const [method, at, without] of [
      ["PATCH", path, []],
      ["PATCH", step, []],
      ["PUT", path, ["no entity"]],
      ["DELETE", path, ["no object as body", "a value of the body"]],
      ["DELETE", step, ["no object as body", "a value of the body"]],
    ] as const
  ) {
    for (const [from, [name, code]] of STAGES.entries()) {
      if ((without as readonly string[]).includes(name)) continue;
      assertEquals([method, at, name, await firstOf(app, { method, path: at, from })], [
        method,
        at,
        name,
        code,
      ]);
    }
  }
});
