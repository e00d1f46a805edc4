import type { ControlGroup } from "../memory/control-group.ts";
import type { SandboxUser } from "../process/step-down.ts";
import type { SandboxLimits, SandboxPaths, SandboxProfile, SandboxProxy, SandboxTier } from "../sandbox/sandbox.ts";

/**
 * A command with every optional part resolved: `workspace` contains no symlinks, `limits` are
 * complete.
 */
export type ConfinedCommand = {
  readonly argv: readonly string[];
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
  readonly paths?: SandboxPaths;
  readonly network?: "none" | SandboxProxy;
  readonly loopback?: string;
  readonly first?: boolean;
  readonly limits: SandboxLimits;
  /** The control group the process joins before anything else, if there is one. */
  readonly group: ControlGroup | undefined;
};

/** What is really started, from `/` and with nothing inherited. */
export type WrappedCommand = {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** How many pipes to us it receives as descriptors 3, 4, …; none by default. */
  readonly pipes?: number;
  /**
   * Checks what the command has been given before it may run; `ends` are our ends of the pipes.
   * False when the started program ended before that and has reported why; rejects when the command
   * was not given what was ordered.
   */
  admit?(ends: readonly number[]): Promise<boolean>;
  /** Called when nothing was admitted. Returns whether wrapping once more may succeed. */
  refused?(): boolean;
  /** The command's own first process among the descendants of the started one. */
  leader(started: number): number | undefined;
  /** Ends everything that was started, immediately. */
  end(started: number): void;
  /**
   * Ends what outlived the started program, which others may have killed at any moment; called as
   * soon as it has ended.
   */
  endRest?(): Promise<void>;
  /** What `SandboxProcess` says of them; a process of a tier without them is never resumed. */
  rest?(): void;
  resume?(): Promise<boolean>;
  /** Removes what wrapping left in the workspace; called when the process has ended. */
  release(): Promise<void>;
};

/**
 * One way to confine commands. Created by its tier's function, which throws the reason when this
 * machine lacks what it needs.
 */
export interface Confinement {
  readonly tier: SandboxTier;
  /** Undefined on tiers without a view of their own. */
  readonly profile?: SandboxProfile;
  /** What it prevents, in a few words for people. */
  readonly summary: string;
  readonly user: SandboxUser | undefined;
  /** TMPDIR for commands in this workspace. */
  temporary(workspace: string): string;
  wrap(command: ConfinedCommand): Promise<WrappedCommand>;
  close(): Promise<void>;
}
