import { dirname, join } from "node:path/posix";

/** The page of {@linkcode mendLinks}, and the files of its package. */
export interface PageOfPackage {
  readonly page: string;
  readonly published: ReadonlySet<string>;
  /**
   * For a page that is read where relative links lead nowhere.
   *
   * @default {undefined} Links stay relative.
   */
  readonly root?: string;
}

/** Also as the row of a table. */
const PICTURES = /^\|?(?:\s*!\[[^\]\n]*\]\([^)\n]+\)\s*\|?)+\n/gm;

/** A link to a file, with its label and the fragment. */
const LINK = /\[((?:[^[\]\n]|\[[^[\]\n]*\])*)\]\(([\w./-]+\.(?:md|json))(#[\w-]+)?\)/g;

/** Removes pictures, and links to files outside of the package. */
export function mendLinks(text: string, { page, published, root }: PageOfPackage): string {
  return text.replace(PICTURES, "").replace(
    LINK,
    (link: string, label: string, file: string, fragment = "") => {
      const path = join(dirname(page), file);
      if (!published.has(path)) return label;
      return root === undefined ? link : `[${label}](${root}${path}${fragment})`;
    },
  );
}
