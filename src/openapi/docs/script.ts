/**
 * The script that starts the documentation page. The script is a separate file, because the content security policy of
 * the page forbids inline scripts.
 *
 * The script requests a document with `q` as a parameter with `content`. Swagger UI would show a text with
 * `contentMediaType` as an input for files.
 */
export const SCRIPT = `// Swagger UI has colours for dark pages, and a class turns them on
const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", paint);
paint();

// The schemas of which filters and bodies consist. The list of schemas leaves them out, but no
// class with such a name
const PARTS = /(Condition|Operators|Operand|Input|StoredType|AnyValue)\\d*$/;

const includes = (text, phrase) => String(text ?? "").toLowerCase().includes(phrase);

// The groups that a filter leaves are opened once for each filter
let opened = "";
function openGroups() {
  const groups = document.querySelectorAll(".opblock-tag-section:not(.is-open) .opblock-tag");
  for (const group of groups) group.click();
}

const plugin = () => ({
  fn: {
    // Swagger UI compares tags and paths only
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
        // An equal result must be the same object, or the page is drawn again and again
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
    // A link inside a button cannot be reached by all readers. The button sets the hash of the URL, too
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
  ["tr[data-param-name] :is(textarea, select, input)", (element) =>
    element.closest("tr").dataset.paramName],
];

function complete() {
  for (const [selector, nameOf] of NAMES) {
    for (const element of document.querySelectorAll(selector + ":not([aria-label])")) {
      element.setAttribute("aria-label", nameOf(element));
    }
  }
  // The keyboard scrolls an element that has the focus
  for (const element of document.querySelectorAll("pre:not([tabindex])")) element.tabIndex = 0;
}

new MutationObserver(complete).observe(document.body, { childList: true, subtree: true });

SwaggerUIBundle({
  url: new URL("openapi.json?q=content", document.baseURI).href,
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
