import type { ClientSession, Connection, Model } from "mongoose";
import type { Method } from "../../declare/operations/methods.ts";
import { isAction } from "../../declare/operations/action.ts";
import { isOperationWord } from "../../declare/operations/operation.ts";
import { logError } from "../../errors/log.ts";
import { badFormat, forbidden, notFound } from "../../errors/refusals.ts";
import { innerRequestOf } from "../../http/inner_request.ts";
import type { ClassFeature, DoneWrite } from "../../pipeline/class_feature.ts";
import type { PartMethod } from "../../pipeline/class_methods.ts";
import { fetchOne } from "../../pipeline/fetch.ts";
import { cannotMount } from "../../pipeline/option_reader.ts";
import {
  idParam,
  type LevelContext,
  type OpenLevelContext,
} from "../../pipeline/request/request_context.ts";
import type { TextAnswer } from "../../pipeline/request/answer.ts";
import { actingLevel } from "../../pipeline/request/route.ts";
import { checkVersion } from "../../pipeline/request/versions.ts";
import type { PartDescription, PartLink } from "../../schema/describe_parts.ts";
import { castForQuery } from "../../schema/mongoose/schemas/field_rules.ts";
import { sharedSession } from "../../schema/mongoose/statements/transaction_around.ts";
import { describeGet, describePut, describeRemove } from "./describe_files.ts";
import { FileField, type StoredValue } from "./file_field.ts";
import { declaredFiles, fileConfigOf } from "./file_fields.ts";
import { FileStore } from "./file_store.ts";
import { getFile } from "./get_file.ts";
import { checkUpload, putFile } from "./put_file.ts";
import { StoredFile } from "./stored_file.ts";
import { removeOrphans, removeUnnamed, tidyFiles } from "./unnamed_files.ts";

type FilePaths = readonly string[];

export const files: ClassFeature<FilePaths> = {
  name: "files",
  declared: declaredFiles,
  check: ({ value }) => value as FilePaths,
  partMethods(_paths, part) {
    if (part.target !== StoredFile) return undefined;
    return part.rest.methods.map((method) => partMethod(method, part));
  },
  after: removeFiles,
  // `after` does not run for entities that a cascade removes, so the transaction of the cascade marks their files for
  // housekeeping.
  statements: {
    areFor: (_paths, { operation }) => operation === "cascade",
    async send(_paths, { change, entities, model, session }) {
      if (change === "remove") {
        await suspectFiles(model, { ids: entities.map(({ id }) => id), session });
      }
    },
  },
  tidy: (paths) => ({ model, at, limit }) => tidyFiles({ model, paths }, { at, limit }),
};

const OPERATIONS = {
  one: { run: getFile, describe: describeGet, verb: "Read" },
  replace: { run: putFile, describe: describePut, verb: "Store" },
  remove: { run: removeFile, describe: describeRemove, verb: "Remove" },
} as const;

const TAKEN: readonly string[] = ["preFetch", "parameters", "open"];

function partMethod(method: Method, { link, rest }: PartDescription): PartMethod {
  const { owner, property } = link;
  const config = fileConfigOf(owner, property);
  const { operation, hooks } = method;
  const fail = (problem: string) =>
    cannotMount(owner, `property "${property}" holds a file and ${problem}`);
  if (rest.scope !== undefined) {
    throw fail(`cannot have a "scope": the scope of its entity binds it`);
  }
  if (isAction(method) || !Object.hasOwn(OPERATIONS, operation)) {
    throw fail(`cannot have ${operation}(): declare one(), replace() or remove()`);
  }
  const other = Object.keys(hooks).find((name) =>
    !TAKEN.includes(name) && (name === "example" || !isOperationWord(name))
  );
  if (other !== undefined) throw fail(`its ${operation}() cannot have "${other}"`);
  const isWrite = operation !== "one";
  if (isWrite && config.readonly === true) {
    throw fail(`is readonly, and cannot have ${operation}()`);
  }
  const { run, describe, verb } = OPERATIONS[operation as keyof typeof OPERATIONS];
  return {
    operation,
    hooks: { summary: `${verb} the file "${property}"`, ...hooks },
    bytes: describe(config),
    perform: (context) => run(context, config),
    checkRights(context) {
      if (isWrite) checkRights(context, link);
    },
    checkRequest(context) {
      refuseInner(context);
      if (operation === "replace") checkUpload(context, config);
    },
  };
}

/** The JSON of batches and assistants cannot contain the bytes of a file. */
function refuseInner({ req }: LevelContext): void {
  if (innerRequestOf(req) !== undefined) {
    throw badFormat("A request for a file cannot be a part of another request");
  }
}

function checkRights({ above }: LevelContext, { property }: PartLink): void {
  const { fields, rights } = above?.level.shape ?? {};
  if (rights?.restricts(fields?.get(property)?.type?.options.readonly)) throw forbidden();
}

async function removeFile(context: OpenLevelContext): Promise<TextAnswer> {
  const field = await FileField.open(context);
  const { entity, ...read } = await fetchOne(context);
  const { file } = entity as object as Partial<StoredValue>;
  if (file === undefined || file === null) throw notFound();
  checkVersion(context, read);
  await field.clear(file);
  await field.dispose(file);
  return { kind: "text", status: 204 };
}

/** The most files that a request removes with its entities. Housekeeping removes the others. */
const MOST_REMOVED = 1000;

async function removeFiles(
  paths: FilePaths,
  { route, context, affected }: DoneWrite,
): Promise<void> {
  const acting = actingLevel(route);
  const { traits } = context.level;
  const isOfParts = acting !== context.level && acting.link?.embedded === true;
  const isRemoval = !isOfParts && acting.traits.change === "remove";
  const isOfNested = paths.some((path) => path.includes(".")) && acting.traits.origin !== "new";
  if (acting.target === StoredFile || affected === 0 || !isRemoval && !isOfNested) return;
  try {
    const model = await context.model() as Model<unknown>;
    if (isRemoval && acting.traits.many) {
      // A batch may still be aborted, so housekeeping removes the files later.
      if (sharedSession()) return;
      return await context.timeBudget.wait(removeOrphans({ model, paths }, MOST_REMOVED));
    }
    if (!traits.item || traits.origin === "byKey") return;
    const entity = castForQuery(model.schema.path("_id"), idParam(context));
    const session = sharedSession();
    if (session !== undefined) return await suspectFiles(model, { ids: [entity], session });
    const filter = { "metadata.entity": entity, "metadata.isConfirmed": true };
    await removeUnnamed({ model, paths }, { filter: filter as object, limit: MOST_REMOVED });
  } catch (error) {
    logError(error, { task: "remove files" });
  }
}

async function suspectFiles(
  model: Model<unknown>,
  { ids, session }: { readonly ids: readonly unknown[]; readonly session: ClientSession },
): Promise<void> {
  const filter = {
    "metadata.collection": model.collection.name,
    "metadata.entity": { $in: ids },
    "metadata.isConfirmed": true,
  };
  await new FileStore(model.db as Connection).suspect(filter as object, session);
}
