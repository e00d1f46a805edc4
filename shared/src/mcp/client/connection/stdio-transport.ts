import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { AppError } from "../../../core/errors.ts";
import { sanitize } from "../../../core/text/sanitize.ts";
import { bytesInWords } from "../../../machine/sandbox/limits.ts";
import type { SandboxProcess } from "../../../machine/sandbox/sandbox.ts";

/** A transport over a program's standard streams that knows why the program ended. */
export type StdioTransport = Transport & {
  /**
   * Why it ended by itself, with the end of its standard error. Undefined while it runs, and after
   * `close`.
   */
  ending(): string | undefined;
};

/** Most bytes a program may write between two messages. */
const noiseBytes = 64 * 2 ** 20;
const graceMs = 2_000;
const newline = 10;

type Options = { readonly start: () => Promise<SandboxProcess>; readonly maxMessageBytes: number };

/**
 * MCP messages, one per line, exchanged with the program that `start` starts. Lines that are not
 * messages are skipped; a message that is too long, or endless noise, closes the transport.
 * Standard error is read continuously, and only its end is kept.
 */
export function createStdioTransport({ start, maxMessageBytes }: Options): StdioTransport {
  let process: SandboxProcess | undefined;
  let ending: string | undefined;
  let closed = false;
  let isStopping = false;
  const errors = createTextTail();
  const responses: JSONRPCMessage[] = [];
  // The client hears a notification a moment after it was given it, but a response at once, and
  // nothing of a call after its response.
  const respond = () => {
    for (const response of responses.splice(0)) transport.onmessage?.(response);
  };
  const end = (reason: string) => {
    if (closed) return;
    respond();
    closed = true;
    if (!isStopping) ending = reason + shown(errors);
    process?.kill();
    transport.onclose?.();
  };
  const receive = (line: Uint8Array): boolean => {
    const message = messageOf(line);
    if (message === undefined || closed) return message !== undefined;
    if ("method" in message) transport.onmessage?.(message);
    else if (responses.push(message) === 1) queueMicrotask(respond);
    return true;
  };
  const transport: StdioTransport & { readonly stderr: null; readonly pid: null } = {
    // With these two properties, the client treats the transport as a pipe and negotiates
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
      isStopping = true;
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
    // A broken pipe counts as an ended one.
  }
}

/**
 * Splits a stream into lines, holding one message at most. `receive` returns whether a line was a
 * message.
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

/** Keeps the last 2,000 bytes pushed, for people to read. */
export function createTextTail(): TextTail {
  let kept: Uint8Array = new Uint8Array();
  return {
    push(bytes) {
      kept = bytes.length >= keptBytes ? bytes.slice(-keptBytes) : Buffer.concat([kept, bytes]).subarray(-keptBytes);
    },
    text: () => sanitize(new TextDecoder().decode(kept)).trim(),
  };
}
