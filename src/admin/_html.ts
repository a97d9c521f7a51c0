import type { AdminSession } from "./options.ts";
import { escapeHtml } from "../http/escape_html.ts";

/** The script of the page adds inline styles, so the policy must allow them. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Only the sign-out of a session is a form, so without a session, the policy forbids forms. */
export function policyOf(session: AdminSession | undefined): string {
  return `${POLICY}; form-action ${session === undefined ? "'none'" : "'self'"}`;
}

/** Relative URLs work at any path and behind a proxy. */
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
