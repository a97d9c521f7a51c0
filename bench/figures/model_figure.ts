import { median } from "./quantile.ts";

/** What a number of models costs. */
export interface ModelFigure {
  /** The server's id. */
  readonly server: string;
  /** The number of models. */
  readonly models: number;
  /** From the start of the process until it listens. */
  readonly startMs: number;
  /** The CPU time of that. */
  readonly startCpuMs: number;
  /** The memory of that, in megabytes. */
  readonly startMb: number;
  /** The CPU time of a request for one entity of the model that was mounted last. */
  readonly cpuMs: number;
}

/** Sums up the rounds of a server with a number of models. */
export function toMedian(group: readonly ModelFigure[]): ModelFigure {
  const [{ server, models }] = group as [ModelFigure, ...ModelFigure[]];
  const of = (key: keyof Omit<ModelFigure, "server" | "models">) =>
    median(group.map((figure) => figure[key]));
  return {
    server,
    models,
    startMs: of("startMs"),
    startCpuMs: of("startCpuMs"),
    startMb: of("startMb"),
    cpuMs: of("cpuMs"),
  };
}
