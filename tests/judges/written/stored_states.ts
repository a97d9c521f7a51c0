import mongoose from "mongoose";

type Values = Record<string, unknown>;

interface Change {
  readonly operationType: string;
  readonly documentKey?: { readonly _id: unknown };
  readonly fullDocument?: Values;
  readonly updateDescription?: {
    readonly updatedFields?: Values;
    readonly removedFields?: readonly string[];
    readonly truncatedArrays?: readonly { readonly field: string; readonly newSize: number }[];
  };
}

/** Follows one entity, whose states are made of the events of the database and of nothing that the framework tells. */
export async function followStates(
  collection: mongoose.Collection,
  first: Values & { _id: unknown },
) {
  const stream = collection.watch([]);
  await stream.tryNext();
  await collection.insertOne(structured(first) as never);
  return {
    /** Returns the entity after each of its writes, as JSON. */
    async end(): Promise<Values[]> {
      const last = new mongoose.Types.ObjectId();
      await collection.insertOne({ _id: last } as never);
      const states: Values[] = [];
      let state: Values = {};
      for (;;) {
        const event = await stream.next() as unknown as Change;
        if (String(event.documentKey?._id) === String(last)) break;
        state = after(state, event);
        states.push(JSON.parse(JSON.stringify(state)));
      }
      await stream.close();
      return states;
    },
  };
}

function structured(values: Values): Values {
  return mongoose.mongo.BSON.deserialize(mongoose.mongo.BSON.serialize(values));
}

function after(state: Values, { fullDocument, updateDescription: update = {} }: Change): Values {
  if (fullDocument !== undefined) return structured(fullDocument);
  const next = structured(state);
  for (const { field, newSize } of update.truncatedArrays ?? []) {
    (valueAt(next, field) as unknown[]).length = newSize;
  }
  for (const [path, value] of Object.entries(update.updatedFields ?? {})) set(next, path, value);
  for (const path of update.removedFields ?? []) set(next, path, undefined);
  return next;
}

function set(holder: Values, path: string, value: unknown): void {
  const names = path.split(".");
  const last = names.pop() as string;
  const inner = names.reduce((at, name) => at[name] as Values, holder);
  if (value === undefined) delete inner[last];
  else inner[last] = value;
}

export function valueAt(value: unknown, path: string): unknown {
  return path.split(".").reduce((at, name) => Object(at)[name], value);
}
