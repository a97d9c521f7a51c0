export interface PageOptions {
  readonly title: string;
  /** The URLs of the API, relative ones included. */
  readonly servers: readonly string[];
}

/**
 * The script that starts the interface: a file, as the policy of the page allows no script in it.
 *
 * It asks for `q` as a parameter with `content`. A text with `contentMediaType` would be an input for files.
 */
export const START = `SwaggerUIBundle({
  url: new URL("openapi.json?q=content", document.baseURI).href,
  dom_id: "#page",
  deepLinking: true,
  validatorUrl: null,
});
`;

/** Writes the page. All its URLs are relative, so that it works at any path and behind a proxy. */
export function writePage({ title }: PageOptions): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<link rel="icon" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="page"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;
}

/** The sources from which the page may load: its own origin, and those of the servers that requests are tried on. */
export function writePolicy({ servers }: PageOptions): string {
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

function escape(text: string): string {
  return text.replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
