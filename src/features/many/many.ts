import { checkTransactions } from "../../pipeline/check_transactions.ts";
import type { Feature, Plain } from "../../pipeline/feature.ts";
import type { GivenRequest } from "../../pipeline/given_request.ts";
import { MEDIA_TYPES } from "../../pipeline/request/media_types.ts";
import { createMany } from "./create_many.ts";

interface ManyConfig {
  readonly most: number;
  readonly atomic: boolean;
}

interface ManyRequest {
  readonly given: GivenRequest;
  readonly atomic: boolean;
}

export const many: Feature<Plain<ManyConfig, ManyRequest>> = {
  name: "many",
  options: ["many", "atomic"],
  operations: ["create"],
  word: "many",
  exclusive: {
    keeps: ["idempotency"],
    allowed: "no list of entities beside it",
    noun: "Lists of entities",
    clash: (noun) => `${noun} are not lists of entities`,
  },
  check(option, { link }) {
    const most = option.number();
    if (link?.array === false) {
      throw option.fail(`cannot have "many": the property holds one entity`);
    }
    return { most, atomic: option.other("atomic").flag(true) };
  },
  narrow: (declared) => declared,
  describe: ({ most, atomic }) => ({
    errors: ["PAYLOAD_TOO_LARGE"],
    route: { writes: { many: most, atomic } },
    body: { maxItems: most },
    ...!atomic && { answer: { results: { [MEDIA_TYPES.json]: "list" } } },
  }),
  start({ atomic }, route) {
    if (atomic) checkTransactions(route);
  },
  parse: ({ atomic }, given) => given.hasArray ? { given, atomic } : undefined,
  select: ({ given }) => ({ creations: given.elements() }),
  respond: ({ atomic }, context) =>
    createMany(context, { elements: context.pieces.creations ?? [], atomic }),
};
