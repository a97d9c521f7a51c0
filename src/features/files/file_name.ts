import { readItems } from "../../pipeline/request/header_items.ts";

const MAX_LENGTH = 255;

/**
 * Control characters, path separators, halves of surrogate pairs, and marks of direction, which could make `gpj.exe`
 * look like `exe.jpg`.
 */
const UNSAFE = /[\p{Cc}\p{Cs}/\\\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

export function cleanName(given: string): string | undefined {
  const name = given.normalize("NFC").replaceAll(UNSAFE, "").trim();
  const cut = Array.from(name).slice(0, MAX_LENGTH).join("").trim();
  return /^\.*$/.test(cut) ? undefined : cut;
}

/** Returns the name as the client sent it, perhaps with unsafe characters. */
export function nameIn(header: string): string | undefined {
  const [{ parameters } = { parameters: undefined }] = readItems(header);
  const [, charset, encoded] = /^(utf-8|iso-8859-1)'[^']*'(.*)$/i.exec(
    parameters?.get("filename*") ?? "",
  ) ?? [];
  const plain = parameters?.get("filename");
  if (encoded === undefined) return plain;
  try {
    if (charset?.toLowerCase() === "utf-8") return decodeURIComponent(encoded);
    return encoded.replaceAll(
      /%([\da-f]{2})/gi,
      (_, hex) => String.fromCharCode(parseInt(hex, 16)),
    );
  } catch {
    return plain;
  }
}

/** Old clients get a name with replacements, all others the encoded name of RFC 8187. */
export function disposition(kind: "inline" | "attachment", name: string): string {
  const ascii = name.replaceAll(/[^\x20-\x7e]|["%\\]/g, "_");
  const encoded = encodeURIComponent(name)
    .replaceAll(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${kind}; filename="${ascii}"${ascii === name ? "" : `; filename*=UTF-8''${encoded}`}`;
}
