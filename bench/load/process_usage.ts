import { readdirSync, readFileSync } from "node:fs";

/** The CPU time of each thread of a process, in milliseconds. */
export type ThreadTimes = ReadonlyMap<string, number>;

/** The ticks of `/proc/<pid>/stat`: 100 a second on every Linux that matters. */
const TICK_MS = 10;

/**
 * Reads the CPU time of a process by thread: utime + stime, from the scheduler's own account in
 * nanoseconds, or else from `/proc/<pid>/stat`, which shows the same in ticks of 10 ms. Nothing for
 * the process 0, which is none.
 */
export function readThreadTimes(pid: number): ThreadTimes {
  if (pid === 0) return new Map();
  const folder = `/proc/${pid}/task`;
  try {
    return new Map(readdirSync(folder).map((thread) => [thread, readRunTime(folder, thread)]));
  } catch {
    return new Map([["all", readTicks(pid)]]);
  }
}

function readRunTime(folder: string, thread: string): number {
  const [time] = readFileSync(`${folder}/${thread}/schedstat`, "latin1").split(" ");
  return Number(time) / 1e6;
}

function readTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The name may hold spaces; it ends with the last parenthesis
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** The CPU time between two readings; a thread that has ended in between is left out. */
export function timeBetween(before: ThreadTimes, after: ThreadTimes): number {
  let sum = 0;
  for (const [thread, time] of after) sum += time - (before.get(thread) ?? 0);
  return sum;
}

/** Reads the most memory that a process has had, in megabytes. */
export function readPeakMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1] ?? NaN) / 1024;
}
