import { Buffer } from "node:buffer";

/** A picture of one pixel. */
export const PNG: Uint8Array<ArrayBuffer> = new Uint8Array(Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
));

/** A file on this machine, which disposing removes. */
export interface MadeFile extends AsyncDisposable {
  readonly path: string;
}

export async function makeFile(name: string, bytes: Uint8Array): Promise<MadeFile> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/${name}`;
  await Deno.writeFile(path, bytes);
  return { path, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
}
