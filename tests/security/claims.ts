/** The name of a test, and its file in `tests/`. */
export type Proof = readonly [test: string, file: string];

/** The lines below a heading of `docs/trust.md`, each with the tests that show it. */
export type Claims = Readonly<Record<string, readonly Proof[]>>;

/** What an application must do. */
export const DUTIES: Claims = {
  "sets `strict: true`, and authenticates in the `guard`": [
    ["strict guards name every operation that nobody guards, at once", "security/strict_test.ts"],
    ["examples/movies asks for the key on every write, and nowhere else", "docs/examples_test.ts"],
  ],
  "limits requests by address, user, key and tenant, in the `guard` and in a store that all processes share":
    [
      ["docs/production.md limits requests in two processes", "docs/rate_limit_test.ts"],
    ],
  "limits new values by a `scope`: the filter of a hook only selects the entity": [
    ["q and filter select, and do not bind what is written", "scope/scope_test.ts"],
  ],
  "gives a property a scope only to replace the scopes of the part's class": [
    [
      "a scope of the property's own takes the place of those of the class",
      "parts/parts_class_scope_test.ts",
    ],
  ],
  "marks secrets `hidden`, and copies none to another name": [
    [
      "a copy of the entity itself shows what it declares, and what the hook puts beside it",
      "security/secret_copies_test.ts",
    ],
  ],
  "gives a class that `exists` references name a scope, or accepts that clients find out identifiers":
    [
      [
        "the scope of the main @rest of the class binds, and the answer is that of no entity",
        "references/exists_scope_test.ts",
      ],
    ],
  "declares `apart: true` on a property whose own routes hide something": [
    ["a start says where a parent would show what routes keep", "rights/roles_apart_test.ts"],
  ],
  "marks by `main: true` which of several `@rest` binds references": [
    ["a start asks which of several @rest binds references", "q/declared_filters_test.ts"],
  ],
  "names declared fields in scopes and filters: another name answers 500": [
    [
      "a scope or a hook that names something else is a 500 that tells the application",
      "q/declared_filters_test.ts",
    ],
  ],
  "sends entities in its own JSON only if every reader may see all of them": [
    [
      "JSON that the application makes of a document shows what nobody is kept from",
      "rights/roles_fields_test.ts",
    ],
  ],
  "accepts that a 409 tells that a `unique` value is taken": [
    [
      "a duplicate key answers 409 with all fields of the index and no value",
      "http/errors_test.ts",
    ],
  ],
  "grants few scopes to API keys, by `keys({ scopes })`, and returns no `owner` who has left": [
    ["POST /keys refuses what it cannot keep", "keys/keys_test.ts"],
    ["the keys of an owner who has left end", "keys/keys_test.ts"],
  ],
  "adds the scope to its own queries, by `Framework.queryFor()`": [
    ["queryFor() joins q with the scope of the main @rest of a class", "hooks/query_for_test.ts"],
  ],
  "limits the size of bodies, by `express.json({ limit })`, and of lists, by a `page`": [
    ["errors() answers malformed JSON and a body over the limit", "http/initialize_test.ts"],
    [
      "examples/movies gives pages of movies in any declared order, and their total",
      "docs/examples_test.ts",
    ],
  ],
};

