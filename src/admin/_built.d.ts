/** The script of the page, compressed by Brotli, as base64. */
export declare const PAGE: string;
