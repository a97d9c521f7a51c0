/** Whether this process is one of Deno. */
export const IS_DENO: boolean = "Deno" in globalThis;
