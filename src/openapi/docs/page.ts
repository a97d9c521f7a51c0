import { escapeHtml } from "../../http/escape_html.ts";

export interface DocsPageOptions {
  readonly title: string;
  readonly servers: readonly string[];
}

/** Relative URLs work at any path and behind a proxy. */
export function writePage({ title }: DocsPageOptions): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/docs.css">
</head>
<body>
<div id="page"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;
}

export function writePolicy({ servers }: DocsPageOptions): string {
  const origins = servers.flatMap(originOf);
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...new Set(origins)].join(" "),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function originOf(server: string): string[] {
  return URL.canParse(server) && /^https?:/.test(server) ? [new URL(server).origin] : [];
}
