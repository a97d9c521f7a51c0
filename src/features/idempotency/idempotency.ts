import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import type { Feature, Plain } from "../../pipeline/feature.ts";
import type { OptionPlace, OptionReader } from "../../pipeline/option_reader.ts";
import { fieldsWithin } from "../../schema/fields/shape.ts";
import { createOnce, type IdempotencyConfig, type KeyUse } from "./create_once.ts";
import { hashBody, KEY_HEADER, MAX_KEY_LENGTH, readKey } from "./idempotency_key.ts";

const TEXT = "A string that the client chooses, such as a UUID. " +
  "A request with the key and the body of an earlier request creates nothing and gets the earlier answer.";

const RETRY_AFTER = {
  description: "Seconds to wait, if a request with the same key is under way",
  schema: { type: "integer", minimum: 0 },
};

export const idempotency: Feature<Plain<IdempotencyConfig, KeyUse, string>> = {
  name: "idempotency",
  operations: ["create"],
  requirements: [{ needs: "_id", reason: "what it makes has no _id" }],
  check: checkKeys,
  narrow: (declared) => declared,
  describe: ({ keepMS, isRequired }) => ({
    headers: {
      [KEY_HEADER]: {
        text: TEXT,
        required: isRequired,
        schema: { type: "string", minLength: 1, maxLength: MAX_KEY_LENGTH },
      },
    },
    errors: ["NOT_FOUND", "CONFLICT", "UNPROCESSABLE_ENTITY"],
    route: { writes: { keepMS } },
    answer: { statuses: { 409: { name: "UnderWay", headers: { "Retry-After": RETRY_AFTER } } } },
  }),
  capture: hashBody,
  parse(config, given) {
    const key = readKey(given, config);
    return key === undefined ? undefined : { key, bodyHash: given.captured, config };
  },
  wrap: (use, operation) => createOnce(operation, use),
};

function checkKeys(option: OptionReader, place: OptionPlace): IdempotencyConfig {
  const { keep, required, caller } = option.parts("keep", "required", "caller");
  const config = {
    keepMS: keep.duration("24h"),
    isRequired: required.flag(),
    caller: caller.callback<(req: FrameworkRequest) => string>(),
  };
  const isByEach = option.other("many").value !== undefined &&
    option.other("atomic").value === false;
  const problem = option.other("persist").value !== undefined
    ? `its own "persist", which may write another _id`
    : isByEach
    ? `"atomic: false"`
    : undefined;
  if (problem !== undefined) throw option.fail(`cannot have "idempotency" with ${problem}`);
  const why = config.caller === undefined ? whyDivided(place) : undefined;
  if (why === undefined) return config;
  throw option.fail(
    `needs "idempotency.caller", which names the caller: ${why}, and the key of one would answer to another`,
  );
}

const READER_HOOKS = ["preFetch", "fetch", "postFetch", "preSend"] as const;

/** If clients see different entities, the option `caller` is required, or else another client's key would show them. */
function whyDivided({ isDivided, methods, shape }: OptionPlace): string | undefined {
  if (isDivided) return "a scope or getConnection() divides the callers";
  const isDividing = (option: unknown) => typeof option === "function";
  for (const { type } of fieldsWithin(shape)) {
    const name = (["hidden", "readonly"] as const).find((each) => isDividing(type?.options[each]));
    if (name !== undefined) return `the function "${name}" of "${type?.path}" divides the callers`;
  }
  const reader = methods.find(({ operation }) => operation === "one");
  const hook = READER_HOOKS.find((name) => reader?.hooks[name] !== undefined);
  return hook && `the hook "${hook}" of one() may divide the callers`;
}
