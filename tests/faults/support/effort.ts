/** The environment variable that asks for the long form. */
export const LONG = "MONGROVE_FAULTS_LONG";

/** Whether the long form is asked for. */
export const isLong = Deno.env.has(LONG);

/** How many clients send requests, each one after the other. */
export const CLIENTS = isLong ? 64 : 16;

/** How often each fault happens. */
export const ROUNDS = isLong ? 3 : 1;
