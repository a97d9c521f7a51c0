import os from "node:os";

/** Tells what the figures were taken on; nothing that names the machine. */
export function describeMachine(): string {
  const cpus = os.cpus();
  const model = cpus[0]?.model.trim() || "an unnamed processor";
  const gigabytes = Math.round(os.totalmem() / 2 ** 30);
  return `${cpus.length} × ${model}, ${gigabytes} GB, ${os.type()} ${os.release().split("-")[0]}`;
}