/** What a client can never do. */
export const IMPOSSIBLE: Claims = {
  "reaches an operation that `methods` does not list, by a header or a parameter": [
    [
      "initialize() mounts each operation at its method and path, and nothing else",
      "http/initialize_test.ts",
    ],
    ["no header of the client changes the operation", "security/security_requests_test.ts"],
  ],
  "passes a guard or a `preFetch` hook that returns anything but `true`, or causes a database call before it, except the look-up of a well-formed API key":
    [
      [
        "only a well-formed key is looked up, by one indexed read before the hooks",
        "keys/keys_test.ts",
      ],
      [
        "the guard runs once, before all hooks, parameters and bodies",
        "security/guard_test.ts",
      ],
      ["preFetch fails closed when it gives anything but true", "hooks/hooks_order_test.ts"],
      [
        "preFetch keeps the request from getConnection, scope and database when it refuses",
        "hooks/hooks_order_test.ts",
      ],
    ],
  "passes your middleware by another spelling of its path": [
    [
      "routes tell upper from lower case where the application does, so that guards hold",
      "http/routing_settings_test.ts",
    ],
  ],
  "reads, changes or creates an entity outside the `scope`, by `q` or by two requests at once": [
    ["scope binds all six operations", "scope/scope_test.ts"],
    ["scope and q both bind when they have a key in common", "scope/scope_test.ts"],
    [
      "scope keeps out what would be created or updated to be outside of it",
      "scope/scope_writes_test.ts",
    ],
    ["scope keeps two concurrent updates from leaving it one by one", "scope/scope_writes_test.ts"],
  ],
  "gains from a broken scope: the answer is 500": [
    ["scope answers 500 and touches nothing when it is no filter", "scope/scope_broken_test.ts"],
  ],
  "reaches a part through another parent, or below a parent that it may not see": [
    [
      "the hooks of the parent's one() guard every operation on its parts",
      "parts/parts_guard_test.ts",
    ],
    [
      "CVE-2026-25574: nothing is reached through a parent that it does not belong to",
      "security/weaknesses_writes_test.ts",
    ],
  ],
  "follows a reference to an entity that it may not see, or learns of it by a filter": [
    [
      "CVE-2026-27886: a populated reference shows neither what is outside a scope nor a hidden field",
      "security/weaknesses_test.ts",
    ],
    [
      "nothing tells a reader what the authors hold that he does not see",
      "judges/referred_filters_test.ts",
    ],
  ],
  "learns anything about an entity that it may no longer see, even with an `ETag`": [
    [
      "GHSA-97pr-9hgg-3p8r: who may see an entity no more is told nothing of it, with its tag either",
      "security/weaknesses_newer_test.ts",
    ],
  ],
  "learns by a `PUT` that its key is taken outside the scope": [
    [
      "what is outside of the scope, or is not selected, is a 404: no answer tells that it is there",
      "features/replace/replace_scope_test.ts",
    ],
  ],
  "gets by an `Idempotency-Key` what another caller has created, or what it may no longer see": [
    ["a key tells nothing to another tenant", "features/idempotency/keys_readers_test.ts"],
    ["a replay of what has left the scope is a 404", "features/idempotency/keys_readers_test.ts"],
  ],
  "sees in a live list, or through an assistant, what its own requests may not": [
    [
      "a stream never shows what a scope keeps from its reader",
      "features/live/live_rights_test.ts",
    ],
    ["a list tells each reader what his own request tells", "mcp/mcp_test.ts"],
  ],
  "uses an API key beyond its scopes, its owner's rights or its tenant, by a batch, `QUERY`, a live list or an assistant":
    [
      ["a key is shown once, and does what its scopes say", "keys/keys_test.ts"],
      [
        "a key is judged alike in a batch, by QUERY, by an assistant and in a live list",
        "keys/keys_requests_test.ts",
      ],
      ["a key lists tickets as its owner, and closes none", "docs/helpdesk_example_test.ts"],
    ],
  "learns whether a key existed, by the answer to a wrong one": [
    ["all keys that are not valid get the same 401, before the guard", "keys/keys_test.ts"],
  ],
  "sees a key again after it was made": [
    ["a key is shown once, and does what its scopes say", "keys/keys_test.ts"],
    [
      "hooks, logs, errors, traces and the history never contain a key",
      "keys/keys_requests_test.ts",
    ],
  ],
  "manages keys with a key": [
    ["keys cannot manage keys, and users see only their own", "keys/keys_test.ts"],
  ],
  "sees a `hidden` value in an answer, an error or a table": [
    [
      "hidden fields are in no answer of any operation, virtuals and aliases included",
      "security/security_test.ts",
    ],
    ["hidden fields are in no message when a body is not valid", "security/security_test.ts"],
    [
      "the columns of a table are what its reader may see, whatever is stored",
      "features/formats/formats_test.ts",
    ],
  ],
  "learns a `hidden` value by filtering, sorting, selecting or searching, or by a rule that it breaks":
    [
      [
        "CVE-2023-22894, CVE-2026-31872: no filter reads a hidden field, nor what is in one",
        "security/weaknesses_test.ts",
      ],
      [
        "CVE-2026-31872: no list is sorted, selected or searched by a hidden field",
        "security/weaknesses_test.ts",
      ],
      [
        "a hidden value that breaks a rule is not validated for those who do not see it",
        "security/hidden_rules_test.ts",
      ],
    ],
  "learns whether a field is hidden or does not exist, by a strict body too": [
    ["hidden fields and unknown ones answer q alike", "security/security_test.ts"],
    [
      "a field that a function hides is refused as an unknown key, byte for byte",
      "bodies/strict_bodies_test.ts",
    ],
  ],
  "sees, sets or learns in these ways a field that a function keeps from it, or a part below it": [
    ["a function hides a field from some, in answers", "rights/roles_fields_test.ts"],
    ["a function hides a field from some, in q", "rights/roles_fields_test.ts"],
    [
      "a function hides a field from some, in sort, select and search",
      "rights/roles_fields_test.ts",
    ],
    [
      "a function hides a field from some, in what a reference names",
      "rights/roles_fields_test.ts",
    ],
    ["whom a function keeps from a field cannot set it", "rights/roles_fields_test.ts"],
    ["what is below a hidden property is not there", "rights/roles_fields_test.ts"],
  ],
  "gets or changes a property that is `apart` through its parent": [
    ["what is apart is shown by its own routes alone", "rights/roles_apart_test.ts"],
    ["what is apart is changed by its own routes alone", "rights/roles_apart_test.ts"],
  ],
  "sets `_id`, `__v`, timestamps, `readonly` or undeclared fields, or clears a field that it may not set":
    [
      [
        "create() and update() take no field from a body that a body may not set",
        "security/security_requests_test.ts",
      ],
      [
        "CVE-2026-34574: null clears nothing that a body may not set",
        "security/weaknesses_writes_test.ts",
      ],
    ],
  "names in `q` what `filter` does not list": [
    ["q names what its operation lists", "q/declared_filters_test.ts"],
  ],
  "runs code in the database, or a regular expression in your process": [
    [
      "GHSA-5r4m-2pw8-7gvw: no operator runs code, however deep it stands",
      "security/weaknesses_test.ts",
    ],
    [
      "CVE-2026-30925: no expression of a client runs in this process",
      "security/weaknesses_test.ts",
    ],
  ],
  "sends a filter, or a body once it is parsed, of any depth or size": [
    [
      "CVE-2026-30946, CVE-2026-33498: a filter is limited in depth and size, whatever nests it",
      "security/weaknesses_test.ts",
    ],
    [
      "create() and update() refuse a body with too much in it with a 400 that names field and limit",
      "bodies/body_limits_test.ts",
    ],
  ],
  "keeps the database busy for longer than `limits.timeMS`": [
    [
      "all() stops an expression that takes the database too long, and answers others meanwhile",
      "q/q_refused_test.ts",
    ],
  ],
  "removes or changes everything because a filter is wrong or has another name, or changes everything without one":
    [
      [
        "removeAll() refuses with 400 a q that is there but bad, and removes nothing",
        "features/bulk/remove_all_test.ts",
      ],
      [
        "removeAll() that needs q removes nothing without it",
        "features/bulk/remove_all_limits_test.ts",
      ],
    ],
  "changes or removes more at once than `max` allows": [
    [
      "updateAll() changes nothing where more than max are selected",
      "features/bulk/update_all_limits_test.ts",
    ],
  ],
  "changes a prototype, or sends an operator in place of an identifier": [
    [
      "CVE-2022-2564, CVE-2023-3696, CVE-2026-73562: no body changes a prototype",
      "security/weaknesses_writes_test.ts",
    ],
    ["CVE-2026-29793: no identifier is an operator", "security/weaknesses_writes_test.ts"],
  ],
  "stores a value that makes a later read fail": [
    ["no body makes a list fail that holds it", "security/security_requests_test.ts"],
  ],
  "sees the cause of a 500": [
    ["no detail of an error leaves the process, whichever hook fails", "security/security_test.ts"],
  ],
  "takes a list that was cut for a complete one": [
    ["all() resets the connection of a list that fails over TLS", "lists/cut_lists_test.ts"],
  ],
  "chooses the host of a `Location` header": [
    [
      "Location comes from the mount and the route, whatever the request says",
      "security/security_requests_test.ts",
    ],
  ],
  "gets more by any mixture of these": [
    [
      "whatever a client sends, answers show and writes change what an independent judge allows",
      "judges/judge_test.ts",
    ],
  ],
};

