import type { EventStore } from "@modelcontextprotocol/server";

type Kept = {
  readonly stream: string;
  readonly message: Parameters<EventStore["storeEvent"]>[1];
  readonly size: number;
};

const mostBytes = 16 * 1024 * 1024;

/** What was lately sent in a session, for a client that lost its connection and asks for what it missed; the oldest goes first. */
export function createEventMemory(): EventStore {
  const kept = new Map<string, Kept>();
  let bytes = 0;
  let last = 0;
  const drop = (id: string, { size }: Kept) => {
    kept.delete(id);
    bytes -= size;
  };
  return {
    async storeEvent(stream, message) {
      last++;
      const id = String(last);
      const event = { stream, message, size: JSON.stringify(message).length };
      kept.set(id, event);
      bytes += event.size;
      for (const [oldest, one] of kept) {
        if (bytes <= mostBytes || oldest === id) break;
        drop(oldest, one);
      }
      return id;
    },
    getStreamIdForEventId: async (id) => kept.get(id)?.stream,
    async replayEventsAfter(lastId, { send }) {
      const stream = kept.get(lastId)?.stream ?? "";
      for (const [id, one] of [...kept])
        if (one.stream === stream && Number(id) > Number(lastId) && isSent(one)) await send(id, one.message);
      return stream;
    },
  };
}

/** A stream begins with an event that says nothing. */
function isSent({ message }: Kept): boolean {
  return "jsonrpc" in message;
}
