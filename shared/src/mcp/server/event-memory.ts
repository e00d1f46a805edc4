import type { EventStore } from "@modelcontextprotocol/server";

type Kept = {
  readonly stream: string;
  readonly message: Parameters<EventStore["storeEvent"]>[1];
  readonly size: number;
  /** Removes it from its session. */
  forget(): void;
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
export function createEventMemory(maxBytes = 64 * 1024 * 1024): EventMemory {
  /** Of all sessions, oldest first. */
  const kept = new Set<Kept>();
  let bytes = 0;
  return {
    open() {
      const own = new Map<string, Kept>();
      let last = 0;
      const drop = (event: Kept) => {
        bytes -= event.size;
        kept.delete(event);
        event.forget();
      };
      return {
        async storeEvent(stream, message) {
          const id = String(++last);
          const event = { stream, message, size: JSON.stringify(message).length, forget: () => void own.delete(id) };
          own.set(id, event);
          kept.add(event);
          bytes += event.size;
          for (const oldest of kept) {
            if (bytes <= maxBytes || oldest === event) break;
            drop(oldest);
          }
          return id;
        },
        getStreamIdForEventId: async (id) => own.get(id)?.stream,
        async replayEventsAfter(lastId, { send }) {
          const stream = own.get(lastId)?.stream ?? "";
          for (const [id, one] of [...own])
            if (one.stream === stream && Number(id) > Number(lastId) && saysSomething(one)) await send(id, one.message);
          return stream;
        },
        [Symbol.dispose]() {
          for (const event of [...own.values()]) drop(event);
        },
      };
    },
  };
}

/** A stream starts with an empty event, which is not replayed. */
function saysSomething({ message }: Kept): boolean {
  return "jsonrpc" in message;
}
