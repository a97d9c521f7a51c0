/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { type CSSProperties, type ReactNode, useEffect, useState } from "react";

interface FileImageProps {
  readonly name: string;
  readonly get: (signal: AbortSignal) => Promise<Response>;
  readonly style?: CSSProperties;
  /** The element in the place of a picture that is not loaded or may not be shown. */
  readonly instead?: ReactNode;
}

const LARGE: CSSProperties = { maxWidth: "100%", maxHeight: 240 };

/**
 * A picture is shown if its answer says `inline`. The page reads the bytes, because `<img>` sends no header of a login.
 */
export function FileImage({ name, get, style = LARGE, instead }: FileImageProps) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const controller = new AbortController();
    const load = async () => {
      const answer = await get(controller.signal);
      if (!/^inline/.test(answer.headers.get("content-disposition") ?? "")) {
        return await answer.body?.cancel();
      }
      const blob = await answer.blob();
      if (!controller.signal.aborted) setUrl(URL.createObjectURL(blob));
    };
    // The link above a picture says why it cannot be read.
    load().catch(() => {});
    return () => controller.abort();
  }, []);
  useEffect(() => () => {
    if (url !== undefined) URL.revokeObjectURL(url);
  }, [url]);
  return url === undefined ? instead : <img src={url} alt={name} style={style} />;
}
