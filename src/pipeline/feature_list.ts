import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { STANDALONE } from "../store/in_transaction.ts";
import type { TimeBudget } from "../store/time_budget.ts";
import type { Actor, FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { describeModel } from "../declare/model/describe_model.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";
import type { RestRecord } from "../declare/model/records.ts";
import type { PartDescription } from "../schema/describe_parts.ts";
import type { Method } from "../declare/operations/methods.ts";
import { addToSchemas, embeddedClasses } from "../schema/build_schema.ts";
import { untypedModel } from "../schema/get_model.ts";
import { memoize } from "../schema/memoize.ts";
import type { AddedStatements } from "../store/writes/transact.ts";
import type { Additions } from "../sources/additions.ts";
import {
  addToSchema,
  buildAddedStatements,
  changeIndexesOf,
  type ClassFeature,
  configureFeatures,
  featureFields,
  featureScopes,
  featureStamps,
  featuresWithStatements,
  type Reach,
  type RemovalFields,
  removalFieldsOf,
  removalOf,
  runAfter,
  startFeatures,
  tidiesOf,
  type Tidy,
  type TransactionRequest,
  type TransactionWrite,
  type WriterWithoutRequest,
} from "./class_feature.ts";
import { methodsOf, partMethodsOf, performOf } from "./class_methods.ts";
import type { AnyFeature, GivenSettings } from "./feature.ts";
import type { ParameterFacts, Withheld } from "./description.ts";
import { refuseStandalone } from "./check_transactions.ts";
import { makeClassWriter, makeWriterWithoutRequest } from "./class_writer.ts";
import type { ParameterForms } from "./given_request.ts";
import { viaOf } from "./plugins/admit_client.ts";
import type { Call } from "./request/request_context.ts";
import { actingLevel, type Level, operationAt, type Route } from "./request/route.ts";
import { type Endpoint, endpointsFor, type RouterFeature } from "./router_feature.ts";

export type TenantRequest = Pick<Call, "req" | "origin" | "route">;

export interface AdditionsRequest {
  readonly req: FrameworkRequest;
  /** This is not `req.framework.actor`, because a hook may have replaced `req.framework`. */
  readonly actor: Actor | undefined;
  readonly client: object;
  readonly operation: string;
  readonly route: Route;
  readonly timeBudget: TimeBudget;
  readonly origin?: TransactionWrite | undefined;
}

export class FeatureList {
  readonly all: readonly AnyFeature[];
  readonly parameters: ParameterForms;
  readonly #options: ReadonlySet<string>;
  readonly #ofClasses: readonly ClassFeature[];
  readonly #ofRouters: readonly RouterFeature[];

  constructor(
    all: readonly AnyFeature[],
    ofClasses: readonly ClassFeature[] = [],
    ofRouters: readonly RouterFeature[] = [],
  ) {
    this.all = all;
    this.#ofClasses = ofClasses;
    this.#ofRouters = ofRouters;
    // Class options change schemas in this constructor, because an application may build its models before it mounts a
    // router.
    if (ofClasses.length > 0) {
      addToSchemas({
        add: (target, schema) => addToSchema(this.#featuresOf(target), schema),
        finish: (target, schema) => changeIndexesOf(this.#featuresOf(target), schema),
      });
    }
    this.parameters = new Map(all.flatMap(({ parameters }) => Object.entries(parameters ?? {})));
    this.#options = new Set(all.flatMap(optionsOf));
  }

  hasOption(name: string): boolean {
    return this.#options.has(name);
  }

  get classOptions(): Readonly<Record<string, true>> {
    const inRest = this.#ofClasses.filter(({ declared }) => declared === undefined);
    return Object.fromEntries(inRest.map(({ name }) => [name, true]));
  }

  readonly #featuresOf = memoize((target: ModelClass) =>
    configureFeatures(this.#ofClasses, target)
  );

  readonly #without = memoize((target: ModelClass) => {
    const features = this.#featuresOf(target);
    return this.#ofClasses.filter((each) => !features.some(({ feature }) => feature === each))
      .flatMap(({ without }) => without ?? []);
  });

  conditionsOf(target: ModelClass, reach: Reach): NonNullable<RestRecord["scope"]>[] {
    return featureScopes(this.#featuresOf(target), reach);
  }

  parametersOf(
    { target, link }: Pick<Level, "target" | "link">,
    method: Method,
  ): Readonly<Record<string, ParameterFacts>> {
    if (link !== undefined) return {};
    const added = this.#featuresOf(target).flatMap(({ feature: { parameter }, config }) =>
      parameter?.isOf(config, method) ? [[parameter.name, parameter.facts]] : []
    );
    return { ...performOf(method)?.parameters, ...Object.fromEntries(added) };
  }

  withheldFrom({ req, route }: Call): Withheld {
    const withheld = this.#featuresOf(actingLevel(route).target)
      .filter(({ feature, config }) => feature.parameter?.isFor(config, req) === false);
    return {
      fields: featureFields(withheld).flatMap(({ removal }) =>
        removal ? [removal.time, removal.actor] : []
      ),
      parameters: withheld.flatMap(({ feature: { parameter } }) => parameter?.name ?? []),
    };
  }

  tenantOf(call: TenantRequest): Actor | undefined {
    return this.#ofClasses.map((feature) => feature.tenantOf?.(call)).find((each) =>
      each !== undefined
    );
  }

  admitClasses(call: Call): void {
    for (const { target } of call.route.levels) {
      for (const { feature, config } of this.#featuresOf(target)) feature.admit?.(config, call);
      for (const without of this.#without(target)) without.admit(call);
    }
  }

  methodsOf(target: ModelClass, rest: RestRecord): readonly Method[] {
    return methodsOf(this.#featuresOf(target), rest) as readonly object[] as readonly Method[];
  }

  guardedParametersOf(target: ModelClass, rest: RestRecord): readonly string[] {
    return this.#featuresOf(target).flatMap(({ feature: { name, parameter } }) =>
      parameter !== undefined && rest[name as keyof RestRecord] === undefined
        ? [parameter.name]
        : []
    );
  }

  partMethodsOf(part: PartDescription): readonly Method[] | undefined {
    return partMethodsOf(this.#featuresOf(part.target), part);
  }

  /** After a write of embedded entities, the options of the embedding class apply. */
  afterWrite(
    { route, levels }: Call,
    { affected }: { readonly affected?: number | undefined },
  ): Promise<void> | undefined {
    const context = levels.findLast(({ level }) => !level.link?.embedded);
    if (context === undefined) return undefined;
    const features = this.#featuresOf(context.level.target);
    const isDue = features.some(({ feature }) => feature.after !== undefined);
    return isDue ? runAfter(features, { route, context, affected }) : undefined;
  }

  readonly #addsValues = memoize((target: ModelClass) => {
    const all = [target, ...embeddedClasses(target)];
    return all.flatMap(this.#featuresOf)
      .some(({ feature: { stamps, fields } }) => stamps !== undefined || fields !== undefined);
  });

  additionsOf(target: ModelClass, write: AdditionsRequest): Additions | undefined {
    const { req, actor, client, operation, route, timeBudget, origin } = write;
    const place = { target, operation };
    const features = this.#featuresOf(target);
    const { plugins } = route;
    const addsValues = this.#addsValues(target) || plugins.setsFieldsIn(target);
    if (!addsValues && featuresWithStatements(features, place).length === 0) return undefined;
    const at = origin?.request?.at ?? new Date();
    const removalId = origin?.request?.removalId ?? new mongoose.Types.ObjectId();
    const request: TransactionRequest = {
      req,
      actor,
      client,
      route,
      at,
      removalId,
      origin,
      classWriter: (from, options) => makeClassWriter(from, { ...options, timeBudget }),
    };
    const addedStatements = buildAddedStatements(features, { ...place, request });
    const removal = removalOf(features, { req, actor, at, removalId });
    return {
      target,
      stamps: (written, isNew) => {
        const { schema } = written;
        return {
          ...featureStamps(this.#featuresOf(written.target), { req, actor, isNew, schema }),
          ...plugins.stamps(written, { isNew, actor, via: viaOf(client) }),
        };
      },
      stamped: (each) => [
        ...featureFields(this.#featuresOf(each)).flatMap(({ stamped = [] }) => stamped),
        ...plugins.fieldsOf(each),
      ],
      ...removal && { removal },
      ...addedStatements && { addedStatements },
    };
  }

  /** Compiling a model creates its collection, which must happen before a transaction begins. */
  beginBuilds({ levels, getConnection, operation }: Route, connection: Connection): void {
    const begun = new Set<ModelClass>();
    const begin = (target: ModelClass) => {
      if (begun.has(target)) return;
      begun.add(target);
      const model = untypedModel(target, connection);
      if (operation.change === undefined) return;
      for (const { feature: { statements }, config } of this.#featuresOf(target)) {
        statements?.build?.(config, model);
        const others = statements?.classes?.(config, target) ?? [];
        others.filter((each) => usesConnection(each, getConnection)).forEach(begin);
      }
    };
    for (const { target, link } of levels) if (!link?.embedded) begin(target);
  }

  tidiesOf(target: ModelClass): readonly Tidy[] {
    return tidiesOf(this.#featuresOf(target));
  }

  addedStatementsOf(target: ModelClass, operation: string): AddedStatements | undefined {
    const writerOf: WriterWithoutRequest = (from, place) =>
      makeWriterWithoutRequest(from, { ...place, features: this });
    return buildAddedStatements(this.#featuresOf(target), { target, operation, writerOf });
  }

  removalFieldsOf(target: ModelClass): RemovalFields | undefined {
    return removalFieldsOf(this.#featuresOf(target));
  }

  selectingFieldOf(target: ModelClass): string | undefined {
    return featureFields(this.#featuresOf(target)).find(({ selecting }) => selecting)?.selecting;
  }

  startClasses(route: Route): void {
    for (const [index, { target }] of route.levels.entries()) {
      for (const each of [target, ...embeddedClasses(target)]) {
        const features = this.#featuresOf(each);
        startFeatures(features, { target: each, route });
        for (const without of this.#without(each)) without.start({ target: each, route });
      }
      const operation = operationAt(route, index);
      const [adding] = featuresWithStatements(this.#featuresOf(target), { target, operation });
      if (adding === undefined || route.operation.change === undefined) continue;
      const { name } = adding.feature;
      refuseStandalone(route, `"${name}" adds statements to each write, but ${STANDALONE}`);
    }
  }

  endpoints(options: object, routes: readonly Route[]): Endpoint[] {
    return endpointsFor(this.#ofRouters, {
      options: options as Readonly<Record<string, unknown>>,
      routes,
    });
  }

  settings(given: object): ReadonlyMap<string, unknown> {
    const reading = [...this.all, ...this.#ofClasses].filter(({ settings }) => settings);
    return new Map(
      reading.map((feature) => [feature.name, feature.settings?.(given as GivenSettings)]),
    );
  }
}

function usesConnection(target: ModelClass, getConnection: Route["getConnection"]): boolean {
  return describeModel(target).rests.some((rest) => rest.getConnection === getConnection);
}

/** The first option enables the feature. Features can share it, as `lines` and `formats` do. */
export function optionsOf({ name, options = [name] }: AnyFeature): readonly [string, ...string[]] {
  return options;
}
