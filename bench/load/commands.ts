/** Opens connections to a server. */
export interface OpenCommand {
  /** Which command this is. */
  readonly type: "open";
  /** Where the server listens. */
  readonly port: number;
  /** Its process, whose CPU time and memory are read. */
  readonly pid: number;
  /** The process of the database; 0 if it is not on this machine. */
  readonly databasePid: number;
  /** The number of connections. */
  readonly connections: number;
  /** The HTTP method. */
  readonly method: string;
  /** The paths, taken in turn. */
  readonly paths: readonly string[];
  /** The JSON texts, taken in turn. */
  readonly bodies: readonly string[];
  /** Headers besides the usual ones. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends requests over the open connections, one at a time on each. */
export interface FireCommand {
  /** Which command this is. */
  readonly type: "fire";
  /**
   * No request begins after the server has used this much CPU time, or ten times as much has passed;
   * each connection sends at least one.
   */
  readonly cpuMs: number;
  /** No more requests than this. */
  readonly requests: number;
}

/** Closes the connections. */
export interface CloseCommand {
  /** Which command this is. */
  readonly type: "close";
}

/** Reads what a process has used since its start. */
export interface ProbeCommand {
  /** Which command this is. */
  readonly type: "probe";
  /** The process. */
  readonly pid: number;
}

/** What the load generator can be told, as a line of JSON. */
export type Command = OpenCommand | FireCommand | CloseCommand | ProbeCommand;

/** What became of a {@linkcode FireCommand}. */
export interface Fired {
  /** How many requests were answered. */
  readonly requests: number;
  /** How many of them with another status than 2xx. */
  readonly failed: number;
  /** The bytes of all bodies. */
  readonly bytes: number;
  /** From the first request to the last answer. */
  readonly ms: number;
  /** The CPU time of the server's process in between. */
  readonly cpuMs: number;
  /** The CPU time of the database's process in between. */
  readonly databaseMs: number;
  /** The median time to the first byte of a body. */
  readonly firstByteMs: number;
  /** The time within which 99 of 100 requests were answered. */
  readonly p99Ms: number;
  /** The most memory that the server's process has had since its start. */
  readonly peakMb: number;
}

/** What became of a {@linkcode ProbeCommand}. */
export type Probed = Pick<Fired, "cpuMs" | "peakMb">;
