import { assertEquals, assertStrictEquals } from "@std/assert";
import mongoose from "mongoose";
import { RestError } from "../errors/rest_error.ts";
import { translateError } from "./failures.ts";

const { Error: MongooseError, mongo } = mongoose;

const CONTEXT = { filtered: false, isHidden: (path: string) => path === "secret" };

function serverError(code: number, more: object = {}): Error {
  return new mongo.MongoServerError({ message: "leak", errmsg: "leak", code, ...more });
}

function statusOf(error: unknown, filtered = false): number | undefined {
  return translateError(error, { ...CONTEXT, filtered })?.status;
}

Deno.test("translateError() leaves a RestError as it is", () => {
  const error = new RestError(418, "x");
  assertStrictEquals(translateError(error, CONTEXT), error);
});

Deno.test("translateError() knows nothing of what is no error of the database", () => {
  for (const error of [new Error("x"), new TypeError("x"), "x", null, undefined, { code: 11000 }]) {
    assertEquals(translateError(error, CONTEXT), undefined);
  }
  assertEquals(statusOf(serverError(1)), undefined);
});

Deno.test("translateError() knows too large documents, but not an index that middleware of the application takes", () => {
  const most = (size: number) => {
    const message = `The value of "offset" is out of range. It must be >= 0 && <= ${size}.`;
    return Object.assign(new RangeError(message), { code: "ERR_OUT_OF_RANGE" });
  };
  const writing = { ...CONTEXT, writes: true };
  assertEquals(translateError(most(17 * 1024 * 1024), writing)?.status, 413);
  assertEquals(translateError(most(17 * 1024 * 1024), CONTEXT), undefined);
  assertEquals(translateError(most(7), writing), undefined);
});

Deno.test("translateError() gives 503 with Retry-After when the database is out of reach", () => {
  class MongoWaitQueueTimeoutError extends mongo.MongoDriverError {
    override get name(): string {
      return "MongoWaitQueueTimeoutError";
    }
  }
  const errors = [
    new mongo.MongoNetworkError("x"),
    new mongo.MongoNetworkTimeoutError("x"),
    new mongo.MongoServerSelectionError("x", {} as never),
    new mongo.MongoOperationTimeoutError("x"),
    new mongo.MongoNotConnectedError("x"),
    new mongo.MongoTopologyClosedError("x"),
    new mongo.MongoClientClosedError(),
    new MongoWaitQueueTimeoutError("x"),
    new MongooseError.MongooseServerSelectionError("x"),
    ...[50, 91, 133, 189, 262, 10107, 11600, 11602, 13435, 13436].map((code) => serverError(code)),
    new mongo.MongoServerClosedError(),
    new mongo.MongoWriteConcernError({ ok: 1, writeConcernError: { code: 100, errmsg: "x" } }),
  ];
  for (const error of errors) {
    const answer = translateError(error, CONTEXT);
    assertEquals([error.name, answer?.status], [error.name, 503]);
    assertEquals(Number(answer?.headers["Retry-After"]) > 0, true);
    assertStrictEquals(answer?.cause, error);
  }
});

Deno.test("translateError() gives 503 by a label of the driver, whatever the code", () => {
  for (
    const label of [
      "RetryableError",
      "RetryableWriteError",
      "SystemOverloadedError",
      "TransientTransactionError",
      "UnknownTransactionCommitResult",
    ]
  ) {
    const [unknown, clash] = [1, 112].map((code) => serverError(code, { errorLabels: [label] }));
    assertEquals([statusOf(unknown), statusOf(clash)], [503, 503], label);
  }
  assertEquals(statusOf(serverError(1, { errorLabels: ["NoWritesPerformed"] })), undefined);
});

Deno.test("translateError() names the pause that an overloaded server asks for", () => {
  const secondsOf = (baseBackoffMS: unknown, label = "SystemOverloadedError") => {
    const error = serverError(462, { errorLabels: [label], baseBackoffMS });
    return translateError(error, CONTEXT)?.headers["Retry-After"];
  };
  assertEquals([12_001, 100, 0, -1, Infinity, "x", undefined].map((ms) => secondsOf(ms)), [
    ...["13", "5", "5", "5", "5", "5", "5"],
  ]);
  // Larger numbers would keep clients away for days, and have an exponent that is no number of seconds in HTTP.
  assertEquals([60_001, 1e9, 1e30].map((ms) => secondsOf(ms)), ["60", "60", "60"]);
  assertEquals(secondsOf(mongoose.mongo.Long.fromNumber(12_001)), "13");
  assertEquals(secondsOf(12_001, "RetryableError"), "5");
});

