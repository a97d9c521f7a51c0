import type { Connection, mongo } from "mongoose";
import { logError } from "../../errors/log.ts";
import { StoreFailure } from "../../errors/failure.ts";
import { notFound, preconditionFailed } from "../../errors/refusals.ts";
import { bindToVersion } from "../../pipeline/failures.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import { createsOnly } from "../../pipeline/request/versions.ts";
import type { PartLink } from "../../schema/describe_parts.ts";
import type { Version } from "../../schema/fields/system_fields.ts";
import { isObjectId } from "../../schema/mongoose/bson.ts";
import { haveSameDatabase } from "../../schema/mongoose/connections.ts";
import type { PartPath } from "../../store/parts/part_path.ts";
import { addToProperty, removeOnly } from "../../sources/parts/part_writes.ts";
import type { EntityValue } from "../../sources/source.ts";
import { type Stamps, storedText } from "../../store/values.ts";
import { declaredFiles } from "./file_fields.ts";
import { FileStore } from "./file_store.ts";
import type { FileDescription } from "./stored_file.ts";
import { removeUnnamed } from "./unnamed_files.ts";

export interface StoredValue extends FileDescription {
  readonly file: mongo.ObjectId;
}

/** Another program may have stored an incomplete description, which counts as no file. */
export function isWhole({ file, size, name, type, sha256 }: Partial<StoredValue>): boolean {
  return isObjectId(file) && Number.isSafeInteger(size) &&
    [name, type, sha256].every((each) => typeof each === "string");
}

interface WrittenFile {
  readonly replaced: mongo.ObjectId | undefined;
  readonly version: Version | undefined;
}

/** Other requests may replace the same file at the same time. */
const MAX_TRIES = 20;

export class FileField {
  readonly #context: OpenLevelContext;
  readonly #parent: PartPath;
  readonly #link: PartLink;
  readonly store: FileStore;

  private constructor(context: OpenLevelContext, parent: PartPath) {
    this.#context = context;
    this.#parent = parent;
    this.#link = context.level.link as PartLink;
    this.store = new FileStore(parent.model.db as Connection);
  }

  static async open(context: OpenLevelContext): Promise<FileField> {
    const { steps, ...root } = await context.source.locate({} as EntityValue);
    return new FileField(context, { ...root, steps: steps.slice(0, -1) });
  }

  get entity(): { readonly collection: string; readonly entity: unknown } {
    return { collection: this.#parent.model.collection.name, entity: this.#parent.id };
  }

  /**
   * An upload must not reach another entity, to which its URL may lead by now. Models are not compared, because
   * `getConnection` may return two connections to one database.
   */
  isOfSameEntity(other: FileField): boolean {
    const { model: { db, collection }, id } = this.#parent;
    const { model, id: otherId } = other.#parent;
    return haveSameDatabase(db as Connection, model.db as Connection) &&
      collection.name === model.collection.name && storedText(id) === storedText(otherId);
  }

  async read(): Promise<mongo.ObjectId | undefined> {
    const { file } = await this.#context.source.readStored("", ["file"]) ?? {};
    return isObjectId(file) ? file : undefined;
  }

  /** The `ETag` gets the version of the document, because an embedded entity stores none. */
  async replace(value: StoredValue): Promise<WrittenFile> {
    const { property } = this.#link;
    let before: string | undefined;
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const current = await this.read();
      if (current !== undefined && createsOnly(this.#context)) {
        throw preconditionFailed(FILE_EXISTS);
      }
      if (current !== undefined) await this.store.suspect({ _id: current });
      // An earlier version of the application may have stored something else in the field, which the upload overwrites.
      const vacant = { [`${property}.file`]: current ?? NO_FILE };
      const written = await addToProperty(this.#parent, {
        link: this.#link,
        values: [value],
        vacant,
        reads: "version",
        stamps: this.#stamps,
      });
      if (written !== undefined) return { replaced: current, version: written.version };
      if (this.#context.match !== undefined) throw preconditionFailed();
      // The same file is still stored, so the write failed because the request no longer matches the entity.
      if (before === String(current)) throw notFound();
      before = String(current);
    }
    throw new StoreFailure({ kind: "changed" });
  }

  async clear(file: mongo.ObjectId): Promise<void> {
    await this.store.suspect({ _id: file });
    const removal = { property: this.#link.property, filter: { file }, stamps: this.#stamps };
    await bindToVersion(this.#context, () => removeOnly(this.#parent, removal));
  }

  /** Removes nothing if the entity still refers to the file. */
  async dispose(file: mongo.ObjectId): Promise<void> {
    const { model } = this.#parent;
    const paths = declaredFiles(this.#root) ?? [];
    await removeUnnamed({ model, paths }, { filter: { _id: file }, limit: 1 })
      .catch((error) => logError(error, { task: "remove a file" }));
  }

  /**
   * `#parent` already stores the stamps of its document, such as `updatedBy`, so only the embedded entity needs these.
   */
  get #stamps(): Stamps | undefined {
    return this.#parent.steps.at(-1)?.stamps?.();
  }

  get #root() {
    const { levels } = this.#context.route;
    return (levels.findLast(({ link }) => !link?.embedded) ?? this.#context.level).target;
  }
}

const NO_FILE = { $not: { $type: "objectId" } } as const;

export const FILE_EXISTS = "There is a file already";
