/** Tells the driver until when a statement may be sent. */
export interface Sending {
  /** What the driver asks right before it sends, at every try. */
  readonly signal: AbortSignal;
  /** Says that the time is up: what has not been sent is given up, what has been sent is left to the database. */
  readonly stop: () => void;
}

/**
 * Opens the sending of one statement. The driver's signal ends a connection whose statement is under way; this one only
 * ends the wait for a connection, and keeps later tries from being sent.
 *
 * @param refuse Gives the error of a statement that is sent too late.
 */
export function openSending(refuse: () => Error): Sending {
  const controller = new AbortController();
  const { signal } = controller;
  let stopped = false;
  let sent = false;
  Object.defineProperty(signal, "throwIfAborted", {
    value: () => {
      if (stopped) throw signal.reason ?? refuse();
      sent = true;
    },
  });
  return {
    signal,
    stop: () => {
      stopped = true;
      if (!sent) controller.abort(refuse());
    },
  };
}
