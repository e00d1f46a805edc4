import { closeAll } from "../../core/async/close-all.ts";
import type { RunningCommand } from "../../machine/sandbox/run-command.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";
import { openWarmInterpreter, type ProgramBounds, type WarmInterpreter } from "./warm-interpreter.ts";

/**
 * The warm interpreters of conversations, at most one each: started with the first program, closed
 * when idle or when there are too many.
 */
export interface WarmInterpreters {
  /**
   * Begins a program in the conversation's interpreter. Undefined when it needs a new process: the
   * interpreter is busy, could not be started, or this tier cannot keep one.
   */
  begin(workspace: string, code: string, bounds: ProgramBounds): Promise<RunningCommand | undefined>;
  /** Ends the conversation's interpreter at once, whatever is running in it. */
  release(workspace: string): Promise<void>;
  close(): Promise<void>;
}

type Slot = {
  interpreter: WarmInterpreter | undefined;
  isBusy: boolean;
  idle: ReturnType<typeof setTimeout> | undefined;
};

const defaultIdleMs = 2 * 60_000;
const defaultMost = 20;

/**
 * Above `most` interpreters, the one that has been idle the longest is closed. Only tier `bwrap`
 * can keep one: it needs a process namespace with nothing else in it, such as the connection of
 * `srt` to its proxy, so that everything a program leaves can be ended.
 */
export function createWarmInterpreters(
  sandbox: Sandbox,
  { idleMs = defaultIdleMs, most = defaultMost }: { readonly idleMs?: number; readonly most?: number } = {},
): WarmInterpreters {
  /** In order of use: the most recently used is last. */
  const slots = new Map<string, Slot>();
  let isAble = sandbox.tier === "bwrap";

  async function drop(workspace: string, slot: Slot): Promise<void> {
    clearTimeout(slot.idle);
    if (slots.get(workspace) === slot) slots.delete(workspace);
    await slot.interpreter?.close();
  }

  async function dropLongestIdle(): Promise<void> {
    const [oldest] = [...slots].filter(([, { isBusy }]) => !isBusy);
    if (slots.size >= most && oldest !== undefined) await drop(...oldest);
  }

  async function beginIn(slot: Slot, workspace: string, code: string, bounds: ProgramBounds) {
    if (slot.interpreter && (await slot.interpreter.isReady())) return slot.interpreter.begin(code, bounds);
    await slot.interpreter?.close();
    slot.interpreter = await openWarmInterpreter(sandbox, workspace);
    if (slots.get(workspace) !== slot) {
      // Released while it was being started.
      await slot.interpreter.close();
      return undefined;
    }
    const running = await slot.interpreter.begin(code, bounds);
    // This Python or this kernel cannot do it: no further process is spent on trying.
    if (running === undefined && slots.get(workspace) === slot) isAble = false;
    return running;
  }

  return {
    async begin(workspace, code, bounds) {
      const known = slots.get(workspace);
      if (!isAble || known?.isBusy) return undefined;
      const slot = known ?? { interpreter: undefined, isBusy: true, idle: undefined };
      slot.isBusy = true;
      clearTimeout(slot.idle);
      slots.delete(workspace);
      const makeRoom = known === undefined ? dropLongestIdle() : undefined;
      slots.set(workspace, slot);
      await makeRoom;
      const rest = () => {
        slot.isBusy = false;
        if (slots.get(workspace) !== slot) return;
        slot.idle = setTimeout(() => void drop(workspace, slot), idleMs);
        slot.idle.unref();
      };
      try {
        const running = await beginIn(slot, workspace, code, bounds);
        if (running === undefined) await drop(workspace, slot);
        running?.exited.then(rest, rest);
        return running;
      } catch (error) {
        await drop(workspace, slot);
        throw error;
      }
    },
    async release(workspace) {
      const slot = slots.get(workspace);
      if (slot) await drop(workspace, slot);
    },
    close: () => closeAll([...slots].map((entry) => () => drop(...entry))),
  };
}
