import { closeSync, openSync, writeSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolContext, ToolResult } from "../../core/tools/tool.ts";
import { makeOwnedFolderSync } from "../../machine/process/owned-folder.ts";
import { createOutputWindow } from "../../machine/sandbox/output-window.ts";
import type { OutputListener } from "../../machine/sandbox/run-command.ts";
import { createLiveOutput } from "./live-output.ts";

/**
 * Both outputs of one call of a tool: limited for the model, live for watchers, and complete in a
 * file when long.
 */
export interface CallOutput {
  readonly listen: OutputListener;
  /**
   * Both outputs for the model, each after `clean`. Standard error is marked when both have
   * content, and the file with the complete output is named when needed.
   */
  text(clean?: (output: string) => string): Promise<string>;
  /** Of the result: that file, if `text` has named it. */
  kept(): Pick<ToolResult, "keptAt">;
}

/**
 * The output of one call, passed to `use`. When a call is aborted it has no result, so its output
 * so far goes into a file of the workspace. `name` names such files.
 */
export async function withCallOutput<Result>(
  context: ToolContext,
  name: string,
  use: (output: CallOutput) => Promise<Result>,
): Promise<Result> {
  const whole = createOverflowFile();
  try {
    return await use(callOutput(context, name, whole));
  } catch (error) {
    if (context.signal.aborted && !whole.isEmpty()) await keepWhole(context, name, whole);
    throw error;
  } finally {
    await whole.remove();
  }
}

/** A full workspace must not change how a canceled call ends. */
async function keepWhole(context: ToolContext, name: string, whole: OverflowFile): Promise<void> {
  const spill = async () => context.workspace.spill(name, whole.content());
  const path = await spill().catch(() => undefined);
  if (path !== undefined) context.progress(`\n[the output so far: ${path}]\n`);
}

type OverflowFile = ReturnType<typeof createOverflowFile>;

function callOutput(context: ToolContext, name: string, whole: OverflowFile): CallOutput {
  const windows = { stdout: createOutputWindow(), stderr: createOutputWindow() };
  let keptAt: string | undefined;
  const live = createLiveOutput((text) => context.progress(text));
  return {
    listen(stream, bytes) {
      windows[stream].push(bytes);
      whole.write(bytes);
      live(stream, bytes);
    },
    async text(clean = (output) => output) {
      const stdout = withoutLastNewline(clean(windows.stdout.text()));
      const stderr = withoutLastNewline(clean(windows.stderr.text()));
      const parts = [stdout, stdout !== "" && stderr !== "" ? "[stderr]" : "", stderr];
      if (windows.stdout.cut || windows.stderr.cut) {
        keptAt = await context.workspace.spill(name, whole.content());
        parts.push(`[whole output, ${windows.stdout.total + windows.stderr.total} bytes: ${keptAt}]`);
      }
      return parts.filter((part) => part !== "").join("\n");
    },
    kept: () => (keptAt === undefined ? {} : { keptAt }),
  };
}

const heldBytes = 64 * 1024;

/**
 * Stores what is written: in memory while it is small, in a private file after that. It is written
 * there at once, since what waits for a busy disk would fill the memory.
 */
function createOverflowFile() {
  let held: Uint8Array<ArrayBuffer>[] = [];
  let heldLength = 0;
  let file: OpenFile | undefined;
  let failure: { readonly error: unknown } | undefined;
  const toFile = (bytes: Uint8Array) => {
    file ??= openFile();
    for (const piece of [...held.splice(0), bytes]) writeWhole(file.descriptor, piece);
  };
  return {
    isEmpty: () => heldLength === 0,
    write(bytes: Uint8Array) {
      heldLength += bytes.length;
      if (heldLength <= heldBytes) {
        held.push(Uint8Array.from(bytes));
        return;
      }
      try {
        if (failure === undefined) toFile(bytes);
      } catch (error) {
        failure = { error };
        held = [];
      }
    },
    content(): Blob {
      if (failure !== undefined) throw failure.error;
      return file === undefined ? new Blob(held) : Bun.file(join(file.folder, outputName));
    },
    async remove() {
      if (file === undefined) return;
      closeSync(file.descriptor);
      await rm(file.folder, { recursive: true, force: true });
    },
  };
}

type OpenFile = { readonly folder: string; readonly descriptor: number };

const outputName = "output";

function openFile(): OpenFile {
  const folder = makeOwnedFolderSync(tmpdir(), "manyhands-output");
  return { folder, descriptor: openSync(join(folder, outputName), "wx", 0o600) };
}

function writeWhole(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

function withoutLastNewline(text: string): string {
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}
