/** Compressed by Brotli, as base64. */
export declare const PAGE: string;
