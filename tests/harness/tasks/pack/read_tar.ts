const BLOCK = 512;

/** Reads a `.tar.gz`, with paths without a leading `./`. Throws for entries other than files and folders. */
export async function readTar(bytes: Uint8Array): Promise<Map<string, Uint8Array>> {
  const unzipped = new Blob([bytes as BlobPart]).stream()
    .pipeThrough(new DecompressionStream("gzip"));
  const tar = new Uint8Array(await new Response(unzipped).arrayBuffer());
  const files = new Map<string, Uint8Array>();
  for (let at = 0; at < tar.length && tar[at] !== 0;) {
    const text = (from: number, length: number) => readText(tar, at + from, length);
    const size = parseInt(text(124, 12), 8);
    const path = [text(345, 155), text(0, 100)].filter((part) => part !== "").join("/");
    const start = at + BLOCK;
    const type = text(156, 1);
    if (type === "" || type === "0") {
      files.set(path.replace(/^\.\//, ""), tar.slice(start, start + size));
    } else if (type !== "5") throw new TypeError(`Cannot read "${path}": its type is ${type}`);
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

function readText(tar: Uint8Array, at: number, length: number): string {
  return new TextDecoder().decode(tar.subarray(at, at + length)).split("\0")[0] ?? "";
}
