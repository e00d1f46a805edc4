import type { ControlGroup } from "../memory/control-group.ts";
import type { SandboxUser } from "../process/step-down.ts";
import type { SandboxLimits, SandboxPaths, SandboxProxy, SandboxTier } from "../sandbox/sandbox.ts";

/**
 * A command with everything that was left open decided: `workspace` has no symlinks in it, `limits`
 * are whole.
 */
export type ConfinedCommand = {
  readonly argv: readonly string[];
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
  readonly paths?: SandboxPaths;
  readonly network?: "none" | SandboxProxy;
  readonly limits: SandboxLimits;
  /** The control group the process is put into before anything else, where there is one. */
  readonly group: ControlGroup | undefined;
};

/** What is really started, from `/` and with nothing inherited. */
export type WrappedCommand = {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** How many pipes to us it finds as descriptors 3, 4, …; none when left out. */
  readonly pipes?: number;
  /**
   * Looks at what the command has been given before it may run; `ends` are ours of the pipes. False
   * when what was started ended before, and has said why; rejects when that is not what the command
   * is to have.
   */
  admit?(ends: readonly number[]): Promise<boolean>;
  /** Told when nothing was admitted. Answers whether wrapping once more may do better. */
  refused?(): boolean;
  /** The command's own first process among the descendants of the one that was started. */
  leader(started: number): number | undefined;
  /** Ends everything that was started, at once. */
  end(started: number): void;
  /** Takes back what wrapping left in the workspace; called when the process has ended. */
  release(): Promise<void>;
};

/**
 * One way to confine commands. Made by its tier's function, which throws the reason when this
 * machine lacks what it needs.
 */
export interface Confinement {
  readonly tier: SandboxTier;
  /** What it holds back, in a few words for people. */
  readonly summary: string;
  readonly user: SandboxUser | undefined;
  /** TMPDIR for commands in this workspace. */
  temporary(workspace: string): string;
  wrap(command: ConfinedCommand): Promise<WrappedCommand>;
  close(): Promise<void>;
}
