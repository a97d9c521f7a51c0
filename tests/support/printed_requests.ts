import { assertEquals } from "@std/assert";
import { sendCurl } from "../harness/curl.ts";
import { openDatabase } from "../harness/database.ts";
import { sharedReplicaSet } from "./shared_replica_set.ts";

const ROOT = new URL("../../", import.meta.url);

/**
 * Runs the main.ts of an example, sends the requests that it prints, and checks that it stops on SIGTERM. `<key>` in a
 * request is the API key of an earlier answer.
 */
export async function sendPrinted(example: string): Promise<number[]> {
  await using database = await openDatabase(await sharedReplicaSet());
  const env = { MONGODB_URI: database.uri, DEMO_DATABASE: database.name, PORT: "0" };
  const flags = ["--quiet", "--no-prompt", "--allow-env", "--allow-net", "--allow-sys"];
  const args = ["run", ...flags, "--allow-read", `examples/${example}/main.ts`];
  const child = new Deno.Command(Deno.execPath(), { args, env, cwd: ROOT, stdout: "piped" })
    .spawn();
  const statuses: number[] = [];
  let key = "";
  try {
    let text = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.endsWith("\n\n")) break;
    }
    for (const line of text.split("\n").filter((each) => each.startsWith("curl "))) {
      const { status, body } = await sendCurl(line.replace("<key>", key));
      statuses.push(status);
      key = Object(body).key ?? key;
    }
  } finally {
    child.kill("SIGTERM");
    assertEquals((await child.status).code, 0);
  }
  return statuses;
}
