import { AsyncLocalStorage } from "node:async_hooks";
import { tracingChannel } from "node:diagnostics_channel";
import type { RequestHandler } from "express";
import {
  type Attributes,
  type Context,
  context,
  type ContextManager,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

// A store that channels can set
const contexts = new AsyncLocalStorage<Context>();

const contextManager: ContextManager = {
  active: () => contexts.getStore() ?? ROOT_CONTEXT,
  with: (given, work, self, ...args) => contexts.run(given, () => work.apply(self, args)),
  bind: (given, work) =>
    typeof work === "function"
      ? ((...args: unknown[]) => contexts.run(given, () => work(...args))) as typeof work
      : work,
  enable: () => contextManager,
  disable: () => contextManager,
};

export const provider = new NodeTracerProvider({
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register({ contextManager });
const tracer = trace.getTracer("mongrove");

function traceChannel(name: string, kind: SpanKind, title: (of: Attributes) => string): void {
  const { start, asyncEnd } = tracingChannel<object, object>(name);
  const spans = new WeakMap<object, Span>();
  start.bindStore(contexts as AsyncLocalStorage<object>, (message) => {
    const { attributes } = message as { attributes: Attributes };
    const span = tracer.startSpan(title(attributes), { kind, attributes });
    spans.set(message, span);
    return trace.setSpan(context.active(), span);
  });
  asyncEnd.subscribe((message) => {
    const { attributes } = message as { attributes: Attributes };
    const span = spans.get(message as object);
    span?.setAttributes(attributes);
    if ("error.type" in attributes) span?.setStatus({ code: SpanStatusCode.ERROR });
    span?.end();
  });
}

traceChannel(
  "mongrove:request",
  SpanKind.SERVER,
  (of) => `${of["http.request.method"]} ${of["http.route"]}`,
);
traceChannel(
  "mongrove:statement",
  SpanKind.CLIENT,
  (of) => `${of["db.operation.name"]} ${of["db.collection.name"] ?? ""}`.trim(),
);

export const continueTrace: RequestHandler = (req, _res, next) =>
  contexts.run(propagation.extract(ROOT_CONTEXT, req.headers), next);
