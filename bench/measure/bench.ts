import type { Effort } from "../plan/effort.ts";
import type { BenchDatabase } from "../setup/bench_database.ts";
import type { LoadClient } from "../setup/load_client.ts";
import type { Workspace } from "../setup/workspace.ts";

/** What everything that measures needs. */
export interface Bench {
  /** The programs. */
  readonly workspace: Workspace;
  /** The data. */
  readonly database: BenchDatabase;
  /** The load generator. */
  readonly load: LoadClient;
  /** How long and how often to measure. */
  readonly effort: Effort;
  /** What a reader of the figures has to know; grows as things go wrong. */
  readonly notes: string[];
  /** Tells that the person who started it wants it to end. */
  readonly interrupted: AbortSignal;
}
