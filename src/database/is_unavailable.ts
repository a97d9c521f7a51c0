import mongoose from "mongoose";

const { Error: MongooseError, mongo } = mongoose;

/** Labels of the server or the driver for errors after which the same request may succeed. */
const LABELS = [
  "RetryableError",
  "RetryableWriteError",
  "SystemOverloadedError",
  "TransientTransactionError",
  "UnknownTransactionCommitResult",
];

const UNEXPORTED = new Set(["MongoPoolClosedError", "MongoWaitQueueTimeoutError"]);

/** The codes of such errors, which older servers, and those without sessions, do not label. */
const CODES = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  24, // LockTimeout
  43, // CursorNotFound
  46, // LockBusy
  50, // MaxTimeMSExpired
  64, // WriteConcernTimeout
  89, // NetworkTimeout
  91, // ShutdownInProgress
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  145, // PooledConnectionsDropped
  175, // QueryPlanKilled
  189, // PrimarySteppedDown
  202, // NetworkInterfaceExceededTimeLimit
  237, // CursorKilled
  239, // SnapshotTooOld
  246, // SnapshotUnavailable
  251, // NoSuchTransaction
  262, // ExceededTimeLimit
  290, // TransactionExceededLifetimeLimitSeconds
  355, // InterruptedDueToStorageChange
  365, // TemporarilyUnavailable
  384, // ConnectionError
  402, // ResourceExhausted
  407, // PooledConnectionAcquisitionExceededTimeLimit
  433, // AdmissionQueueOverflow
  449, // RateLimitExceeded
  450, // PooledConnectionAcquisitionRejected
  453, // InterruptedDueToReshardingCriticalSection
  462, // IngressRequestRateLimitExceeded
  9001, // SocketException
  10058, // LegacyNotPrimary
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11601, // Interrupted
  11602, // InterruptedDueToReplStateChange
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
  46841, // ClientMarkedKilled
  91331, // RetriableRemoteCommandFailure
]);

/** Whether the database could not be reached, did not answer in time, or asks to try again. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof MongooseError.MongooseServerSelectionError) return true;
  if (!(error instanceof mongo.MongoError)) return false;
  return LABELS.some((label) => error.hasErrorLabel(label)) || isOfClass(error) ||
    error instanceof mongo.MongoServerError && CODES.has(Number(error.code));
}

function isOfClass(error: mongoose.mongo.MongoError): boolean {
  return error instanceof mongo.MongoNetworkError ||
    error instanceof mongo.MongoServerSelectionError ||
    error instanceof mongo.MongoOperationTimeoutError ||
    error instanceof mongo.MongoWriteConcernError ||
    error instanceof mongo.MongoNotConnectedError ||
    error instanceof mongo.MongoServerClosedError ||
    error instanceof mongo.MongoTopologyClosedError ||
    error instanceof mongo.MongoClientClosedError ||
    UNEXPORTED.has(error.name);
}

/** Whether a socket broke while the driver was sending: the driver passes on what the runtime throws. */
export function isBrokenSocket(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  if (!(error instanceof Error)) return false;
  // Without a call of the system where the runtime knows by itself that the other end has gone
  const isCall = syscall === "write" || syscall === "read";
  return code === "EPIPE" && (isCall || syscall === undefined) || code === "ECONNRESET" && isCall;
}

/** Whether Mongoose has given up on a command: it has no class of its own for that. */
export function isBare(error: unknown): boolean {
  return error instanceof MongooseError && error.constructor === MongooseError;
}
