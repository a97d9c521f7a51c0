import { say } from "../say.ts";
import { makeNpmPackage } from "./pack/npm_package.ts";
import { type Files, stagePackage, writePackage } from "./pack/stage_package.ts";
import { ROOT } from "./run_deno.ts";

export async function runPack(): Promise<number> {
  const jsr = await stagePackage();
  await report("dist/jsr", jsr);
  await report("dist/npm", await makeNpmPackage(jsr));
  return 0;
}

async function report(folder: string, files: Files): Promise<void> {
  await writePackage(new URL(folder, ROOT).pathname, files);
  say(`${folder}: ${files.size} files, ${sizeOf(files)} bytes`);
}

export function sizeOf(files: Files): number {
  const encoder = new TextEncoder();
  return [...files.values()].reduce((sum, text) => sum + encoder.encode(text).length, 0);
}
