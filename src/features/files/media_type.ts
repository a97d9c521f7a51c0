/** The type of a file whose client has named no type. */
export const ANY_BYTES = "application/octet-stream";

const ESSENCE = /^[\w!#$&^.+-]{1,63}\/[\w!#$&^.+-]{1,63}$/;

/**
 * Returns a media type without its parameters and in lower case. Returns `undefined` if the text is no media type.
 */
export function readType(header: string): string | undefined {
  const [essence = ""] = header.split(";", 1);
  const type = essence.trim().toLowerCase();
  return ESSENCE.test(type) ? type : undefined;
}

/** Whether a value is a media type such as `image/png`, or all types of a kind such as `image/*`. */
export function isTypePattern(value: unknown): boolean {
  return typeof value === "string" && readType(value.replace(/\/\*$/, "/x")) !== undefined &&
    value === value.toLowerCase() && !value.includes(";");
}

export function isAccepted(type: string, accept: readonly string[] | undefined): boolean {
  if (accept === undefined) return true;
  const [kind = ""] = type.split("/", 1);
  return accept.some((each) => each === type || each === `${kind}/*`);
}

/**
 * The types that a browser may show. A browser runs no code of a file with such a type. Files with the types SVG, HTML,
 * XML and PDF can contain code.
 */
const SHOWN: ReadonlySet<string> = new Set([
  ...["png", "jpeg", "gif", "webp", "avif"].map((each) => `image/${each}`),
  ...["mpeg", "mp4", "ogg", "wav", "webm", "aac", "flac"].map((each) => `audio/${each}`),
  ...["mp4", "webm", "ogg"].map((each) => `video/${each}`),
  "text/plain",
]);

export function isShownInline(type: string): boolean {
  return SHOWN.has(type);
}

/**
 * The types that a page can load as a script or as a style sheet. `Content-Disposition` and the sandbox do not prevent
 * this.
 */
const LOADED = /^(text|application)\/(x-)?((java|ecma|live|j)script[\d.]*|css)$/;

/** Returns the media type with which a file is sent, so that no page can load the file as a script or style sheet. */
export function sentType(type: string): string {
  return LOADED.test(type) ? ANY_BYTES : type;
}
