import { tracingChannel } from "node:diagnostics_channel";
import type { RequestHandler } from "express";
import mongoose from "mongoose";
import { Gauge, Histogram, register } from "prom-client";
import type { RequestTrace, StatementTrace } from "@mongrove/mongrove";

const requests = new Histogram({
  name: "http_server_request_duration_seconds",
  help: "Requests",
  labelNames: ["route", "method", "status"],
});
const open = new Gauge({
  name: "http_server_active_requests",
  help: "Requests in progress",
  labelNames: ["route"],
});
const statements = new Histogram({
  name: "db_client_operation_duration_seconds",
  help: "Statements",
  labelNames: ["collection", "operation", "error"],
});
const used = new Gauge({
  name: "db_client_connection_used",
  help: "Connections in use",
});

const request = tracingChannel("mongrove:request");
request.start.subscribe((message) => {
  const { attributes } = message as RequestTrace;
  open.inc({ route: attributes["http.route"] });
});
request.asyncEnd.subscribe((message) => {
  const { attributes, duration = 0 } = message as RequestTrace;
  const { "http.route": route, "http.request.method": method } = attributes;
  const status = attributes["http.response.status_code"] ?? "none";
  open.dec({ route });
  requests.observe({ route, status, method }, duration);
});
tracingChannel("mongrove:statement").asyncEnd.subscribe((message) => {
  const { attributes, duration = 0 } = message as StatementTrace;
  const { "db.collection.name": collection = "", "db.operation.name": operation } = attributes;
  const { "error.type": error = "" } = attributes;
  statements.observe({ collection, operation, error }, duration);
});

mongoose.connection.once("connected", () => {
  const client = mongoose.connection.getClient();
  client.on("connectionCheckedOut", () => used.inc());
  client.on("connectionCheckedIn", () => used.dec());
});

export const metrics: RequestHandler = async (_req, res) => {
  res.type(register.contentType).send(await register.metrics());
};
