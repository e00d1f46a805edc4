import type { Sandbox, SandboxCommand } from "../../machine/sandbox/sandbox.ts";
import { type ProcessByHand, processByHand } from "../sandbox/process-by-hand.ts";

/** A message to or from a language server. */
export type ServerMessage = {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
};

/** A sandbox whose every command is a language server that a test writes. */
export type ServerByHand = {
  readonly sandbox: Sandbox;
  /** What was started, and what it was told, in order. */
  readonly commands: readonly SandboxCommand[];
  readonly told: readonly ServerMessage[];
  /** The last process. */
  process(): ProcessByHand | undefined;
};

/**
 * Language servers that call `answer` with each message and send what it returns: a result for the
 * message, or whole messages, in order. Undefined sends nothing.
 */
export function serverByHand(
  answer: (message: ServerMessage) => { readonly result: unknown } | readonly ServerMessage[] | undefined,
): ServerByHand {
  const commands: SandboxCommand[] = [];
  const told: ServerMessage[] = [];
  let last: ProcessByHand | undefined;
  const spawn = async (command: SandboxCommand) => {
    commands.push(command);
    last = processByHand({
      on(what, byHand) {
        if (!what.startsWith("write ") || byHand.done.includes("kill")) return;
        const message = JSON.parse(what.slice(what.indexOf("\r\n\r\n") + 4)) as ServerMessage;
        told.push(message);
        const answered = answer(message);
        if (answered === undefined) return;
        const messages = "result" in answered ? [{ id: message.id, result: answered.result }] : answered;
        for (const one of messages) {
          const text = JSON.stringify({ jsonrpc: "2.0", ...one });
          byHand.says("stdout", `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
        }
      },
    });
    return last.process;
  };
  return { sandbox: { tier: "bwrap", spawn } as unknown as Sandbox, commands, told, process: () => last };
}
