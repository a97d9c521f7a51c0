import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import mongoose from "mongoose";
import type { mongo } from "mongoose";
import type { TimeBudget } from "../../store/time_budget.ts";
import { DISK_FULL, isUnavailable } from "../../store/failure_of.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { logError } from "../../errors/log.ts";
import { StoreFailure } from "../../errors/failure.ts";
import { badFormat, preconditionFailed, refusal } from "../../errors/refusals.ts";
import { RestError } from "../../errors/rest_error.ts";
import { toJson } from "../../json/to_json.ts";
import { toAnswer } from "../../pipeline/failures.ts";
import { countSelected, openLevel } from "../../pipeline/open_level.ts";
import { isMinimal, withoutBody } from "../../pipeline/request/preferences.ts";
import type { TextAnswer } from "../../pipeline/request/answer.ts";
import {
  type LevelContext,
  makeCall,
  type OpenLevelContext,
} from "../../pipeline/request/request_context.ts";
import {
  checkVersion,
  createsOnly,
  outerVersionAfter,
  versionRead,
} from "../../pipeline/request/versions.ts";
import { admitAgain } from "../../pipeline/run_pipeline.ts";
import { BodyReader, type ByteSource, discardBody, isConsumed } from "./body_reader.ts";
import { FILE_EXISTS, FileField, type StoredValue } from "./file_field.ts";
import type { FileConfig } from "./file_fields.ts";
import { cleanName, nameIn } from "./file_name.ts";
import { CHUNK_BYTES, chunksAtOnce, countTransfer, type FileStore } from "./file_store.ts";
import { boundaryOf, FormFile } from "./form_file.ts";
import { fileTag } from "./get_file.ts";
import { ANY_BYTES, isAccepted, readType } from "./media_type.ts";

/** The most bytes of a form besides its file, so that `Content-Length` shows a too large file. */
const FORM_BYTES = 16 * 1024;

/** A running upload postpones its check at this interval, or housekeeping would remove it. */
const RENEW_MS = 10 * 60_000;

/** Middleware such as `express.json()` may have read these bodies, so the error advises to send a form. */
const PARSED = ["json", "+json", "urlencoded"];

export function checkUpload({ req }: LevelContext, config: FileConfig): void {
  try {
    const { "content-encoding": encoding = "identity", "content-length": length } = req.headers;
    if (encoding.toLowerCase() !== "identity") {
      throw unsupported("A file cannot have a Content-Encoding");
    }
    if (req.headers["content-range"] !== undefined) {
      throw badFormat("A file is stored as a whole, without Content-Range");
    }
    const isForm = boundaryOf(req.headers["content-type"]) !== undefined;
    if (!isForm) checkType(typeOf(req.headers["content-type"]), config);
    if (isConsumed(req) && req.is(PARSED)) {
      throw unsupported("The application reads bodies of this type: send the file as a form");
    }
    const most = config.maxBytes + (isForm ? FORM_BYTES : 0);
    if (Number(length) > most) throw tooLarge(config);
  } catch (error) {
    discardBody(req);
    throw error;
  }
}

function typeOf(header: string | undefined): string {
  const type = header === undefined || header === "" ? ANY_BYTES : readType(header);
  if (type === undefined) throw unsupported("The Content-Type is no media type");
  return type;
}

function checkType(type: string, { accept }: FileConfig): void {
  if (isAccepted(type, accept)) return;
  throw unsupported(`The file has none of the types ${accept?.join(", ")}`);
}

function unsupported(message: string): RestError {
  return refusal("UNSUPPORTED_MEDIA_TYPE", { message });
}

function tooLarge({ maxBytes }: FileConfig): RestError {
  const message = `The file is larger than ${maxBytes} bytes`;
  return refusal("PAYLOAD_TOO_LARGE", { message, limit: maxBytes });
}

export async function putFile(context: OpenLevelContext, config: FileConfig): Promise<TextAnswer> {
  const { req } = context;
  try {
    return await upload(context, config);
  } catch (error) {
    discardBody(req);
    throw error;
  }
}

