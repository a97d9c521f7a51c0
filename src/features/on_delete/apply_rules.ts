import { refusal } from "../../errors/refusals.ts";
import { everyFilter, type Filter } from "../../filter/filters.ts";
import type { TransactionWrite } from "../../pipeline/class_feature.ts";
import type { ClassWriter } from "../../pipeline/class_writer.ts";
import { castForQuery } from "../../schema/mongoose/schemas/field_rules.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import { storedText } from "../../store/values.ts";
import { checkLast } from "./check_last.ts";
import { fieldsReferringTo, partOf, type ReferringField } from "./referring_fields.ts";
import { classWriterFor, type RequestWrite } from "./request_write.ts";
import { areShown, onDeleteSettings } from "./settings.ts";

export const CASCADE = "cascade";

export const UNSET = "unset";

interface Referring {
  readonly field: ReferringField;
  readonly writer: ClassWriter;
  readonly ids: readonly unknown[];
  /** Selects the referring entities, but none in the trash, by the conditions of class options. */
  readonly named: Filter;
}

export async function applyRules(write: RequestWrite): Promise<void> {
  if (write.entities.length === 0) return;
  const all: Referring[] = [];
  // A class of another database or client cannot join the transaction, and throws before the first write.
  for (const field of fieldsReferringTo(write.target)) {
    all.push(await prepareReferring(write, field));
  }
  const withRule = (rule: ReferringField["rule"]) => all.filter(({ field }) => field.rule === rule);
  await checkLast(write, {
    async send() {
      for (const [, some] of Map.groupBy(withRule("cascade"), ({ field }) => field.owner)) {
        await cascade(write, some);
      }
    },
    check: () => refuseReferred(write, withRule("restrict")),
  });
  for (const each of withRule("unset")) await unset(each);
}

async function prepareReferring(write: RequestWrite, field: ReferringField): Promise<Referring> {
  const { owner: target, rule } = field;
  // Entities of all tenants may refer to a class without tenants, so `restrict` must find references of all tenants.
  const isShared = write.request.route.features.selectingFieldOf(write.target) === undefined;
  const reach = rule === "restrict" && isShared ? "everyone" : "reference";
  const operation = rule === "cascade" ? CASCADE : UNSET;
  const writer = await classWriterFor(write, { target, operation, reach });
  const ids = write.entities.map(({ id }) => castForQuery(field.type, id));
  return {
    field,
    writer,
    ids,
    named: everyFilter({ [field.path]: { $in: ids } }, writer.classConditions),
  };
}

async function refuseReferred(
  { request, session }: RequestWrite,
  restricting: readonly Referring[],
): Promise<void> {
  const found: ReferringField[] = [];
  for (const { field, writer: { model }, named } of restricting) {
    const options = { projection: { _id: 1 }, session } as const;
    if (await model.collection.findOne(named, options) !== null) found.push(field);
  }
  if (found.length === 0) return;
  const referredBy: string[] = [];
  for (const [{ name }, fields] of Map.groupBy(found, ({ owner }) => owner)) {
    if (await areShown(fields, request)) referredBy.push(name);
  }
  referredBy.sort();
  throw refusal("CONFLICT", { message: "Other entities refer to the entity", referredBy });
}

/** A cascade may cause others, and `limits.cascade` limits their sum. */
const counts = new WeakMap<TransactionWrite, number>();

async function cascade(write: RequestWrite, referring: readonly Referring[]): Promise<void> {
  const { maxCascade } = onDeleteSettings(write.request.route);
  const { request: { origin = write }, session } = write;
  const count = counts.get(origin) ?? 0;
  const found = new Map<string, unknown>();
  for (const { writer: { model }, named } of referring) {
    const limit = maxCascade - count + 1;
    const options = { projection: { _id: 1 }, limit, session } as const;
    for (const { _id } of await model.collection.find(named, options).toArray()) {
      found.set(storedText(_id), _id);
    }
  }
  if (count + found.size > maxCascade) {
    const message = `The removal would remove more than ${maxCascade} other entities`;
    throw refusal("CONFLICT", { message, limit: maxCascade });
  }
  counts.set(origin, count + found.size);
  if (found.size > 0) await referring[0]?.writer.remove([...found.values()]);
}

/** Clients can set a reference to an entity in the trash, so its final removal clears references again. */
export async function unsetExpired(write: TransactionWrite): Promise<void> {
  const { change, target, entities, writerOf } = write;
  if (change !== "remove" || writerOf === undefined) return;
  for (const field of fieldsReferringTo(target).filter(({ rule }) => rule === UNSET)) {
    const writer = writerOf(write, { target: field.owner, operation: UNSET });
    const ids = entities.map(({ id }) => castForQuery(field.type, id));
    const named = everyFilter({ [field.path]: { $in: ids } }, writer.classConditions);
    await unset({ field, writer, ids, named });
  }
}

async function unset({ field, writer, ids, named }: Referring): Promise<void> {
  const { holders, isList, name } = field;
  const prefixes: string[] = [];
  const arrayFilters: object[] = [];
  const stamps: Record<string, unknown> = {};
  for (const [index, holder] of holders.entries()) {
    const below = [...holders.slice(index + 1).map((each) => each.name), name].join(".");
    prefixes.push(holder.isList ? `${holder.name}.$[e${index}]` : holder.name);
    if (holder.isList) arrayFilters.push({ [`e${index}.${below}`]: { $in: ids } });
    const part = partOf(holder);
    for (const [stamp, value] of Object.entries(part ? writer.stamps(part) : {})) {
      stamps[[...prefixes, stamp].join(".")] = value;
    }
  }
  const path = [...prefixes, name].join(".");
  const removing = isList ? { $pull: { [path]: { $in: ids } } } : { $unset: { [path]: 1 } };
  const update = withStamps(removing, stamps);
  await writer.update(named, { update, ...arrayFilters.length > 0 && { arrayFilters } });
}

function withStamps(update: Update, stamps: Readonly<Record<string, unknown>>): Update {
  const all = Object.entries(stamps);
  const set = all.filter(([, value]) => value !== undefined);
  const cleared = all.filter(([, value]) => value === undefined).map(([path]) => [path, 1]);
  return {
    ...update,
    ...set.length > 0 && { $set: Object.fromEntries(set) },
    ...(cleared.length > 0 || update.$unset) &&
      { $unset: { ...update.$unset, ...Object.fromEntries(cleared) } },
  };
}
