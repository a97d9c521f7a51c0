import type { SchemaType } from "mongoose";
import type { Actor } from "../../declare/hooks/framework_request.ts";
import { isPromise, runHook } from "../../declare/hooks/run_hook.ts";
import { describeModel } from "../../declare/model/describe_model.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { Plugin, PluginOperation, PluginWrite } from "../../declare/plugins/plugin.ts";
import { logError } from "../../errors/log.ts";
import { isGroup } from "../../errors/option_kinds.ts";
import { buildSchema, embeddedClasses } from "../../schema/build_schema.ts";
import { memoize } from "../../schema/memoize.ts";
import {
  castForWrite,
  constraintAgainst,
  isAlwaysRequired,
} from "../../schema/mongoose/schemas/field_rules.ts";
import type { StampedClass } from "../../sources/additions.ts";
import type { Stamps } from "../../store/values.ts";
import type { ParameterFacts } from "../description.ts";
import type { Route } from "../request/route.ts";
import { checkPlugins } from "./check_plugins.ts";
import { namesOf, operationOfEndpoint, operationOfRoute, readersOf } from "./operation_names.ts";

interface ValuesRequest {
  readonly isNew: boolean;
  readonly actor: Actor | undefined;
  readonly via: string | undefined;
}

export class PluginSet {
  readonly all: readonly Plugin[];
  /** The name of the route of `one()`. */
  readerOf: (target: ModelClass) => string = ({ name }) => name;
  readonly admitting: readonly Plugin[];
  readonly surrounding: readonly Plugin[];
  readonly parameters: Readonly<Record<string, ParameterFacts>>;

  constructor(all: readonly Plugin[], taken: ReadonlySet<string>) {
    checkPlugins(all, taken);
    this.all = all;
    this.admitting = all.filter(({ admit }) => admit !== undefined);
    this.surrounding = all.filter(({ around }) => around !== undefined);
    const parameters = all.flatMap((each) => Object.entries(each.parameters ?? {}));
    this.parameters = Object.fromEntries(
      parameters.map(([name, { description, schema }]): [string, ParameterFacts] => {
        return [name, { text: description, schema: { type: "string", ...schema } }];
      }),
    );
  }

  start(routes: readonly Route[]): void {
    this.readerOf = readersOf(routes);
    const operations = routes.map(operationOfRoute);
    const own = [...new Set(routes.flatMap(namesOf))];
    this.#checkFields(routes);
    for (const plugin of this.all) {
      const others = this.all.filter((each) => each !== plugin)
        .flatMap(({ name, routes = [] }) => routes.map((each) => operationOfEndpoint(each, name)));
      const names = [...own, ...others.map(({ name }) => name)];
      const log = (error: unknown) => logError(error, { plugin: plugin.name });
      plugin.start?.({ operations, names, log });
    }
  }

  #checkFields(routes: readonly Route[]): void {
    const targets = new Set(routes.flatMap(({ levels }) => levels.map(({ target }) => target)));
    const all = [...targets].flatMap((target) => [target, ...embeddedClasses(target)]);
    const schemas = all.map((target) => buildSchema(target).schema);
    for (const { name: plugin, values } of this.all) {
      const other = values?.fields.find((name) =>
        schemas.every((schema) => schema.path(name) === undefined)
      );
      if (other === undefined) continue;
      throw new TypeError(
        `Cannot initialize: the plugin "${plugin}" sets "${other}", which no class declares`,
      );
    }
  }

  deprecates(operation: PluginOperation): boolean {
    return this.all.some((each) => each.deprecated?.(operation));
  }

  readonly fieldsOf = memoize((target: ModelClass): readonly string[] => {
    const { fields } = describeModel(target);
    return this.all.flatMap(({ values }) => values?.fields ?? [])
      .filter((name) => fields.has(name));
  });

  readonly setsFieldsIn = memoize((target: ModelClass): boolean =>
    [target, ...embeddedClasses(target)].some((each) => this.fieldsOf(each).length > 0)
  );

  stamps({ target, schema }: StampedClass, { isNew, actor, via }: ValuesRequest): Stamps {
    const own = this.fieldsOf(target);
    if (own.length === 0) return {};
    const write: PluginWrite = {
      model: target.name,
      isNew,
      ...actor !== undefined && { actor },
      ...via !== undefined && { via },
    };
    const stamps: Record<string, unknown> = {};
    for (const { name: plugin, values } of this.all) {
      if (values === undefined || !values.fields.some((name) => own.includes(name))) continue;
      const given: unknown = runHook("plugin", () => values.of(write));
      if (!isGroup(given)) {
        if (isPromise(given)) Promise.resolve(given).catch(() => {});
        const what = isPromise(given) ? "a promise" : "no object";
        throw new TypeError(`Cannot store the values of the plugin "${plugin}": they are ${what}`);
      }
      for (const [name, value] of Object.entries(given)) {
        if (!values.fields.includes(name)) {
          throw new TypeError(`Cannot store "${name}": it is none of the "fields" of "${plugin}"`);
        }
        if (own.includes(name)) {
          stamps[name] = valueFor(name, { plugin, type: schema.path(name), value });
        }
      }
    }
    return stamps;
  }
}

/** Only documents run validators, and the client cannot correct the value. */
function valueFor(
  name: string,
  { plugin, type, value }: {
    readonly plugin: string;
    readonly type: SchemaType;
    readonly value: unknown;
  },
): unknown {
  const isEmpty = value === undefined || value === null;
  const rule = isEmpty ? isAlwaysRequired(type) && "required" : constraintAgainst(type, value);
  if (rule) {
    throw new TypeError(`Cannot store "${name}": the value of "${plugin}" breaks its "${rule}"`);
  }
  return value === undefined ? undefined : castForWrite(type, value);
}