async function upload(context: OpenLevelContext, config: FileConfig): Promise<TextAnswer> {
  const { level: { link }, timeBudget } = context;
  const field = await FileField.open(context);
  const before = await field.read();
  checkVersion(context, versionRead({}, context));
  if (before !== undefined && createsOnly(context)) throw preconditionFailed(FILE_EXISTS);
  const file = new mongoose.Types.ObjectId();
  const received = async () => {
    const value = await receive(context, { file, field, config, property: link?.property ?? "" });
    // The client decides how long an upload takes, so the time limit begins again.
    timeBudget.renew();
    return { value, ...await openAgain(context, field) };
  };
  const { value, now, place } = await received().catch(async (error) => {
    // If the database is away, a removal would delay the answer, so housekeeping removes the bytes.
    const isAway = isUnavailable(error) && Object(error).code !== DISK_FULL;
    if (!isAway && !timeBudget.expired) await discard(field.store, file);
    throw error;
  });
  const { replaced, version: stored } = await place.replace(value).catch(async (error) => {
    if (isOfClient(error)) await discard(field.store, file);
    throw error;
  });
  await field.store.confirm(file).catch((error) => logError(error, { task: "a file" }));
  if (replaced !== undefined) await place.dispose(replaced);
  const { file: _file, ...description } = value;
  const version = stored ?? outerVersionAfter(now);
  const { parentId } = versionRead({}, now);
  const answer: TextAnswer = {
    kind: "text",
    status: replaced === undefined ? 201 : 200,
    text: toJson(description, now.level.shape),
    headers: { ETag: fileTag(value, { version, parentId }) },
    ...replaced === undefined && { created: "" },
  };
  return isMinimal(context) ? withoutBody(answer) : answer;
}

/** The entity and the rights may have changed during a long upload. */
async function openAgain(
  { route, req, timeBudget }: OpenLevelContext,
  field: FileField,
): Promise<{ readonly now: OpenLevelContext; readonly place: FileField }> {
  const call = await admitAgain(
    makeCall(route, { req, count: countSelected, weight: 0, timeBudget }),
  );
  call.context.level.checkRequest?.(call.context);
  const now = await openLevel(call.context);
  checkVersion(now, versionRead({}, now));
  const place = await FileField.open(now);
  if (!place.isOfSameEntity(field)) throw new StoreFailure({ kind: "changed" });
  return { now, place };
}

/**
 * With a status below 500, no entity refers to the file, so its bytes are removed. Otherwise, the reference may be
 * stored, so housekeeping decides.
 */
function isOfClient(error: unknown): boolean {
  const answer = toAnswer(error);
  return answer instanceof RestError && answer.status < 500;
}

async function discard(store: FileStore, id: mongo.ObjectId): Promise<void> {
  await store.remove(id).catch((error) => logError(error, { task: "remove an upload" }));
}

interface Receiving {
  readonly file: mongo.ObjectId;
  readonly field: FileField;
  readonly config: FileConfig;
  readonly property: string;
}

async function receive(
  { req, route, timeBudget }: OpenLevelContext,
  { file, field: { store, entity }, config, property }: Receiving,
): Promise<StoredValue> {
  const body = new BodyReader(req, route.sendTimeoutMS);
  try {
    const { name = property, type, bytes } = await openFile(req, { body, config });
    await timeBudget.waitForNext(store.begin({ _id: file, filename: name, type, ...entity }));
    const upload = new Upload(file, { store, config, timeBudget });
    const { size, sha256 } = await countTransfer(() => upload.receive(bytes))
      .finally(() => upload.settled());
    await timeBudget.waitForNext(store.complete(file, { length: size, sha256 }));
    return { name, type, size, sha256, at: new Date(), file };
  } finally {
    body.leave();
  }
}

interface OpenedFile {
  readonly name: string | undefined;
  readonly type: string;
  readonly bytes: ByteSource;
}

