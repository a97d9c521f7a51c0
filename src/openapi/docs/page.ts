export interface PageOptions {
  readonly title: string;
  /** The URLs of the API, including relative URLs, to which the page may send requests. */
  readonly servers: readonly string[];
}

/**
 * The script that starts the documentation page. The script is a separate file, because the content security policy of
 * the page forbids inline scripts.
 *
 * The script requests a document with `q` as a parameter with `content`. Swagger UI would show a text with
 * `contentMediaType` as an input for files.
 */
export const START = `SwaggerUIBundle({
  url: new URL("openapi.json?q=content", document.baseURI).href,
  dom_id: "#page",
  deepLinking: true,
  validatorUrl: null,
});
`;

/** Returns the HTML of the page. All its URLs are relative, so the page works at any path and behind a proxy. */
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

/**
 * Returns the content security policy of the page. The page may load files from its origin, and send requests to its
 * origin and to the servers of the API.
 */
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
