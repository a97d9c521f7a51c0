import { checkTransactions } from "../../pipeline/check_transactions.ts";
import type { Feature, Plain } from "../../pipeline/feature.ts";
import type { GivenRequest } from "../../pipeline/given_request.ts";
import { MEDIA_TYPES } from "../../pipeline/request/media_types.ts";
import type { Problems } from "../../errors/refusals.ts";
import { toJson } from "../../json/to_json.ts";
import { fetchOne } from "../../pipeline/fetch.ts";
import { itemResults } from "../../pipeline/lists/item_results.ts";
import { mapAll } from "../../sources/lists/map_in_order.ts";
import { performWrite } from "../../pipeline/perform_write.ts";
import { persistEach } from "../../pipeline/persist.ts";
import type { TextAnswer } from "../../pipeline/request/answer.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import { answerCreated, mergeDraft, passPreSave, refuseProblems } from "../../pipeline/write.ts";
import { NO_OBJECT, writeEach } from "../../pipeline/write_each.ts";
import { isJsonObject } from "../../schema/fields/json.ts";

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

interface Creation {
  readonly elements: readonly unknown[];
  readonly atomic: boolean;
}

async function createMany(
  context: OpenLevelContext,
  { elements, atomic }: Creation,
): Promise<TextAnswer> {
  if (elements.length === 0) return { kind: "text", status: 201, text: "[]" };
  if (!atomic) {
    const results = await writeEach(context, elements);
    const described = await itemResults(context, { results, bodies: elements });
    return { kind: "text", status: 207, text: toJson(described) };
  }
  const result = elements.every(isJsonObject)
    ? await performWrite(context, { bodies: elements, isAtomic: true })
    : undefined;
  return result === undefined
    ? await createAtomically(context, elements)
    : { kind: "text", status: 201, ...result };
}

/** All hooks run before the first write, so that a refused entity prevents all writes. */
async function createAtomically(
  context: OpenLevelContext,
  elements: readonly unknown[],
): Promise<TextAnswer> {
  const { level: { hooks }, source, claim } = context;
  const others: Problems = {};
  const opened = await mapAll([...elements.entries()], async ([index, body]) => {
    if (isJsonObject(body)) return { index, body, passed: (await fetchOne(context)).passed };
    others[index] = { message: NO_OBJECT, kind: "object" };
    return undefined;
  });
  const drafts = await mapAll(
    opened,
    ({ index, body, passed }) =>
      mergeDraft(context, passed, { body, at: `${index}.`, isNew: true }),
  );
  await refuseProblems(context, drafts, others);
  const ready = await mapAll(drafts, (draft) => passPreSave(context, draft));
  await claim?.keep(ready);
  const saved = hooks.persist === undefined
    ? await source.insertAll(ready)
    : await persistEach(context, ready.map((entity) => ({ entity })));
  await claim?.finish(ready);
  return await answerCreated(context, saved);
}