async function openFile(
  { headers }: FrameworkRequest,
  { body, config }: { readonly body: ByteSource; readonly config: FileConfig },
): Promise<OpenedFile> {
  const boundary = boundaryOf(headers["content-type"]);
  if (boundary === undefined) {
    // Node decodes headers as Latin-1, but most clients send UTF-8.
    const given = nameIn(headers["content-disposition"] ?? "");
    const name = given === undefined ? undefined : cleanName(fromUtf8(given));
    return { name, type: typeOf(headers["content-type"]), bytes: body };
  }
  const { bytes, headers: own } = await FormFile.open(body, boundary);
  const given = nameIn(own.get("content-disposition") ?? "");
  if (given === undefined) throw badFormat("The part of the form is no file");
  // Browsers send an empty name if nobody has chosen a file.
  if (given === "" && await bytes.isEmpty()) throw badFormat("The form has no file");
  const type = typeOf(own.get("content-type"));
  checkType(type, config);
  // Browsers encode quotes and line breaks in the names of files.
  return { name: cleanName(given.replaceAll(/%(22|0D|0A)/gi, decodeURIComponent)), type, bytes };
}

function fromUtf8(text: string): string {
  if (!/^[\0-\xff]*$/.test(text)) return text;
  const decoded = Buffer.from(text, "latin1").toString("utf8");
  return decoded.includes("\ufffd") ? text : decoded;
}

interface UploadOptions {
  readonly store: FileStore;
  readonly config: FileConfig;
  readonly timeBudget: TimeBudget;
}

class Upload {
  readonly #id: mongo.ObjectId;
  readonly #options: UploadOptions;
  #chunk: Uint8Array<ArrayBuffer> = Buffer.allocUnsafe(CHUNK_BYTES);
  #filled = 0;
  #full: Uint8Array<ArrayBuffer>[] = [];
  readonly #spare: Uint8Array<ArrayBuffer>[] = [];
  #count = 0;
  #storing: Promise<void> = Promise.resolve();
  #renewedAt = Date.now();

  constructor(id: mongo.ObjectId, options: UploadOptions) {
    this.#id = id;
    this.#options = options;
  }

  async receive(bytes: ByteSource): Promise<{ readonly size: number; readonly sha256: string }> {
    const { config } = this.#options;
    const hash = createHash("sha256");
    let size = 0;
    for (let piece = await bytes.next(); piece !== undefined; piece = await bytes.next()) {
      size += piece.length;
      if (size > config.maxBytes) throw tooLarge(config);
      hash.update(piece);
      await this.#add(piece);
    }
    if (this.#filled > 0) this.#endChunk();
    if (this.#full.length > 0) await this.#store();
    await this.#storing;
    return { size, sha256: hash.digest("hex") };
  }

  /** Waits for running writes, which could otherwise store chunks after a failed upload was removed. */
  async settled(): Promise<void> {
    await this.#storing.catch(() => {});
  }

  async #add(piece: Uint8Array): Promise<void> {
    for (let start = 0; start < piece.length;) {
      const end = Math.min(piece.length, start + CHUNK_BYTES - this.#filled);
      this.#chunk.set(piece.subarray(start, end), this.#filled);
      this.#filled += end - start;
      start = end;
      if (this.#filled === CHUNK_BYTES) this.#endChunk();
      if (this.#full.length >= chunksAtOnce()) await this.#store();
    }
  }

  #endChunk(): void {
    this.#full.push(this.#chunk.subarray(0, this.#filled));
    this.#chunk = this.#spare.pop() ?? Buffer.allocUnsafe(CHUNK_BYTES);
    this.#filled = 0;
  }

  /** Waits for earlier chunks, so that an upload holds few in memory. */
  async #store(): Promise<void> {
    const { store, timeBudget } = this.#options;
    await this.#storing;
    const chunks = this.#full;
    const appended = store.append(this.#id, { first: this.#count, chunks });
    this.#full = [];
    this.#count += chunks.length;
    this.#storing = timeBudget.waitForNext(appended).then(() => void this.#spare.push(...chunks));
    this.#storing.catch(() => {});
    if (Date.now() - this.#renewedAt < RENEW_MS) return;
    await timeBudget.waitForNext(store.renew(this.#id));
    this.#renewedAt = Date.now();
  }
}
