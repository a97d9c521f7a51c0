/**
 * How long and how often things are measured. The times are CPU time of the server, so that a machine
 * that is busy with other things makes a run longer, and not its servers colder.
 */
export interface Effort {
  /** How often each server meets each scenario. */
  readonly rounds: number;
  /** The time of one such meeting. */
  readonly cellMs: number;
  /** The traffic before a server's first meeting with a scenario, which nobody measures. */
  readonly firstWarmUpMs: number;
  /** The same before every other one. */
  readonly warmUpMs: number;
  /** Documents that the largest collection has. */
  readonly largest: number;
}

/** What `deno task bench` does. */
export const FULL: Effort = {
  rounds: 5,
  cellMs: 800,
  firstWarmUpMs: 3_000,
  warmUpMs: 300,
  largest: 100_000,
};

/** What `deno task bench hooks` does. */
export const HOOKS: Effort = { ...FULL, rounds: 7, cellMs: 2_000 };

/** What `deno task bench --growth` does. */
export const GROWTH: Effort = { ...FULL, largest: 1_000_000 };

/** Shows that everything works; its figures mean nothing. */
export const QUICK: Effort = {
  rounds: 1,
  cellMs: 50,
  firstWarmUpMs: 20,
  warmUpMs: 0,
  largest: 10_000,
};
