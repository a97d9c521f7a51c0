import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { removeLeft } from "./memory_folder.ts";

Deno.test("removeLeft() removes the folders of mongod that do not run, and no others", async () => {
  const folder = await Deno.makeTempDir();
  const processes = { left: 1, running: 2, started: undefined, other: 1 };
  for (const [name, process] of Object.entries(processes)) {
    const path = join(folder, name === "other" ? name : `mongrove-mongod-${name}`);
    await Deno.mkdir(path);
    if (process) await Deno.writeTextFile(join(path, "mongod.lock"), `${process}\n`);
  }
  await removeLeft(folder, (id) => id === 2);
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
  assertEquals(names, ["mongrove-mongod-running", "mongrove-mongod-started", "other"]);
  await Deno.remove(folder, { recursive: true });
});
