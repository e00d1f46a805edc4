/**
 * How commands are confined, strongest first; `off` only when asked for by name; with `none` no
 * shell tool exists.
 */
export type SandboxTier = "srt" | "bwrap" | "landlock" | "off" | "none";

/** Bounds of one command. Each that is hit is named in the result's `limit`. */
export type SandboxLimits = {
  /** Wall time in milliseconds; held by `runCommand` and by sessions for each call. */
  readonly wallMs: number;
  /** Processor time of each process. */
  readonly cpuSeconds: number;
  /**
   * Of all processes together where a control group can be had, of each process otherwise; the
   * sandbox's own is also that of a conversation.
   */
  readonly memoryBytes: number;
  readonly processes: number;
  /** Size of each file that is written. */
  readonly fileBytes: number;
  /**
   * Bytes of output after which the command is killed; held by `runCommand` and by sessions for
   * each call.
   */
  readonly outputBytes: number;
};

/** Absolute paths with no symlinks in them. */
export type SandboxPaths = { readonly read: readonly string[]; readonly write: readonly string[] };

/**
 * The forward proxy that is a process's only way out: the Unix socket it listens on, and what it is
 * told to use it with.
 */
export type SandboxProxy = { readonly socket: string; readonly username: string; readonly password: string };

export type SandboxCommand = {
  readonly argv: readonly string[];
  /**
   * The only folder it may write, mounted at the same path; also its HOME and working directory.
   */
  readonly workspace: string;
  /**
   * Paths beside the system's that it may read, and those it may also write, each at its own place;
   * all exist. None when left out.
   */
  readonly paths?: SandboxPaths;
  /**
   * Its way out of the machine in place of the sandbox's own, which lets out what `allow_domains`
   * names where there is one.
   */
  readonly network?: "none" | SandboxProxy;
  /** Variables beside the built PATH, HOME, LANG, TMPDIR and TERM; nothing is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  readonly limits?: Partial<SandboxLimits>;
};

/** A running confined process with piped standard streams. */
export interface SandboxProcess {
  readonly stdin: { write(data: string | Uint8Array): void; flush(): void; end(): void };
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  /**
   * The exit code; 128 + n after signal n. Resolves when everything the process started has ended
   * too.
   */
  readonly exited: Promise<number>;
  /** The bounds it runs under. */
  readonly limits: SandboxLimits;
  /** Ends the process and everything it started, at once. */
  kill(): void;
  /**
   * Signals the foreground work, which is what the process has started since the last `settle`, and
   * the process itself with SIGINT, which a session handles. Jobs that a shell has put into the
   * background since are spared too, except by SIGKILL.
   */
  interrupt(signal: "SIGINT" | "SIGTERM" | "SIGKILL"): void;
  /** Declares all that runs now to be background work, which later interrupts spare. */
  settle(): void;
  /**
   * The bound on memory for which something that it started was ended since this was asked last.
   */
  memoryHit(): Promise<string | undefined>;
  /** The bound the process ran into, known once it has ended: `memory 2 GB`, `CPU time 60 s`. */
  limitHit(): Promise<string | undefined>;
}

/**
 * Starts confined processes. One per server process; made by `createSandbox`, which probes the
 * tiers.
 */
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