Deno.test("translateError() gives 400 for values that MongoDB 9 refuses", () => {
  for (const code of [510, 511]) {
    assertEquals([statusOf(serverError(code), true), statusOf(serverError(code))], [400, 400]);
  }
});

Deno.test("translateError() gives 503 for too little memory, unless a client's filter may be the cause", () => {
  for (const code of [146, 292]) {
    assertEquals([statusOf(serverError(code), true), statusOf(serverError(code))], [400, 503]);
  }
});

Deno.test("translateError() gives 503 for a broken socket, except outside the router", () => {
  const broken = Object.assign(new Error("write EPIPE"), { code: "EPIPE", syscall: "write" });
  assertEquals(translateError(broken, { ...CONTEXT, targets: [] })?.status, 503);
  assertEquals(statusOf(broken), undefined);
  const ended = Object.assign(new Error("The other party has ended it"), { code: "EPIPE" });
  assertEquals(translateError(ended, { ...CONTEXT, targets: [] })?.status, 503);
  const refused = Object.assign(new Error("x"), { code: "ECONNREFUSED", syscall: "connect" });
  assertEquals(translateError(refused, { ...CONTEXT, targets: [] }), undefined);
});

Deno.test("translateError() gives 409 for a conflict, and tells the fields, no value", () => {
  const duplicate = serverError(11000, { keyPattern: { a: 1, b: -1 }, keyValue: { a: "leak" } });
  const answer = translateError(duplicate, CONTEXT);
  const { code, fields } = answer?.body as { code: string; fields: string[] };
  assertEquals([answer?.status, code, fields], [409, "CONFLICT", ["a", "b"]]);
  assertEquals(JSON.stringify(answer?.body).includes("leak"), false);
  assertEquals(statusOf(serverError(112)), 409);
  const [gone, unmet] = [0, undefined].map((met) =>
    Object.assign(new MongooseError.DocumentNotFoundError({} as never), { numAffected: met })
  );
  // The error of orFail() in a function of the host is the host's.
  assertEquals([statusOf(gone), statusOf(unmet)], [409, undefined]);
});

Deno.test("translateError() gives 400 for a filter that the database refuses, if a client sent one", () => {
  for (const code of [2, 27, 291, 51091]) {
    assertEquals([statusOf(serverError(code), true), statusOf(serverError(code))], [
      400,
      undefined,
    ]);
    const body = JSON.stringify(
      translateError(serverError(code), { ...CONTEXT, filtered: true })?.body,
    );
    assertEquals(body.includes("leak"), false);
  }
});

Deno.test("translateError() names fields that are not valid, and no value of a hidden one", () => {
  const error = new MongooseError.ValidationError();
  for (const path of ["open", "secret"]) {
    error.addError(path, new MongooseError.ValidatorError({ path, message: "leak", type: "enum" }));
  }
  const answer = translateError(error, CONTEXT);
  assertEquals(answer?.status, 400);
  assertEquals(answer?.body, {
    code: "BAD_DATA",
    message: "The data is not valid",
    errors: {
      open: { message: "leak", kind: "enum" },
      secret: { message: `Field "secret" is not valid`, kind: "enum" },
    },
  });
});

Deno.test("translateError() gives no answer for a value that a query could not cast", () => {
  assertEquals(statusOf(new MongooseError.CastError("ObjectId", "x", "_id")), undefined);
  assertEquals(statusOf(new MongooseError.CastError("Number", "x", "rank")), undefined);
});

Deno.test("translateError() gives 400 for an undeclared field and for a rule of the database's own", () => {
  assertEquals(statusOf(new MongooseError.StrictModeError("extra")), 400);
  assertEquals(statusOf(serverError(121, { errInfo: { secret: "leak" } })), 400);
});
