import mongoose from "mongoose";

const { ValidatorError } = mongoose.Error;

/** What a validator is told of a value, and what its message is made of. */
export type RuleProperties = Readonly<Record<string, unknown>>;

/**
 * Says that a value breaks a rule, as Mongoose does. Clients write values: what looks like a placeholder in one is none,
 * and an object with a key `toString`, which Mongoose cannot put into a message, is no failure of the application.
 */
export class RuleError extends ValidatorError {
  constructor(properties: RuleProperties, doc?: object) {
    const { message } = properties;
    const toMessage = typeof message === "function"
      ? () => message(properties, doc)
      : () => messageOf(properties);
    super({ ...properties, message: toMessage } as never);
  }
}

function messageOf(properties: RuleProperties): string {
  const { message, reason } = properties;
  // What a validator throws is its message, not a template of one.
  if (reason instanceof Error && reason.message === message) return reason.message;
  const template = String(message || mongoose.Error.messages.general.default);
  const values = Object.entries(properties).filter(([name]) => name !== "message");
  const texts = new Map(values.map(([name, value]) => [`{${name.toUpperCase()}}`, value]));
  return template.replace(
    /\{[^{}]+\}/g,
    (place) => texts.has(place) ? textOf(texts.get(place)) : place,
  );
}

function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
