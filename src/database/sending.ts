export interface Sending {
  /** The driver asks it right before it sends, at every try. */
  readonly signal: AbortSignal;
  /** Keeps the statement from being sent; one that has been sent is left to the database. */
  readonly stop: () => void;
}

/**
 * Opens the sending of one statement. An ordinary signal would close a connection whose statement is under way; this one
 * only ends the wait for a connection, and prevents later tries.
 *
 * @param refuse Gives the error of a statement that would be sent too late.
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
