/** Options of {@linkcode runCommand}. */
export interface RunCommandOptions {
  /** The folder to run it in. */
  cwd: string;
  /** Environment variables in addition to ours. */
  env?: Record<string, string>;
}

/** What became of a command. */
export interface CommandResult {
  /** The exit code. */
  readonly code: number;
  /** Both outputs, one after the other. */
  readonly output: string;
}

/** npm's own news are no part of an output, nor is colour. */
const QUIET = { NO_COLOR: "1", NPM_CONFIG_UPDATE_NOTIFIER: "false" };

/** Runs a command to its end, whatever that is. */
export async function tryCommand(
  name: string,
  args: readonly string[],
  { cwd, env = {} }: RunCommandOptions,
): Promise<CommandResult> {
  const { code, stdout, stderr } = await new Deno.Command(name, {
    args: [...args],
    cwd,
    env: { ...QUIET, ...env },
    stdin: "null",
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, output: `${decode(stdout)}\n${decode(stderr)}`.trim() };
}

/**
 * Runs a command that has to succeed.
 *
 * @returns Its output.
 * @throws {Error} If it fails; its output is in the message.
 */
export async function runCommand(
  name: string,
  args: readonly string[],
  options: RunCommandOptions,
): Promise<string> {
  const { code, output } = await tryCommand(name, args, options);
  if (code !== 0) throw new Error(`Cannot run "${name} ${args.join(" ")}": ${code}\n${output}`);
  return output;
}
