const TIME = { type: ["string", "null"], format: "date-time" };

const PROPERTIES = {
  id: { type: "string" },
  name: { type: "string" },
  owner: { description: "The identifier of the user who made the key" },
  tenant: { description: "The tenant in which the key was made" },
  scopes: { type: "array", items: { type: "string" } },
  prefix: { type: "string", description: "The beginning of the key, after mgv_" },
  createdAt: { type: "string", format: "date-time" },
  expiresAt: TIME,
  lastUsedAt: TIME,
  endedAt: TIME,
};

const REQUIRED = [
  ...["id", "name", "owner", "scopes", "prefix", "createdAt", "expiresAt", "lastUsedAt"],
  "endedAt",
];

const ANSWER = { type: "object", properties: PROPERTIES, required: REQUIRED } as const;

export const LIST = { type: "array", items: ANSWER } as const;

export const MADE = {
  type: "object",
  properties: { ...PROPERTIES, key: { type: "string", description: "Shown only here" } },
  required: [...REQUIRED, "key"],
} as const;

export const BODY = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 200 },
    scopes: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 100 },
    expiresAt: { ...TIME, description: "The default is in 90 days; null is for ever" },
  },
  required: ["name", "scopes"],
  additionalProperties: false,
} as const;

export const OVERLAP = {
  type: "object",
  properties: {
    overlap: { type: "string", description: "How long the old key stays valid, such as 24h" },
  },
  additionalProperties: false,
} as const;
