/** A cascade layer contains the styles of Swagger UI, so that each later rule wins. */
export const STYLE = `@import url("swagger-ui.css") layer(swagger-ui);

:root {
  --muted: #4f5b66;
  --line: #d3dae0;
  --link: #0b5cad;
  --word: #6f0fc4;
  --get: #1d5fa8;
  --post: #1b7043;
  --put: #8a5300;
  --patch: #0b6b66;
  --delete: #b3261e;
  --on-method: #fff;
}
:root.dark-mode {
  --muted: #b3bdc6;
  --line: #3c454b;
  --link: #7cb8ff;
  --word: #cbb0ec;
  --get: #7cb8ff;
  --post: #5fd39a;
  --put: #f0b45a;
  --patch: #5fd0c8;
  --delete: #ff9a92;
  --on-method: #10151a;
}

body { margin: 0; }
.swagger-ui :not(code, code *, pre, pre *, textarea, .opblock-summary-path *, .parameter__type) {
  font-family: system-ui, sans-serif;
}
.swagger-ui .info { margin: 2rem 0 1rem; }
.swagger-ui .info .title small { background: #4f5b66; top: -0.4em; }
.swagger-ui .info .title small.version-stamp { background: #3b6400; }
.swagger-ui .info .title small pre { color: #fff; }
.swagger-ui :is(.info a, .info .url, .renderedMarkdown a) { color: var(--link); }
.swagger-ui .renderedMarkdown code { color: var(--word); }
.swagger-ui .scheme-container { box-shadow: none; margin: 0; padding: 0.5rem 0 1rem; }

.swagger-ui .opblock-tag { font-size: 1.25rem; border-color: var(--line); }
.swagger-ui .opblock { border-radius: 8px; box-shadow: none; overflow: hidden; }
.swagger-ui .opblock .opblock-summary-method {
  color: var(--on-method);
  border-radius: 6px;
  text-shadow: none;
}
.swagger-ui .opblock-get .opblock-summary-method { background: var(--get); }
.swagger-ui .opblock-post .opblock-summary-method { background: var(--post); }
.swagger-ui .opblock-put .opblock-summary-method { background: var(--put); }
.swagger-ui .opblock-patch .opblock-summary-method { background: var(--patch); }
.swagger-ui .opblock-delete .opblock-summary-method { background: var(--delete); }
.swagger-ui .opblock-deprecated .opblock-summary-method { background: var(--muted); }
.dark-mode .swagger-ui .opblock-put .opblock-section-header { background: #3d2c1d; }
.swagger-ui .opblock-summary-control:focus-visible { outline: 2px solid var(--link); outline-offset: -2px; }

.swagger-ui .btn.execute {
  background: var(--get);
  border-color: var(--get);
  color: var(--on-method);
}
.swagger-ui .btn.cancel { border-color: var(--delete); color: var(--delete); }
.swagger-ui .btn.authorize { border-color: var(--post); color: var(--post); }
.swagger-ui .btn.authorize svg { fill: var(--post); }
.swagger-ui :is(.parameter__in, .parameter__deprecated, .parameter__extension) { color: var(--muted); }
.swagger-ui .parameter__name.required :is(span, &::after) { color: var(--delete); }
.swagger-ui .parameters-col_name { min-width: 7.5rem; padding-right: 0.5rem; }
.swagger-ui [data-param-name] textarea { min-height: 8rem; }
.swagger-ui .header-col { color: inherit; }
.swagger-ui .response-control-media-type__accept-message { color: var(--post); }
.swagger-ui .response-control-media-type--accept-controller select { border-color: var(--post); }
.swagger-ui :is(.download-contents, .copy-to-clipboard) { background: #4f5b66; color: #fff; }
/* The highlighter sets the colours of code in attributes */
.swagger-ui .microlight span[style*="rgb(211, 99, 99)"] { color: #ff9a92 !important; }

.swagger-ui :is(.json-schema-2020-12-expand-deep-button, .json-schema-2020-12__attribute--muted) {
  color: var(--muted);
}
.swagger-ui .json-schema-2020-12__constraint { background: #5b3fb0; color: #fff; }
.swagger-ui .json-schema-2020-12__constraint--string { background: #7a5600; }

@media (prefers-reduced-motion: reduce) {
  .swagger-ui * { animation: none !important; transition: none !important; }
}

@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 12px; }
  .swagger-ui .opblock .opblock-summary-path { max-width: none; }
  .swagger-ui .opblock .opblock-summary-control { flex-wrap: wrap; row-gap: 4px; }
  .swagger-ui .opblock .opblock-summary-description { flex-basis: 100%; padding: 0; text-align: left; }
  .swagger-ui .filter .operation-filter-input { box-sizing: border-box; width: 100%; }
  .swagger-ui .opblock-body table :is(td, th) { padding-left: 0; }
  .swagger-ui .opblock-body :is(input, select, textarea) { max-width: 100%; min-width: 0; }
}
`;
