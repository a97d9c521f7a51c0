import { escapeHtml } from "../http/escape_html.ts";

/**
 * The content security policy of the admin page. The script of the page makes its styles, so inline styles are allowed.
 */
export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Returns the HTML of the admin page. All its URLs are relative, so the page works at any path and behind a proxy. */
export function writeHtml(title: string, script: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<script type="module" src="${script}"></script>
</head>
<body>
<div id="root"></div>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`;
}
