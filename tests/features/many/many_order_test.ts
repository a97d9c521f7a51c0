import { assertEquals } from "@std/assert";
import { create, FrameworkModel, one, prop, rest } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { type ErrorBody, mount } from "../../support/support.ts";
import { named } from "./many.ts";
import { onlyStrict } from "../../support/only_strict.ts";

class Named extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

@rest({
  route: "/notes",
  methods: [
    create({
      many: 2,
      formats: ["ndjson"],
      idempotency: { keep: "1h", caller: () => "" },
      preFetch: (req) => req.headers["x-refused"] === undefined,
    }),
    one(),
  ],
})
class Note extends Named {}

@rest({
  route: "/counted",
  methods: [
    create<Counted>({
      many: 2,
      async preFetch(req) {
        await req.framework.count();
        return req.headers["x-refused"] === undefined;
      },
    }),
  ],
})
class Counted extends Named {}

const LONG = named("a", "b", "c");
const KEY = { "idempotency-key": "" };
const LINES = { "content-type": "application/x-ndjson" };
const CASES: readonly (readonly [string, object, number, RegExp])[] = [
  ["/notes?unknown=1", { headers: { ...KEY, "x-refused": "1" } }, 403, /./],
  ["/notes?unknown=1", { headers: KEY }, 400, /Parameter "unknown"/],
  ["/notes", { headers: KEY }, 400, /"Idempotency-Key" takes one key/],
  ["/notes", {}, 413, /more than 2 elements/],
  ["/notes", { headers: { "content-type": "text/plain" } }, 415, /not JSON/],
  ["/notes", { headers: { ...LINES, "idempotency-key": "k" } }, 400, /is not for lines$/],
  ["/counted", { headers: { "x-refused": "1" } }, 403, /./],
  ["/counted?unknown=1", {}, 400, /Parameter "unknown"/],
  ["/counted", {}, 413, /more than 2 elements/],
];

test("create({ many }) refuses hooks first, then parameters, headers and the body", async () => {
  await using app = await mount([Note, Counted], { strict: onlyStrict("parameters") });
  for (const [path, options, status, message] of CASES) {
    const reply = await app.send<ErrorBody>("POST", path, { body: LONG, ...options });
    const { message: told = "" } = reply.status === 403 ? { message: "-" } : JSON.parse(reply.text);
    assertEquals([reply.status, message.test(told)], [status, true], `${path}: ${reply.text}`);
  }
});
