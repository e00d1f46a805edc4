import type { Workspace } from "../../core/workspace.ts";
import type { SessionCallOptions } from "../../machine/sandbox/session.ts";
import type { PooledOutcome, SessionPool } from "../../tools/shell/session-pool.ts";

/** A call on a display: the program with its arguments, and its bounds. */
export type DisplayCall = { readonly argv: readonly string[]; readonly options: SessionCallOptions };

/** What a program on a display wrote, and how the call ended: well, unless told otherwise. */
export type DisplayAnswer = Partial<PooledOutcome> & {
  readonly stdout?: string | Uint8Array;
  readonly stderr?: string;
};

/** Displays on which every program answers as a test says; `session` is what is open now. */
export function displaysByHand(answer: (call: DisplayCall) => DisplayAnswer | Promise<DisplayAnswer> = () => ({})) {
  const calls: DisplayCall[] = [];
  const state: { session: object | undefined } = { session: {} };
  const run = async (_: unknown, code: string, options: SessionCallOptions) => {
    const call = { argv: code.split("\0"), options };
    calls.push(call);
    const { stdout = "", stderr = "", ...outcome } = await answer(call);
    for (const [stream, said] of [["stdout", stdout] as const, ["stderr", stderr] as const])
      if (said.length > 0) options.onOutput(stream, Buffer.from(said as Uint8Array));
    return { state: "finished", payload: "0", ...outcome } as PooledOutcome;
  };
  const displays = { run, peek: (_: Workspace) => state.session } as unknown as SessionPool;
  return { calls, state, displays };
}

/** A display's picture file in Xvfb's format, of one color: four bytes a pixel, blue first. */
export function pictureOf({ width, height }: { width: number; height: number }, blue = 255): Buffer {
  const header = Buffer.alloc(100);
  const fields = { 0: 100, 4: width, 5: height, 7: 0, 11: 32, 12: width * 4, 19: 0 };
  for (const [index, value] of Object.entries(fields)) header.writeUInt32BE(value, Number(index) * 4);
  return Buffer.concat([header, Buffer.alloc(width * height * 4, blue)]);
}
