export const ANY_BYTES = "application/octet-stream";

const ESSENCE = /^[\w!#$&^.+-]{1,63}\/[\w!#$&^.+-]{1,63}$/;

export function readType(header: string): string | undefined {
  const [essence = ""] = header.split(";", 1);
  const type = essence.trim().toLowerCase();
  return ESSENCE.test(type) ? type : undefined;
}

export function isTypePattern(value: unknown): boolean {
  return typeof value === "string" && readType(value.replace(/\/\*$/, "/x")) !== undefined &&
    value === value.toLowerCase() && !value.includes(";");
}

export function isAccepted(type: string, accept: readonly string[] | undefined): boolean {
  if (accept === undefined) return true;
  const [kind = ""] = type.split("/", 1);
  return accept.some((each) => each === type || each === `${kind}/*`);
}

/** Browsers run no code in these files, unlike in SVG, HTML, XML and PDF. */
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
 * Sent as `application/octet-stream`, or else a web page could load them as script or style sheet in spite of
 * `Content-Disposition`.
 */
const LOADED = /^(text|application)\/(x-)?((java|ecma|live|j)script[\d.]*|css)$/;

export function sentType(type: string): string {
  return LOADED.test(type) ? ANY_BYTES : type;
}
