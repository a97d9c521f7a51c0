import { touch } from "../../store/touch.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { refusal } from "../../errors/refusals.ts";
import { everyFilter, topOf } from "../../filter/filters.ts";
import { castIdentifier } from "../../sources/entities.ts";
import { type StoredObject, storedText } from "../../store/values.ts";
import { BEFORE_WRITE, type WrittenEntity } from "../../store/writes/written_entity.ts";
import { classWriterFor, type RequestWrite } from "./request_write.ts";
import { areShown } from "./settings.ts";
import { type ReferringField, referringFields } from "./referring_fields.ts";

/** These rules promise that every reference leads to an entity. */
export function mustExist({ rule }: Pick<ReferringField, "rule">): boolean {
  return rule === "restrict" || rule === "cascade";
}

interface NewReference {
  readonly field: ReferringField;
  readonly id: unknown;
}

/** Writes to each referred entity without a change, so that a removal by another request conflicts. */
export async function touchReferred(
  write: RequestWrite,
  returned: ReadonlySet<unknown>,
): Promise<void> {
  const fields = referringFields(write.target).filter(mustExist);
  const references = fields.length === 0 ? [] : await newReferences(write, { fields, returned });
  const byClass = Map.groupBy(references, ({ field }) => field.referred);
  for (const [target, some] of byClass) await touchAll(write, { target, references: some });
}

/** An update that changes the time of the removal has taken the entity out of the trash. */
export async function returnedBy(write: RequestWrite): Promise<WrittenEntity[]> {
  if (write.change !== "update") return [];
  const { removal } = await classWriterFor(write, write);
  if (removal === undefined) return [];
  return write.entities.filter(({ changed = [] }) => changed.includes(removal.time));
}

async function newReferences(
  write: RequestWrite,
  { fields, returned }: {
    readonly fields: readonly ReferringField[];
    readonly returned: ReadonlySet<unknown>;
  },
): Promise<NewReference[]> {
  const isSet = (field: ReferringField, { id, created, changed = [] }: WrittenEntity) =>
    created !== undefined || returned.has(id) || changed.includes(topOf(field.path));
  const concerned = write.entities.filter((entity) => fields.some((each) => isSet(each, entity)));
  const stored = await readStored(write, { entities: concerned, fields });
  return concerned.flatMap((entity) =>
    fields.filter((each) => isSet(each, entity)).flatMap((field) => {
      const before = returned.has(entity.id) ? [] : referencesAt(entity.before, field);
      const earlier = new Set(before.map(storedText));
      const now = referencesAt(stored.get(storedText(entity.id)), field);
      return now.filter((id) => !earlier.has(storedText(id))).map((id) => ({ field, id }));
    })
  );
}

async function readStored(
  write: RequestWrite,
  { entities, fields }: {
    readonly entities: readonly WrittenEntity[];
    readonly fields: readonly ReferringField[];
  },
): Promise<Map<string, StoredObject>> {
  const { model, session } = write;
  const created = entities.flatMap(({ id, created }) =>
    created === undefined ? [] : [[storedText(id), created] as const]
  );
  const ids = entities.flatMap(({ id, created }) => created === undefined ? [id] : []);
  if (ids.length === 0) return new Map(created);
  const projection = Object.fromEntries(fields.map(({ path }) => [topOf(path), 1]));
  const { classConditions } = await classWriterFor(write, write);
  const named = everyFilter({ _id: { $in: ids } }, classConditions);
  const found = await model.collection.find(named, { ...BEFORE_WRITE, projection, session })
    .toArray();
  return new Map([...created, ...found.map((each) => [storedText(each._id), each] as const)]);
}

export function referencesAt(stored: unknown, { path }: Pick<ReferringField, "path">): unknown[] {
  let values: unknown[] = [stored];
  for (const name of path.split(".")) {
    values = values.flatMap((each) => (Object(each) as StoredObject)[name] ?? []);
  }
  return values.filter((each) => each !== null && each !== undefined);
}

async function touchAll(
  write: RequestWrite,
  { target, references }: {
    readonly target: ModelClass;
    readonly references: readonly NewReference[];
  },
): Promise<void> {
  const { model, classConditions } = await classWriterFor(write, { target });
  const { session } = write;
  const ids = new Map<string, unknown>();
  for (const { id } of references) {
    const cast = castIdentifier(id, model) ?? id;
    ids.set(storedText(cast), cast);
  }
  const filter = everyFilter({ _id: { $in: [...ids.values()] } }, classConditions);
  if (await touch(model.collection, { filter, session }) === ids.size) return;
  const found = await model.collection.find(filter, { projection: { _id: 1 }, session }).toArray();
  const there = new Set(found.map(({ _id }) => storedText(_id)));
  const gone = references.find(({ id }) => !there.has(storedText(castIdentifier(id, model) ?? id)));
  if (gone === undefined || !await areShown([gone.field], write.request)) {
    throw refusal("CONFLICT", {
      message: "An entity to which a field refers is not stored any more",
    });
  }
  const { path } = gone.field;
  const message = `The entity that "${path}" names is not stored any more`;
  throw refusal("CONFLICT", { message, property: path });
}
