/** How commands are confined, strongest first; `off` only when asked for by name; with `none` no shell tool exists. */
export type SandboxTier = "srt" | "bwrap" | "landlock" | "off" | "none";

/** Bounds of one command. Each that is hit is named in the result's `limit`. */
export type SandboxLimits = {
  /** Wall time in milliseconds. */
  readonly wallMs: number;
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  readonly processes: number;
  readonly fileBytes: number;
  /** Bytes of output after which the command is killed. */
  readonly outputBytes: number;
};

export type SandboxCommand = {
  readonly argv: readonly string[];
  /** The only folder it may write, mounted at the same path; also its HOME and working directory. */
  readonly workspace: string;
  /** Variables beside the built PATH, HOME, LANG and TMPDIR; nothing is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  readonly limits?: Partial<SandboxLimits>;
};

/** A running confined process with piped standard streams. */
export interface SandboxProcess {
  readonly stdin: { write(data: string | Uint8Array): void; flush(): void; end(): void };
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  /** The exit code; 128 + n after signal n. */
  readonly exited: Promise<number>;
  /** Ends the process and everything it started, at once. */
  kill(): void;
  /** Sends SIGINT to the foreground work inside, leaving a session alive where it handles that. */
  interrupt(): void;
}

/** Starts confined processes. One per server process; made by `createSandbox`, which probes the tiers. */
export interface Sandbox {
  readonly tier: SandboxTier;
  /** One line for people: the tier and why no stronger one is in use. */
  readonly description: string;
  /** The user its processes run as, where that is not our own (we are root; they never are). */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  /** Starts a process; rejects with `sandbox_unavailable` on tier `none`. */
  spawn(command: SandboxCommand): Promise<SandboxProcess>;
  /** Ends every process it started. */
  close(): Promise<void>;
}
