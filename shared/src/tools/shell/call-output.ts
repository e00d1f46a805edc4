import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolContext } from "../../core/tool.ts";
import { makeOwnedFolder } from "../../machine/process/owned-folder.ts";
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
   * Both outputs for the model (standard error after `clean`). Standard error is marked when both
   * have content, and the file with the complete output is named when needed.
   */
  text(clean?: (stderr: string) => string): Promise<string>;
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
  const path = await context.workspace.spill(name, await whole.content()).catch(() => undefined);
  if (path !== undefined) context.progress(`\n[the output so far: ${path}]\n`);
}

type OverflowFile = ReturnType<typeof createOverflowFile>;

function callOutput(context: ToolContext, name: string, whole: OverflowFile): CallOutput {
  const windows = { stdout: createOutputWindow(), stderr: createOutputWindow() };
  const live = createLiveOutput((text) => context.progress(text));
  return {
    listen(stream, bytes) {
      windows[stream].push(bytes);
      whole.write(bytes);
      live(stream, bytes);
    },
    async text(clean = (stderr) => stderr) {
      const stdout = withoutLastNewline(windows.stdout.text());
      const stderr = withoutLastNewline(clean(windows.stderr.text()));
      const parts = [stdout, stdout !== "" && stderr !== "" ? "[stderr]" : "", stderr];
      if (windows.stdout.cut || windows.stderr.cut) {
        const path = await context.workspace.spill(name, await whole.content());
        parts.push(`[whole output, ${windows.stdout.total + windows.stderr.total} bytes: ${path}]`);
      }
      return parts.filter((part) => part !== "").join("\n");
    },
  };
}

const heldBytes = 64 * 1024;

/** Stores what is written, in memory while it is small and in a private file after that. */
function createOverflowFile() {
  let held: Uint8Array[] = [];
  let heldLength = 0;
  let file: Promise<{ folder: string; sink: Bun.FileSink }> | undefined;
  const flush = () => {
    const chunk = Buffer.concat(held);
    held = [];
    heldLength = 0;
    file = (file ?? openFile()).then(async (opened) => {
      opened.sink.write(chunk);
      await opened.sink.flush();
      return opened;
    });
    file.catch(() => {});
  };
  return {
    isEmpty: () => heldLength === 0 && file === undefined,
    write(bytes: Uint8Array) {
      held.push(bytes.slice());
      heldLength += bytes.length;
      if (heldLength > heldBytes) flush();
    },
    async content(): Promise<Blob> {
      flush();
      const opened = await file;
      return opened === undefined ? new Blob() : Bun.file(join(opened.folder, "output"));
    },
    async remove() {
      const opened = await file?.catch(() => undefined);
      await opened?.sink.end();
      if (opened) await rm(opened.folder, { recursive: true, force: true });
    },
  };
}

async function openFile() {
  const folder = await makeOwnedFolder(tmpdir(), "manyhands-output");
  return { folder, sink: Bun.file(join(folder, "output")).writer() };
}

function withoutLastNewline(text: string): string {
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}