/** The published weaknesses of similar software, each of which has a test with its name, by the software. */
export const PUBLISHED: Readonly<Record<string, readonly string[]>> = {
  "Mongoose": [
    "CVE-2024-53900",
    "CVE-2025-23061",
    "CVE-2026-42334",
    "CVE-2019-17426",
    "CVE-2022-2564",
    "CVE-2023-3696",
    "CVE-2026-73562",
    "CVE-2026-85625",
  ],
  "express-restify-mongoose": ["GHSA-5r4m-2pw8-7gvw", "GHSA-cgjx-mwpx-47jv"],
  "Parse Server": [
    "CVE-2026-30925",
    "CVE-2026-30938",
    "CVE-2026-30946",
    "CVE-2026-30962",
    "CVE-2026-31872",
    "CVE-2026-33498",
    "CVE-2026-34574",
    "CVE-2026-39381",
    "CVE-2026-47138",
    "CVE-2026-47248",
    "GHSA-5j86-7r7m-p8h6",
    "GHSA-9cp7-3q5w-j92g",
    "GHSA-97pr-9hgg-3p8r",
    "GHSA-cgxm-vr2f-6fj8",
    "GHSA-jc39-686j-wp6q",
    "GHSA-mmg8-87c5-jrc2",
    "GHSA-vgjh-hmwf-c588",
  ],
  "Strapi": ["CVE-2023-22894", "CVE-2023-34235", "CVE-2026-27886"],
  "Directus": ["CVE-2025-30352", "CVE-2026-35441"],
  "Keystone": ["CVE-2025-46720", "CVE-2026-33326"],
  "Feathers": ["CVE-2026-29793"],
  "MikroORM": ["CVE-2026-34220"],
  "remult": ["CVE-2023-35167"],
  "Payload": ["CVE-2026-25574"],
  "qs": ["CVE-2025-15284", "CVE-2026-2391"],
  "MongoDB": ["CVE-2026-1849", "CVE-2026-1850", "CVE-2026-4148", "CVE-2026-8202"],
  "MongoDB's driver": ["CVE-2026-119179"],
  "LoopBack": ["LoopBack's advisory of 06-04-2015"],
};
