import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { AppError } from "../../../core/errors.ts";
import { bytesInWords } from "../../../machine/sandbox/limits.ts";
import type { SandboxProcess } from "../../../machine/sandbox/sandbox.ts";
import { sanitize } from "./sanitize.ts";

/** A transport over the standard streams of a program, and what is known of its end. */
export type StdioTransport = Transport & {
  /**
   * Why it ended, in words, with the end of what it wrote to its standard error. Undefined while it
   * runs.
   */
  ending(): string | undefined;
};

/** What a program may write between two messages without any of it being one. */
const noiseBytes = 64 * 2 ** 20;
const graceMs = 2_000;
const newline = 10;

type Options = { readonly start: () => Promise<SandboxProcess>; readonly maxMessageBytes: number };

/**
 * Messages of MCP, one a line, with a program that `start` starts. Lines that are no messages are
 * passed over; a message that is too long, or noise without end, closes it. What the program writes
 * to its standard error is read on and forgotten but for its end.
 */
export function createStdioTransport({ start, maxMessageBytes }: Options): StdioTransport {
  let process: SandboxProcess | undefined;
  let ending: string | undefined;
  let closed = false;
  const errors = createTextTail();
  const end = (reason: string) => {
    if (closed) return;
    closed = true;
    ending = reason + shown(errors);
    process?.kill();
    transport.onclose?.();
  };
  const receive = (line: Uint8Array): boolean => {
    const message = messageOf(line);
    if (message !== undefined && !closed) transport.onmessage?.(message);
    return message !== undefined;
  };
  const transport: StdioTransport & { readonly stderr: null; readonly pid: null } = {
    // The client takes a transport that has these two for one over a pipe, and negotiates
    // accordingly.
    stderr: null,
    pid: null,
    async start() {
      const started = await start();
      process = started;
      if (closed) return started.kill();
      void drain(started.stderr, (bytes) => errors.push(bytes));
      const lines = createLines(maxMessageBytes, receive, end);
      void drain(started.stdout, lines).then(async () => {
        const exitCode = await Promise.race([started.exited, Bun.sleep(graceMs)]);
        const limit = exitCode === undefined ? undefined : await started.limitHit();
        end(exitCode === undefined ? "it closed its output" : `it ended (${limit ?? `exit code ${exitCode}`})`);
      });
    },
    async send(message) {
      if (closed || process === undefined) throw new AppError("unavailable", ending ?? "The server is not running.");
      process.stdin.write(`${JSON.stringify(message)}\n`);
      process.stdin.flush();
    },
    async close() {
      if (process === undefined || closed) return end("it was stopped");
      process.stdin.end();
      await Promise.race([process.exited, Bun.sleep(graceMs)]);
      end("it was stopped");
      await process.exited;
    },
    ending: () => ending,
  };
  return transport;
}

function shown(errors: TextTail): string {
  const tail = errors.text();
  return tail === "" ? "" : `; the end of its standard error: ${tail}`;
}

async function drain(stream: ReadableStream<Uint8Array>, take: (bytes: Uint8Array) => void): Promise<void> {
  try {
    for await (const bytes of stream) take(bytes);
  } catch {
    // A pipe that breaks is one that ended.
  }
}

/**
 * Cuts a stream into lines without ever holding more than one message. `receive` says whether a
 * line was one.
 */
function createLines(maxBytes: number, receive: (line: Uint8Array) => boolean, end: (reason: string) => void) {
  let held: Uint8Array[] = [];
  let size = 0;
  let noise = 0;
  const keep = (bytes: Uint8Array) => {
    size += bytes.length;
    if (size > maxBytes) {
      held = [];
      return end(`it sent a message of more than ${bytesInWords(maxBytes)}`);
    }
    if (bytes.length > 0) held.push(bytes);
  };
  const finish = () => {
    const line = held.length === 1 && held[0] !== undefined ? held[0] : Buffer.concat(held);
    held = [];
    size = 0;
    noise = receive(line) ? 0 : noise + line.length + 1;
    if (noise > noiseBytes) end(`it wrote ${bytesInWords(noiseBytes)} that were no messages`);
  };
  return (bytes: Uint8Array) => {
    let from = 0;
    for (let at = bytes.indexOf(newline); at >= 0 && size <= maxBytes; at = bytes.indexOf(newline, from)) {
      keep(bytes.subarray(from, at));
      finish();
      from = at + 1;
    }
    if (size <= maxBytes) keep(bytes.slice(from));
  };
}

function messageOf(line: Uint8Array): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(JSON.parse(new TextDecoder().decode(line)));
  } catch {
    return undefined;
  }
}

/** The end of a stream of text. */
type TextTail = { push(bytes: Uint8Array): void; text(): string };

const keptBytes = 2_000;

/** Keeps the last 2,000 bytes that were pushed, for people to read. */
export function createTextTail(): TextTail {
  let kept: Uint8Array = new Uint8Array();
  return {
    push(bytes) {
      kept = bytes.length >= keptBytes ? bytes.slice(-keptBytes) : Buffer.concat([kept, bytes]).subarray(-keptBytes);
    },
    text: () => sanitize(new TextDecoder().decode(kept)).trim(),
  };
}
