import type { EventStore } from "@modelcontextprotocol/server";

type Kept = {
  readonly session: symbol;
  readonly stream: string;
  readonly message: Parameters<EventStore["storeEvent"]>[1];
  readonly size: number;
};

/**
 * The events last sent in sessions, for clients that lost their connection and ask for what they
 * missed.
 */
export interface EventMemory {
  /** The memory of one session, invisible to all others. */
  open(): EventStore & Disposable;
}

/**
 * Creates a memory of at most this many bytes in total. The oldest events are dropped first; the
 * newest is always kept.
 */
export function createEventMemory(mostBytes = 64 * 1024 * 1024): EventMemory {
  const kept = new Map<string, Kept>();
  let bytes = 0;
  let last = 0;
  const drop = (id: string, { size }: Kept) => {
    kept.delete(id);
    bytes -= size;
  };
  return {
    open() {
      const session = Symbol();
      const own = (id: string) => {
        const event = kept.get(id);
        return event?.session === session ? event : undefined;
      };
      return {
        async storeEvent(stream, message) {
          last++;
          const id = String(last);
          const event = { session, stream, message, size: JSON.stringify(message).length };
          kept.set(id, event);
          bytes += event.size;
          for (const [oldest, one] of kept) {
            if (bytes <= mostBytes || oldest === id) break;
            drop(oldest, one);
          }
          return id;
        },
        getStreamIdForEventId: async (id) => own(id)?.stream,
        async replayEventsAfter(lastId, { send }) {
          const stream = own(lastId)?.stream ?? "";
          for (const [id, one] of [...kept])
            if (one.session === session && one.stream === stream && Number(id) > Number(lastId) && saysSomething(one))
              await send(id, one.message);
          return stream;
        },
        [Symbol.dispose]() {
          for (const [id, one] of kept) if (one.session === session) drop(id, one);
        },
      };
    },
  };
}

/** A stream starts with an empty event, which is not replayed. */
function saysSomething({ message }: Kept): boolean {
  return "jsonrpc" in message;
}
