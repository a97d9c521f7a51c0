import type { Figure } from "../figures/figure.ts";
import type { ModelFigure } from "../figures/model_figure.ts";

/** The circumstances of a run. */
export interface Run {
  /** The day. */
  readonly date: string;
  /** The command that was run. */
  readonly command: string;
  /** What was left out, in words; the empty string for nothing. */
  readonly partial: string;
  /** How many rounds there were. */
  readonly rounds: number;
  /** What it was run on. */
  readonly machine: string;
  /** The version of everything that was measured. */
  readonly versions: Readonly<Record<string, string>>;
  /** What a reader of the figures has to know. */
  readonly notes: readonly string[];
}

/** A run of the scenarios. */
export interface ScenarioRun extends Run {
  /** The figures. */
  readonly figures: readonly Figure[];
}

/** What shows how cost grows. */
export interface Growth {
  /** By the length of a list; the scenario is the number. */
  readonly documents: readonly Figure[];
  /** By the number of fields; the scenario is the number. */
  readonly fields?: readonly Figure[];
  /** By connections; the scenario is the number. */
  readonly connections: readonly Figure[];
  /** By the depth of a page; the scenario is the way and the depth. */
  readonly depth?: readonly Figure[];
  /** By models. */
  readonly models: readonly ModelFigure[];
}

/** A run that shows how cost grows. */
export interface GrowthRun extends Run, Growth {}

/** What has been measured, as it is kept in `docs/benchmarks.json`. */
export interface Results {
  /** The last run of the scenarios. */
  readonly scenarios?: ScenarioRun;
  /** The last run of groups. */
  readonly groups?: ScenarioRun;
  /** The last run of requests with a hook. */
  readonly hooks?: ScenarioRun;
  /** The last run of writes. */
  readonly writes?: ScenarioRun;
  /** The last run that shows how cost grows. */
  readonly growth?: GrowthRun;
}
