/**
 * The content security policy forbids inline scripts.
 *
 * The script loads the document with `q=content`: for a string with `contentMediaType`, Swagger UI would show a file
 * input.
 */
export const SCRIPT = `// Swagger UI has colours for dark pages, and a class turns them on
const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", paint);
paint();

// The names of helper schemas, which describe only a condition of a filter or a value of a body.
// The list of schemas in the page leaves them out, but keeps a class whose name ends like one
const PARTS = /(Condition|Operators|Operand|Input|StoredType|AnyValue)\\d*$/;

const includes = (text, phrase) => String(text ?? "").toLowerCase().includes(phrase);

// The search text for which the page has opened the groups of operations. Each text opens them
// once, so that a group that the user closes stays closed until the text changes
let opened = "";
function openGroups() {
  const groups = document.querySelectorAll(".opblock-tag-section:not(.is-open) .opblock-tag");
  for (const group of groups) group.click();
}

const plugin = () => ({
  fn: {
    // The search of Swagger UI finds only tags and paths. This search also finds summaries and
    // operation IDs
    opsFilter(tags, phrase) {
      const sought = phrase.toLowerCase();
      if (sought !== opened) setTimeout(openGroups);
      opened = sought;
      const isSought = (operation) =>
        includes(operation.get("path"), sought) ||
        includes(operation.getIn(["operation", "summary"]), sought) ||
        includes(operation.getIn(["operation", "operationId"]), sought);
      return tags
        .map((tag, name) =>
          includes(name, sought) ? tag : tag.update("operations", (all) => all.filter(isSought))
        )
        .filter((tag) => tag.get("operations").size > 0);
    },
  },
  statePlugins: {
    spec: {
      wrapSelectors: {
        // React draws the list of schemas again for each new object, so the same object is
        // returned as long as the schemas are the same
        selectSchemas: (original) => {
          let all, shown;
          return (...args) => {
            const current = original(...args);
            const isShown = ([name]) =>
              !PARTS.test(name) || name + "New" in current || name + "Filter" in current;
            if (current !== all) {
              shown = Object.fromEntries(Object.entries(current).filter(isShown));
            }
            all = current;
            return shown;
          };
        },
      },
    },
  },
  wrapComponents: {
    // A screen reader cannot reach a link inside of a button. The button sets the hash of the URL
    // itself, so the link is left out
    DeepLink: (Original, { React }) => (props) =>
      React.createElement(Original, { ...props, enabled: false }),
  },
});

// Swagger UI gives these elements no name for screen readers
const NAMES = [
  [".operation-filter-input", () => "Filter operations by path, name or group"],
  ["#servers", () => "Server"],
  [".examples-select-element", () => "Example"],
  [".body-param__text", () => "Body of the request"],
  ["input[type=file]", () => "File of the request"],
  ["tr[data-param-name] :is(textarea, select, input)", (element) =>
    element.closest("tr").dataset.paramName],
];

function complete() {
  for (const [selector, nameOf] of NAMES) {
    for (const element of document.querySelectorAll(selector + ":not([aria-label])")) {
      element.setAttribute("aria-label", nameOf(element));
    }
  }
  // Only an element that can have the focus can be scrolled by the keyboard
  for (const element of document.querySelectorAll("pre:not([tabindex])")) element.tabIndex = 0;
}

new MutationObserver(complete).observe(document.body, { childList: true, subtree: true });

const url = new URL("openapi.json?q=content", document.baseURI).href;

// A server is named by its address, and not by a path relative to the document
function nameServers(response) {
  if (response.url !== url || !response.ok) return response;
  const loaded = JSON.parse(response.text);
  for (const server of loaded.servers) {
    if (!server.url.includes("{")) server.url = new URL(server.url, url).href.replace(/\\/$/, "");
  }
  response.text = JSON.stringify(loaded);
  return response;
}

SwaggerUIBundle({
  url,
  responseInterceptor: nameServers,
  dom_id: "#page",
  deepLinking: true,
  validatorUrl: null,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  plugins: [plugin],
});
`;
