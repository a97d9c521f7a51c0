import { createHash } from "node:crypto";
import type { Connection } from "mongoose";
import {
  all,
  create,
  FrameworkModel,
  one,
  prop,
  remove,
  replace,
  rest,
  StoredFile,
} from "../../../mod.ts";

@rest({ route: "/scans", methods: [all(), one(), create(), remove()] })
export class Scan extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: [one(), replace(), remove()] })
  @prop({ type: StoredFile, maxBytes: 10_000_000 })
  file?: StoredFile;
}

const CHUNK_BYTES = 255 * 1024;

interface ScanBody {
  readonly _id: string;
  readonly file?: { readonly size: number; readonly sha256: string };
}

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Sends files while something is harmed, and holds what is stored against what clients were told. */
export class FilesJudge {
  /** The hashes of the files that each entity may have, by what clients were told. */
  readonly #possible = new Map<string, Set<string | undefined>>();
  readonly statuses: Record<string, number> = {};
  readonly wrong: string[] = [];

  /** Makes entities, whose files the clients will replace. */
  async prepare(url: string, count: number): Promise<void> {
    for (let at = 0; at < count; at++) {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${url}/scans`, { method: "POST", headers, body: "{}" });
      const { _id } = await answer.json() as ScanBody;
      this.#possible.set(_id, new Set([undefined]));
    }
  }

  /** Lets each entity get files, one after the other, until it is told to stop. */
  async send(url: () => string, isOver: () => boolean): Promise<void> {
    await Promise.all([...this.#possible].map(async ([id, possible]) => {
      while (!isOver()) {
        const removes = Math.random() < 0.2;
        const body = new Uint8Array(16 + Math.random() * 900_000);
        crypto.getRandomValues(body.subarray(0, 16));
        const hash = removes ? undefined : hashOf(body);
        possible.add(hash);
        const answer = await fetch(`${url()}/scans/${id}/file`, {
          method: removes ? "DELETE" : "PUT",
          ...!removes && { body },
        }).catch(() => undefined);
        await answer?.text().catch(() => {});
        const status = answer?.status ?? 0;
        this.statuses[status] = (this.statuses[status] ?? 0) + 1;
        if (answer?.ok) {
          possible.clear();
          possible.add(hash);
        } else await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }));
  }

  /** Compares entities, their files and the bytes in the bucket. */
  async judge(url: string, connection: Connection): Promise<void> {
    let [files, chunks] = [0, 0];
    for (const [id, possible] of this.#possible) {
      const { file } = await (await fetch(`${url}/scans/${id}`)).json() as ScanBody;
      if (!possible.has(file?.sha256)) this.wrong.push(`${id} has another file`);
      const read = await fetch(`${url}/scans/${id}/file`);
      const bytes = new Uint8Array(await read.arrayBuffer());
      if (read.status !== (file ? 200 : 404)) this.wrong.push(`${id}: ${read.status}`);
      if (file === undefined) continue;
      if (hashOf(bytes) !== file.sha256) this.wrong.push(`${id} has a broken file`);
      files++;
      chunks += Math.ceil(file.size / CHUNK_BYTES);
    }
    const count = (name: string) =>
      connection.collection(`mongrove_files.${name}`).countDocuments();
    const stored = `${await count("files")} files of ${await count("chunks")} chunks`;
    if (stored !== `${files} files of ${chunks} chunks`) {
      this.wrong.push(`${stored} are stored, and entities have ${files} of ${chunks}`);
    }
  }
}
