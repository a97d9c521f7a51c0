import { openWireProxy, type WireChange, type WireMessage, type WireProxy } from "./wire_proxy.ts";

/** Makes a replica set of one member look like the router of a sharded cluster. */
export interface RouterProxy extends WireProxy {
  /** Statements of transactions, and their ends. */
  readonly transactions: TransactionCommand[];
  /** At the next commit, before it reaches the server. */
  cutNextCommit(): void;
}

export interface TransactionCommand {
  readonly name: string;
  /** The identifier of the session, and the number in the session. */
  readonly transaction: string;
  /** Only a commit or the end of a transaction has it. */
  readonly recoveryToken: unknown;
}

/** By these fields of the reply to `hello`, the driver recognises a replica set or waits for news of it. */
const OF_REPLICA_SETS = [
  ...["setName", "setVersion", "hosts", "primary", "me", "electionId", "secondary", "lastWrite"],
  ...["topologyVersion"],
];

/**
 * The replies to `hello` make the driver take its path for sharded clusters. Replies in a transaction get a recovery
 * token, which the proxy takes out of the commit, because only a router knows it.
 */
export function openRouterProxy(to: string, shard = "shard0"): RouterProxy {
  const router: Router = { shard, transactions: [], isCutting: false };
  return {
    ...openWireProxy(to, () => new RouterChange(router)),
    transactions: router.transactions,
    cutNextCommit: () => void (router.isCutting = true),
  };
}

interface Router extends Pick<RouterProxy, "transactions"> {
  readonly shard: string;
  isCutting: boolean;
}

class RouterChange implements WireChange {
  readonly #router: Router;
  /** Requests that are statements of a transaction. */
  readonly #requests = new Set<number>();

  constructor(router: Router) {
    this.#router = router;
  }

  request({ id, document }: WireMessage) {
    const { recoveryToken, ...known } = document;
    if (document.autocommit === undefined) return undefined;
    this.#requests.add(id);
    const [name = ""] = Object.keys(document);
    const transaction = JSON.stringify([document.lsid, document.txnNumber]);
    if (name === "commitTransaction" && this.#router.isCutting) {
      this.#router.isCutting = false;
      throw new Error("The connection is cut");
    }
    this.#router.transactions.push({ name, transaction, recoveryToken });
    return recoveryToken === undefined ? undefined : { document: known };
  }

  reply({ responseTo, document }: WireMessage) {
    if (this.#requests.delete(responseTo)) {
      return { document: { ...document, recoveryToken: { recoveredShard: this.#router.shard } } };
    }
    if (document.setName === undefined) return undefined;
    const known = Object.entries(document).filter(([name]) => !OF_REPLICA_SETS.includes(name));
    return { document: { ...Object.fromEntries(known), msg: "isdbgrid" } };
  }
}
