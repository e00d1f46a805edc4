import type { Sandbox, SandboxTier } from "../../machine/sandbox/sandbox.ts";
import { createSession, type Session, started } from "../../machine/sandbox/session.ts";
import { createSessionPool, type SessionPool } from "../shell/session-pool.ts";

/** The size of a display, in pixels. */
export type ScreenSize = { readonly width: number; readonly height: number };

/**
 * Where the X server of a sandbox keeps its picture: in the sandbox's private /tmp, like the
 * socket.
 */
const folder = "/tmp/display";

/** The file that holds what the display shows, by its path inside the sandbox. */
export const pictureFile = `${folder}/Xvfb_screen0`;

/** Letters that get keys of their own, each with its capital. */
const letters = "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿąćčďđęěğłľńňőœřşšśťţůűžźżășțабвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґ";
/** Others that do, in pairs. */
const signs = ["ßẞ", "ıİ", "–—", "‘’", "“”", "„…", "€£", "°§", "¿¡", "«»", "·×"];

const ownKeys = [...signs, ...Array.from(letters, (letter) => letter + letter.toUpperCase())]
  .map((pair) => Array.from(pair, keysym).join(","))
  .join(" ");

const processorSeconds = 3600;
const startMs = 30_000;

/** The tiers in which a display has a private /tmp and network namespace, hence private sockets. */
export const displayTiers: readonly SandboxTier[] = ["srt", "bwrap"];

/**
 * The displays of conversations, one each, closed when idle. Their creator closes them when the
 * server stops.
 */
export function createDisplays(
  sandbox: Sandbox,
  size: ScreenSize,
  options: { readonly idleMs?: number } = {},
): SessionPool {
  return createSessionPool({
    name: "display",
    open: ({ root }) => openDisplay(sandbox, root, size),
    ...options,
  });
}

/** A call's code for such a session: a program and its arguments, which must not contain a NUL. */
export function callOf(argv: readonly string[]): string {
  return argv.join("\0");
}

async function openDisplay(sandbox: Sandbox, workspace: string, { width, height }: ScreenSize): Promise<Session> {
  const script = await Bun.file(new URL("./display.sh", import.meta.url)).text();
  const process = await sandbox.spawn({
    argv: ["/bin/bash", "-c", script, "display", `${width}x${height}`, folder, ownKeys],
    workspace,
    env: { DISPLAY: ":0" },
    limits: { cpuSeconds: processorSeconds },
  });
  const first = { code: callOf(["true"]), timeoutMs: startMs };
  return started(createSession(process, frameArguments), "The display", first);
}

function frameArguments(code: string, token: string): string {
  return `${token}\0${code.split("\0").length}\0${code}\0`;
}

/** As xkbcomp(1) reads it. */
function keysym(character: string): string {
  return `U${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`;
}
