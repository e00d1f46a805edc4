/**
 * How commands are confined, strongest first. `off` is used only when requested by name; with
 * `none` there is no shell tool.
 */
export type SandboxTier = "srt" | "bwrap" | "landlock" | "off" | "none";

/**
 * How much of /proc a view with its own namespaces has: one of its own, or, where none can be
 * mounted, a few files about the machine and nothing about processes.
 */
export type SandboxProfile = "own-proc" | "no-proc";

/** Bounds of one command. The result's `limit` names the bound that was hit. */
export type SandboxLimits = {
  /** Wall time in milliseconds; enforced by `runCommand`, and by sessions for each call. */
  readonly wallMs: number;
  /** Processor time of each process. */
  readonly cpuSeconds: number;
  /**
   * For all processes together where a control group is available, otherwise for each process. The
   * sandbox's own value also bounds a whole conversation.
   */
  readonly memoryBytes: number;
  readonly processes: number;
  /** Size of each written file. */
  readonly fileBytes: number;
  /**
   * Bytes of output after which the command is killed; enforced by `runCommand`, and by sessions
   * for each call.
   */
  readonly outputBytes: number;
};

/** Absolute paths without symlinks. */
export type SandboxPaths = { readonly read: readonly string[]; readonly write: readonly string[] };

/**
 * The forward proxy that is a process's only way to the network: the Unix socket it listens on, and
 * the credentials for it.
 */
export type SandboxProxy = {
  readonly socket: string;
  readonly username: string;
  readonly password: string;
  /** Whether loopback addresses go to the proxy too: this machine's, not the process's own. */
  readonly loopback?: boolean;
};

/** A command to run in the sandbox. */
export type SandboxCommand = {
  readonly argv: readonly string[];
  /**
   * The only folder the command may write, mounted at the same path; also its HOME and working
   * directory.
   */
  readonly workspace: string;
  /**
   * Paths, in addition to the system's, that the command may read, and those it may also write,
   * each at the same path; all exist. None by default.
   */
  readonly paths?: SandboxPaths;
  /**
   * The command's network access in place of the sandbox's own, which lets out only what
   * `allow_domains` names, if that is set.
   */
  readonly network?: "none" | SandboxProxy;
  /**
   * A folder of ours, without symlinks, through which servers on the command's own loopback can be
   * reached (`createLoopbacks`). Ignored on tiers where a command has no network of its own.
   */
  readonly loopback?: string;
  /**
   * Makes the command the first process of its process namespace: it adopts what is orphaned there,
   * and nothing it starts can end it, stop it or change its limits. Refused with
   * `sandbox_unavailable` on tiers without such a namespace.
   */
  readonly first?: boolean;
  /**
   * Variables in addition to the built PATH, HOME, LANG, TMPDIR and TERM, and to TRACEPARENT and
   * TRACESTATE within a trace; nothing is inherited.
   */
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
  /** The bounds the process runs under. */
  readonly limits: SandboxLimits;
  /** Ends the process and everything it started, immediately. */
  kill(): void;
  /**
   * Signals the foreground work, which is everything the process has started since the last
   * `settle`; the process itself gets SIGINT, which a session handles. Jobs that a shell has put
   * into the background since then are spared too, except by SIGKILL.
   */
  interrupt(signal: "SIGINT" | "SIGTERM" | "SIGKILL"): void;
  /** Whether the process has had no turn of a processor in which to notice an interrupt. */
  isStarved(): boolean;
  /** Declares everything that runs now to be background work, which later interrupts spare. */
  settle(): void;
  /**
   * Says that nothing which others wrote runs in the process until `resume`, and lets go of the
   * names that are guarded in its workspace.
   */
  rest(): void;
  /**
   * Whether the resting process still sees what a new one would see, every guarded name included;
   * they are guarded again then. If not, it must be ended.
   */
  resume(): Promise<boolean>;
  /** The memory bound for which something the process started was killed since the last call. */
  memoryHit(): Promise<string | undefined>;
  /** The bound the process hit, known once it has ended: `memory 2 GB`, `CPU time 60 s`. */
  limitHit(): Promise<string | undefined>;
}

/**
 * Starts confined processes. One per server process; created by `createSandbox`, which probes the
 * tiers.
 */
export interface Sandbox {
  readonly tier: SandboxTier;
  /** Undefined on tiers without a view of their own. */
  readonly profile?: SandboxProfile;
  /** One line for people: the tier and why no stronger one is in use. */
  readonly description: string;
  /** The user its processes run as, if not our own (when we are root; they never are). */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  /** Starts a process. Rejects with `sandbox_unavailable` on tier `none`. */
  spawn(command: SandboxCommand): Promise<SandboxProcess>;
  /** Ends every process this sandbox started. */
  close(): Promise<void>;
}
