/** The environment variable that is set with `--picture`. */
export const PICTURE = "MONGROVE_PICTURE";

/** Whether pictures for the docs are asked for. */
export const wantsPicture: boolean = Deno.env.has(PICTURE);
