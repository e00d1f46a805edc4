import { defaultLimits } from "../../machine/sandbox/limits.ts";
import type { OutputStream } from "../../machine/sandbox/run-command.ts";
import type { SandboxLimits, SandboxProcess } from "../../machine/sandbox/sandbox.ts";

/** A process that does what a test says, and nothing of its own. */
export type ProcessByHand = {
  readonly process: SandboxProcess;
  /** What was done to it, in order: `write TEXT`, `flush`, `end`, `kill`, `SIGINT`, `settle`. */
  readonly done: readonly string[];
  says(stream: OutputStream, text: string | Uint8Array): void;
  /** Ends it; its outputs end too, unless something holds them open. */
  exits(code: number, outputs?: "closed" | "open"): void;
};

/**
 * A process under these limits, which a kill ends with 137. `on` is told what is done to it;
 * `memoryHit`, `limitHit` and `isStarved` are what it reports.
 */
export function processByHand({
  limits = {},
  on = () => {},
  memoryHit,
  limitHit,
  isStarved = () => false,
}: {
  readonly limits?: Partial<SandboxLimits>;
  readonly on?: (what: string, process: ProcessByHand) => void;
  readonly memoryHit?: string;
  readonly limitHit?: string;
  readonly isStarved?: () => boolean;
} = {}): ProcessByHand {
  const done: string[] = [];
  const outputs = { stdout: openOutput(), stderr: openOutput() };
  const exited = Promise.withResolvers<number>();
  const note = (what: string) => {
    done.push(what);
    on(what, byHand);
  };
  const byHand: ProcessByHand = {
    done,
    says: (stream, text) =>
      outputs[stream].controller.enqueue(typeof text === "string" ? new TextEncoder().encode(text) : text),
    exits(code, after = "closed") {
      exited.resolve(code);
      if (after === "closed") for (const { close } of [outputs.stdout, outputs.stderr]) close();
    },
    process: {
      stdin: {
        write: (data) => note(`write ${data}`),
        flush: () => note("flush"),
        end: () => note("end"),
      },
      stdout: outputs.stdout.readable,
      stderr: outputs.stderr.readable,
      exited: exited.promise,
      limits: { ...defaultLimits, ...limits },
      kill() {
        note("kill");
        byHand.exits(137);
      },
      interrupt: note,
      isStarved,
      rest: () => note("rest"),
      resume: async () => true,
      settle: () => note("settle"),
      memoryHit: async () => memoryHit,
      limitHit: async () => limitHit,
    },
  };
  return byHand;
}

function openOutput() {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let open = true;
  const readable = new ReadableStream<Uint8Array>({
    start(own) {
      controller = own;
    },
    cancel() {
      open = false;
    },
  });
  const close = () => {
    if (open) controller.close();
    open = false;
  };
  return { readable, controller, close };
}
