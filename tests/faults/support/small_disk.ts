/** A folder with little space, which can get more; disposing removes it. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  readonly grow: (megabytes: number) => Promise<void>;
}

async function run(command: string, ...args: readonly string[]): Promise<boolean> {
  const quiet = { stdout: "null", stderr: "null" } as const;
  return (await new Deno.Command(command, { args: [...args], ...quiet }).output()).success;
}

/** Makes a folder of its own size in memory. Gives `undefined` where this user may not mount one. */
export async function openSmallDisk(megabytes: number): Promise<SmallDisk | undefined> {
  const path = await Deno.makeTempDir({ prefix: "mongrove-disk-" });
  const mounted = await run("mount", "-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path)
    .catch(() => false);
  if (!mounted) {
    await Deno.remove(path);
    return undefined;
  }
  return {
    path,
    async grow(megabytes) {
      if (await run("mount", "-o", `remount,size=${megabytes}m`, path)) return;
      throw new Error("Cannot give the disk more space");
    },
    async [Symbol.asyncDispose]() {
      await run("umount", "--lazy", path);
      await Deno.remove(path);
    },
  };
}

/** Has temporary folders made on a disk. */
export async function onDisk<T>({ path }: SmallDisk, make: () => Promise<T>): Promise<T> {
  const usual = Deno.env.get("TMPDIR");
  Deno.env.set("TMPDIR", path);
  try {
    return await make();
  } finally {
    if (usual === undefined) Deno.env.delete("TMPDIR");
    else Deno.env.set("TMPDIR", usual);
  }
}
