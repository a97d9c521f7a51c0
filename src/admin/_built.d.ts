/** The script of the admin page, compressed by Brotli, as base64. `deno task admin` builds the module. */
export declare const PAGE: string;
