/** The media type of an uploaded file if the client has sent no media type. */
export const ANY_BYTES = "application/octet-stream";

const ESSENCE = /^[\w!#$&^.+-]{1,63}\/[\w!#$&^.+-]{1,63}$/;

/**
 * Returns a media type without its parameters and in lower case, as the option `accept` compares it. Returns
 * `undefined` if the text is no media type.
 */
export function readType(header: string): string | undefined {
  const [essence = ""] = header.split(";", 1);
  const type = essence.trim().toLowerCase();
  return ESSENCE.test(type) ? type : undefined;
}

/** Whether a value of the option `accept` is valid, such as the media type `image/png` or the pattern `image/*`. */
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
 * The media types that a browser may show with the option `inline`, because no browser runs code in files of these
 * types. Files with the types SVG, HTML, XML and PDF can contain code, so a browser always saves them.
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
 * The media types of files that a web page can load as a script or as a style sheet, which neither
 * `Content-Disposition` nor a sandbox prevents. Files with these types are sent as `application/octet-stream`.
 */
const LOADED = /^(text|application)\/(x-)?((java|ecma|live|j)script[\d.]*|css)$/;

/**
 * Returns the media type with which a file is sent, so that no web page can load the file as a script or style sheet.
 */
export function sentType(type: string): string {
  return LOADED.test(type) ? ANY_BYTES : type;
}
