/** @jsxRuntime automatic */
/** @jsxImportSource react */
import type { FileJson } from "@mongrove/mongrove/client";
import { Typography } from "@mui/material";
import type { PageFile } from "../src/admin/document.ts";
import { FileImage } from "./file_image.tsx";
import { usePage } from "./page_context.ts";

interface FileThumbProps {
  readonly file: PageFile;
  readonly path: string;
  readonly id: string;
  readonly stored: Partial<FileJson>;
}

/** In bytes. A list does not load a larger picture. */
const MAX_SHOWN = 2_000_000;

export function FileThumb({ file, path, id, stored }: FileThumbProps) {
  const { open } = usePage();
  const { name = file.property, type = "", size = 0, sha256 } = stored;
  const isShown = type.startsWith("image/") && size <= MAX_SHOWN && file.operations.includes("one");
  const text = <Typography component="span" variant="body2" noWrap title={name}>{name}</Typography>;
  return isShown
    ? (
      <FileImage
        key={sha256}
        name={name}
        get={(signal) => open(path).file(file.property, id).get({ signal })}
        style={THUMB}
        instead={text}
      />
    )
    : text;
}

const THUMB = {
  display: "block",
  width: 40,
  height: 40,
  objectFit: "cover",
  borderRadius: 6,
} as const;
