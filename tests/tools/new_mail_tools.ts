import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { test } from "../harness/testing.ts";
import { runCommand } from "../reach/support/run_command.ts";
import { makeDenoApp } from "./support/new_app.ts";

const SCRIPT = `import { mail } from "./mail.ts";
await mail("ann@acme.example", "Verify your address: http://127.0.0.1/x");
`;

/** Accepts one mail by SMTP, and returns its lines. */
async function acceptMail(listener: Deno.Listener): Promise<string[]> {
  const connection = await listener.accept();
  const say = (line: string) => connection.write(new TextEncoder().encode(`${line}\r\n`));
  const lines: string[] = [];
  let isData = false;
  await say("220 mail.example");
  for await (const text of connection.readable.pipeThrough(new TextDecoderStream())) {
    const read = text.split("\r\n").filter((line) => line !== "");
    lines.push(...read);
    if (isData && !read.includes(".")) continue;
    isData = read.includes("DATA");
    if (read.includes("QUIT")) break;
    await say(isData ? "354 go on" : "250 OK");
  }
  return lines;
}

test("new --login sends mails by SMTP_URL, and prints them without it", async () => {
  await using app = await makeDenoApp({ login: true });
  await Deno.writeTextFile(join(app.folder, "send.ts"), SCRIPT);
  const args = ["run", "-A", "--no-check", "--quiet", "send.ts"];
  const send = (env: Record<string, string>) =>
    runCommand(Deno.execPath(), args, { cwd: app.folder, env });
  assertEquals(await send({}), "Mail to ann@acme.example: Verify your address: http://127.0.0.1/x");
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const accepted = acceptMail(listener);
  const env = { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: "todos@acme.example" };
  assertEquals(await send(env), "");
  const lines = (await accepted).join("\n");
  for (const line of ["From: todos@acme.example", "To: ann@acme.example"]) {
    assertStringIncludes(lines, line);
  }
  assertMatch(
    lines,
    /^Subject: Verify your address\n[^]*^Verify your address: http:\/\/127\.0\.0\.1\/x$/m,
  );
});
