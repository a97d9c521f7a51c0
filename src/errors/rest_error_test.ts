import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { RestError, statusName } from "./rest_error.ts";

Deno.test("RestError keeps the object form as it is", () => {
  const body = { code: "UNAUTHENTICATED" };
  const error = new RestError(401, body);
  assertStrictEquals(error.body, body);
  assertEquals([error.status, error.message, error.headers], [401, "UNAUTHENTICATED", {}]);
});

Deno.test("RestError makes a code and a message of the string form", () => {
  const error = new RestError(401, "Unauthorized");
  assertEquals(error.body, { code: "UNAUTHORIZED", message: "Unauthorized" });
  assertEquals(error.message, "Unauthorized");
});

Deno.test("RestError is an Error with a name, a stack, and the cause it was given", () => {
  const cause = new Error("behind");
  const error = new RestError(500, "x", { cause, headers: { "Retry-After": "1" } });
  assert(error instanceof Error && typeof error.stack === "string");
  assertEquals([error.name, error.cause, error.headers], ["RestError", cause, {
    "Retry-After": "1",
  }]);
  assertEquals("cause" in new RestError(500, "x"), false);
});

Deno.test("RestError says something in its message, whatever the body is", () => {
  const messages = [{ message: "m", code: "c" }, { code: "c" }, { code: 5 }, {}, []]
    .map((body) => new RestError(404, body).message);
  assertEquals(messages, ["m", "c", "NOT_FOUND", "NOT_FOUND", "NOT_FOUND"]);
});

Deno.test("RestError refuses a status that no error answers with", () => {
  for (const status of [0, 200, 299, 600, 404.5, NaN, Infinity, "404" as unknown as number]) {
    assertThrows(() => new RestError(status, "x"), RangeError, "Cannot build a RestError");
  }
  assertEquals([300, 599].map((status) => new RestError(status, "x").status), [300, 599]);
});

Deno.test("statusName() gives the name of a status in upper snake case", () => {
  const names = [400, 403, 404, 418, 422, 500, 503, 599].map(statusName);
  assertEquals(names, [
    "BAD_REQUEST",
    "FORBIDDEN",
    "NOT_FOUND",
    "IM_A_TEAPOT",
    "UNPROCESSABLE_ENTITY",
    "INTERNAL_SERVER_ERROR",
    "SERVICE_UNAVAILABLE",
    "ERROR",
  ]);
});
