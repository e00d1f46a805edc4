/** The ids of what one principal has, by which it can be asked for. */
export type Ids = {
  readonly task: string;
  readonly contextId: string;
  /** The message that started the task. */
  readonly messageId: string;
  /** A receiver of the task's notifications. */
  readonly receiver: string;
  readonly sha256: string;
  /** A session at the MCP server. */
  readonly session: string;
  /** The words of a chat, by which the run that answered it is found. */
  readonly chat: string;
  /** An entry of the memory. */
  readonly memory: string;
};

/** Ids of the same form that never existed. */
export function unusedIds(): Ids {
  const id = () => crypto.randomUUID();
  const sha256 = new Bun.CryptoHasher("sha256").update(id()).digest("hex");
  return {
    task: id(),
    contextId: id(),
    messageId: id(),
    receiver: id(),
    sha256,
    session: id(),
    chat: `answer ${id()}`,
    memory: sha256.slice(0, 8),
  };
}

/** A request with ids in it, as one who does not have what they name sends it. */
export type Call = {
  /** Which of the requests of a route it is; empty if there is one. */
  readonly name?: string;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

/** The requests by which a route or a method can be asked for what ids name. */
export type Calls = (ids: Ids) => readonly Call[];
